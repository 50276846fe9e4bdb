/** Clients that stop reading: what waits for them is bounded, their providers wait, and nobody else notices. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pause, RawClient } from '../http/raw-client.ts';
import { CaseGateway, hello } from '../support/case-gateway.ts';
import { clientCount, effort } from '../support/effort.ts';
import { chat } from '../support/running-gateway.ts';
import { medianOf, until } from './traffic.ts';

const readers = clientCount(20, 500);
/** Many are filled in less than their stall time with large events alone. */
const eventLength = effort(2000, 32_000);
const waitsForStall = effort(false, true);
/**
 * Of 200 MB that each is offered: 256 kB that wait, as much from the provider, up to 1 MB of text kept to be
 * continued, and what the provider and the client, which live in this process too, need for themselves.
 */
const bytesEachMax = 2 * 1024 * 1024;
/** As shipped: so long may a client take nothing. */
const stallMs = 30_000;

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function usedBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function stopReading(tier: string): Promise<RawClient> {
  const client = await RawClient.open(Number(new URL(cases.gateway.origin).port));
  client.socket.once('data', () => client.socket.pause());
  client.post(JSON.stringify(chat(tier, { stream: true })));
  await client.receives('data:', 60_000);
  return client;
}

/** Time to a short answer of another provider, ms. */
async function askOther(tier: string): Promise<number> {
  const startedMs = performance.now();
  const { stream } = await cases.stream(tier);
  expect(stream).toMatchObject({ text: 'hello', isDone: true });
  return performance.now() - startedMs;
}

async function inSeries(count: number, ask: () => Promise<number>): Promise<number[]> {
  const took: number[] = [];
  for (let nth = 0; nth < count; nth += 1) took.push(await ask());
  return took;
}

type Sample = { readonly open: number; readonly eachBytes: number };

/** How many providers are held up now, and what each of them costs. */
function sampled(emptyBytes: number): Sample {
  const open = cases.control.openRequests('p1');
  const sample = { open, eachBytes: (usedBytes() - emptyBytes) / Math.max(1, open) };
  console.info(`${open} slow readers: ${Math.round(sample.eachBytes / 1024)} kB each`);
  return sample;
}

it(`ST-31 ${readers} clients that stop reading: memory is bounded, others are answered as before`, async () => {
  const endless = { repeat: 100_000, steps: [`T:${'x'.repeat(eventLength)}`] };
  const tier = await cases.tier(['p1'], { p1: [{ sse: ['ROLE', endless] }] });
  const other = `${tier}-other`;
  cases.control.script('p2', hello.anthropic);
  const target = { provider: 'p2', model: cases.modelOf('p2') };
  await cases.put(other, { hedge: false, targets: [target] }, { 'if-none-match': '*' });
  const before = await inSeries(20, () => askOther(other));
  const emptyBytes = usedBytes();

  const clients: RawClient[] = [];
  const samples: Sample[] = [];
  while (clients.length < readers) {
    const count = Math.min(readers - clients.length, 25);
    clients.push(...(await Promise.all(Array.from({ length: count }, () => stopReading(tier)))));
    samples.push(sampled(emptyBytes));
  }
  // What the kernel's buffers take is taken; then nothing moves any more.
  await until('nothing moves', async () => {
    await pause(1000);
    samples.push(sampled(emptyBytes));
    const latest = samples.slice(-3).map(({ eachBytes }) => eachBytes);
    return latest.length === 3 && Math.max(...latest) - Math.min(...latest) < 32 * 1024;
  });
  const meanwhile = await inSeries(20, () => askOther(other));
  console.info(
    `another's answer takes ${medianOf(meanwhile).toFixed(1)} ms, before ${medianOf(before).toFixed(1)} ms (medians)`,
  );
  // Of a few alone the other things of this process are a great part; while bytes flow, more are on their way.
  const many = samples.filter(({ open }) => open >= readers / 2);
  expect(many).not.toEqual([]);
  expect(Math.max(...many.map(({ eachBytes }) => eachBytes))).toBeLessThan(2 * bytesEachMax);
  expect(many.at(-1)?.eachBytes).toBeLessThan(bytesEachMax);
  expect(medianOf(meanwhile)).toBeLessThan(medianOf(before) * 5 + 100);
  for (const { startedMs, peerClosedMs } of cases.received('p1')) {
    if (peerClosedMs !== null) expect(peerClosedMs - startedMs).toBeGreaterThan(stallMs / 2);
  }

  // Those who take nothing are cut in time; nobody waits for that in a short run.
  if (!waitsForStall) for (const client of clients) client.socket.destroy();
  await until('every provider was left', () => cases.control.openRequests('p1') === 0);
  await until('every row is written', async () => {
    const rows = [...(await cases.rowsOfTier(tier)).values()];
    return rows.filter(({ outcome }) => outcome === 'client_gone').length === readers;
  });
  for (const client of clients) client.socket.destroy();
  expect(await cases.breakerOf('p1')).toBe('closed');
});
