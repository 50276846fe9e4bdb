/** `node test/support/client-repeats-table.ts`: the table of docs/resilience.md, measured; takes a few minutes. */
import {
  type OutageName,
  outageNames,
  outages,
  type SdkName,
  SdkOutages,
  sdkNames,
} from './sdk-outages.ts';

const running = await SdkOutages.start();
const triesMax = null;

async function measured(sdk: SdkName, outage: OutageName): Promise<string> {
  const [known, veiled] = await Promise.all(
    [false, true].map((isVeiled) => running.run(sdk, outage, { isVeiled, triesMax })),
  );
  const cells = [known, veiled].flatMap((run) => [run?.tries.length, run?.upstreamCalls]);
  return `| ${outages[outage].title} | ${[`\`${sdk}\``, ...cells].join(' | ')} |`;
}

const rows = await Promise.all(
  outageNames.flatMap((outage) => sdkNames.map((sdk) => measured(sdk, outage))),
);
process.stdout.write(
  `${[
    '| outage | SDK | its tries | upstream calls | its tries, unprotected | upstream calls, unprotected |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')}\n`,
);
await running.close();
