/** SE-12: two hundred thousand calls, half left by their clients, half failed over: memory and sockets stay flat. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RawClient } from '../http/raw-client.ts';
import { CaseGateway, hello } from '../support/case-gateway.ts';
import { chat } from '../support/running-gateway.ts';

/** Calls of one round; fewer with `TIERGATE_SOAK_CALLS` for a short look. */
const total = Number(process.env['TIERGATE_SOAK_CALLS'] ?? 200_000);
const atOnce = 32;
const rounds = 10;
const bytesPerTenThousandMax = 1024 * 1024;

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

async function leave(tier: string): Promise<void> {
  const client = await RawClient.open(Number(new URL(cases.gateway.origin).port));
  client.post(JSON.stringify(chat(tier, { stream: true })));
  await new Promise((resolve) => setTimeout(resolve, 2));
  client.socket.resetAndDestroy();
}

async function round(tier: string, calls: number): Promise<void> {
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < calls) {
      begun += 1;
      if (begun % 2 === 0) await leave(tier);
      else await (await cases.post(tier, { stream: true })).arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

it('SE-12 memory, sockets and listeners stay flat over many failed and abandoned calls', async () => {
  const tier = await cases.tier(
    ['p1', 'p2'],
    { p1: [{ status: 500, body: 'x'.repeat(65_536) }], p2: hello.anthropic },
    { policies: { retry: { attempts: 1 } } },
  );
  const heap: number[] = [];
  for (let nth = 0; nth < rounds; nth += 1) {
    await round(tier, total / rounds);
    cases.control.forgetRequests();
    heap.push(heapBytes());
  }
  await expect.poll(() => cases.control.openRequests('p1'), { timeout: 10_000 }).toBe(0);
  expect(cases.control.openSockets('p1')).toBeLessThanOrEqual(atOnce * 2);
  for (const signal of ['SIGTERM', 'SIGINT'])
    expect(process.listenerCount(signal)).toBeLessThan(10);
  const [, warm = 0] = heap;
  const growth = ((heap.at(-1) ?? 0) - warm) / ((total / 10_000) * ((rounds - 2) / rounds));
  expect(growth).toBeLessThan(bytesPerTenThousandMax);
});
