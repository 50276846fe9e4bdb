/** `npm run bench`: what the gateway costs against a bare pass-through, upstream and load apart. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCommandLine } from '../test/support/command-line.ts';
import { type Child, forkChild, forkLoadGenerator, startGateway, stopChild } from './children.ts';
import { type ReportRow, reportTable } from './report.ts';
import { type Plan, type Setup, stepsOf } from './steps.ts';
import type { UpstreamFacts } from './upstream.ts';

const help = `npm run bench -- [options]

Compares the gateway (src/main.ts serve, served-by log on) with a bare Hono + undici pass-through
(bench/bare-proxy.ts) in the same run. The simulated upstream and the load generator are processes
of their own. Rounds are interleaved; medians are printed.

  --rounds N     rounds of each side (default 5)
  --seconds N    length of a round (default 2)
  --only TEXT    only the scenarios whose name holds TEXT
  --smoke        a few seconds, says only whether everything runs
  --strict       exit 1 when a bound is not kept
  --json         the result as JSON
  --help         this text
`;

const wholeRunMsMax = 15 * 60_000;
async function main(): Promise<number> {
  const given = readCommandLine(help, {
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      only: { type: 'string', default: '' },
      smoke: { type: 'boolean', default: false },
      strict: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (typeof given === 'number') return given;
  const { values } = given;
  const plan = planFrom(values);
  if (typeof plan === 'string') {
    process.stderr.write(`${plan}\n\n${help}`);
    return 2;
  }
  const say = (text: string): void => {
    if (!values.json) process.stderr.write(text);
  };
  const { rows, failures } = await runBench(plan, say);
  if (values.json) process.stdout.write(`${JSON.stringify({ rows, failures }, null, 2)}\n`);
  else process.stdout.write(`\n${reportTable(rows)}`);
  for (const failure of failures) process.stderr.write(`${failure}\n`);
  if (failures.length > 0) return 1;
  return values.strict && rows.some(({ verdict }) => verdict === 'TOO DEAR') ? 1 : 0;
}

function planFrom(values: {
  readonly rounds: string;
  readonly seconds: string;
  readonly only: string;
  readonly smoke: boolean;
}): Plan | string {
  const rounds = Number(values.rounds);
  const seconds = Number(values.seconds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 50) return '--rounds takes 1 to 50';
  if (!(seconds >= 0.1 && seconds <= 60)) return '--seconds takes 0.1 to 60';
  if (values.smoke) return { rounds: 1, roundMs: 300, only: values.only, isSmoke: true };
  return { rounds, roundMs: seconds * 1000, only: values.only, isSmoke: false };
}

async function runBench(
  plan: Plan,
  say: (text: string) => void,
): Promise<{ readonly rows: ReportRow[]; readonly failures: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'tiergate-bench-'));
  const children: Child[] = [];
  const cleanUp = async (): Promise<void> => {
    await Promise.all(children.map(stopChild));
    rmSync(folder, { recursive: true, force: true });
  };
  const giveUp = setTimeout(() => {
    process.stderr.write('the bench took too long and was ended\n');
    void cleanUp().finally(() => process.exit(1));
  }, wholeRunMsMax);
  process.once('SIGTERM', () => cleanUp().finally(() => process.exit(143)));
  process.once('SIGINT', () => cleanUp().finally(() => process.exit(130)));
  try {
    const [load = 0] = loadavg();
    if (load > availableParallelism() / 2) {
      say(`the machine is busy (load ${load.toFixed(1)}): these figures will say little\n`);
    }
    say('starting upstream, pass-through, gateway and load generator\n');
    const setup = await start(folder, children);
    const rows: ReportRow[] = [];
    const failures: string[] = [];
    for (const step of stepsOf(plan)) {
      say(`${step.name} `);
      const outcome = await step.run(setup, plan);
      rows.push(outcome.row);
      failures.push(...outcome.failures);
      say(`${outcome.row.figure}\n`);
    }
    failures.push(...(await checkLogged(setup)));
    return { rows, failures };
  } finally {
    clearTimeout(giveUp);
    await cleanUp();
  }
}

async function start(folder: string, children: Child[]): Promise<Setup> {
  const upstream = await forkChild<UpstreamFacts>('upstream.ts', []);
  children.push(upstream.child);
  const bare = await forkChild<{ origin: string }>('bare-proxy.ts', [upstream.first.chatOrigin]);
  children.push(bare.child);
  const configFile = join(folder, 'tiergate.yaml');
  const dataDirectory = join(folder, 'data');
  writeFileSync(configFile, gatewayConfig(upstream.first));
  const gateway = await startGateway({ configFile, dataDirectory });
  children.push(gateway.child);
  const generator = forkLoadGenerator();
  children.push(generator);
  return {
    bare: { name: 'bare', origin: bare.first.origin, child: bare.child },
    gateway: { name: 'gateway', origin: gateway.origin, child: gateway.child },
    direct: { name: 'direct', origin: upstream.first.chatOrigin, child: null },
    generator,
    adminKey: readFileSync(join(dataDirectory, 'admin.key'), 'utf8').trim(),
  };
}

function gatewayConfig(upstream: UpstreamFacts): string {
  return `providers:
  same: { kind: openai-compatible, base_url: "${upstream.chatOrigin}/v1", api_keys: [env:BENCH_KEY] }
  other: { kind: anthropic, base_url: "${upstream.messagesOrigin}", api_keys: [env:BENCH_KEY] }
  slow: { kind: openai-compatible, base_url: "${upstream.slowOrigin}/v1", api_keys: [env:BENCH_KEY] }
tiers:
  same: { targets: [{ provider: same, model: bench-model }] }
  translated: { targets: [{ provider: other, model: bench-model }] }
  slow: { targets: [{ provider: slow, model: bench-model }] }
`;
}

/** The figures count only if the log was on: its rows must be there. */
async function checkLogged({ gateway, adminKey }: Setup): Promise<string[]> {
  const answer = await fetch(`${gateway.origin}/admin/v1/served?limit=1`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  const body = (await answer.json()) as { data?: readonly unknown[] };
  return (body.data?.length ?? 0) === 1 ? [] : ['the served-by log has no row: was it on?'];
}

process.exitCode = await main();
