/** Clients that leave, in each phase of a request, many times: the provider is left at once, and nothing stays behind. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../src/simulator/control/request-ring.ts';
import type { ScriptedCall } from '../../src/simulator/script/scripted-call.ts';
import { pause, RawClient } from '../http/raw-client.ts';
import { CaseGateway } from '../support/case-gateway.ts';
import { clientCount, effort } from '../support/effort.ts';
import { chat } from '../support/running-gateway.ts';
import { until } from './traffic.ts';

const timesEach = clientCount(50, 1000);
const atOnce = effort(10, 20);
/** The figure of the design; five times as much on a machine that does other things as well. */
const p99MsMax = effort(1000, 200);

type Phase = {
  readonly name: string;
  readonly script: ScriptedCall;
  /** What the client has read when it leaves; '' = it has got nothing. */
  readonly reads: string;
};

const phases: readonly Phase[] = [
  { name: 'before the provider’s headers', script: { delay: 120_000, text: 'late' }, reads: '' },
  { name: 'while content is waited for', script: { sse: ['ROLE', 'HANG'] }, reads: '' },
  { name: 'in the hold', script: { sse: ['ROLE', 'T:held', 'HANG'] }, reads: '' },
  {
    name: 'in the middle of the stream',
    script: { sse: ['ROLE', { repeat: 10_000, steps: ['T:word ', 'SLEEP:20'] }] },
    reads: 'word',
  },
];

const ways = ['destroy', 'resetAndDestroy'] as const;

let cases: CaseGateway;
/** What the provider received, by the client's own id. */
const records = new Map<string, RequestRecord>();
const warnings: Error[] = [];

beforeAll(async () => {
  cases = await CaseGateway.start();
  process.on('warning', (warning) => warnings.push(warning));
  cases.control.onChange(() => {
    for (const record of cases.received('p1').toReversed()) {
      const id = String(record.headers['x-client-request-id']);
      if (records.has(id)) break;
      records.set(id, record);
    }
  });
});
afterAll(() => cases.close());

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

function heapBytes(): number {
  collect();
  return getHeapStatistics().used_heap_size;
}

/** Sockets, of the gateway, of the provider and of the clients: all live in this process. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
}

/** One client that leaves in `phase`; how long the provider had to wait for it, ms. */
async function leave(tier: string, { reads }: Phase, id: string, nth: number): Promise<number> {
  const client = await RawClient.open(Number(new URL(cases.gateway.origin).port));
  client.post(JSON.stringify(chat(tier, { stream: true })), [`x-client-request-id: ${id}`]);
  await until('the provider was asked', () => (records.get(id)?.answeredBy ?? null) !== null);
  if (reads === '') await pause(5 + (nth % 40));
  else await client.receives(reads, 60_000);
  if (reads === '') expect(client.text).toBe('');
  const leftMs = performance.now();
  client.socket[ways[nth % ways.length] ?? 'destroy']();
  await until('the provider was left', () => (records.get(id)?.peerClosedMs ?? null) !== null);
  return (records.get(id)?.peerClosedMs ?? Number.POSITIVE_INFINITY) - leftMs;
}

async function leaveAll(tier: string, phase: Phase, count: number): Promise<readonly number[]> {
  const took: number[] = [];
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      const nth = begun;
      took.push(await leave(tier, phase, `${tier}-${count}-${nth}`, nth));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
  return took.toSorted((one, other) => one - other);
}

const policies = {
  stream: { hold_max: '10m', hold_tokens: 20 },
  timeout: { headers: '10m', first_content: '10m', idle: '10m', first_content_soft: '10m' },
  deadline: '20m',
};

describe.each(phases)('a client that leaves $name', (phase) => {
  it(`${timesEach} times: the provider is left within ${p99MsMax} ms (p99), nobody else is asked`, async () => {
    const inHold = phase.reads === '';
    const tier = await cases.tier(
      ['p1', 'p2'],
      { p1: [phase.script] },
      { policies: inHold ? policies : { ...policies, stream: { hold_tokens: 0 } } },
    );
    await leaveAll(tier, phase, 5);
    const socketsBefore = openSockets();
    const heapBefore = heapBytes();
    const calls = cases.control.calls('p1');
    const lateness = monitorEventLoopDelay({ resolution: 5 });
    lateness.enable();
    const took = await leaveAll(tier, phase, timesEach);
    lateness.disable();
    const p99 = took[Math.ceil(took.length * 0.99) - 1] ?? Number.POSITIVE_INFINITY;
    const median = took[Math.floor(took.length / 2)] ?? Number.POSITIVE_INFINITY;
    console.info(
      `leaving ${phase.name}: ${took.length} x, provider left after ${median.toFixed(1)} ms (median), ${p99.toFixed(1)} ms (p99); this process itself was late by ${(lateness.percentile(99) / 1e6).toFixed(1)} ms (p99)`,
    );
    expect(p99).toBeLessThanOrEqual(p99MsMax);
    expect(cases.control.calls('p1') - calls).toBe(timesEach);
    expect(cases.calls('p2')).toBe(0);
    expect(await cases.breakerOf('p1')).toBe('closed');
    await until('every row is written', async () => {
      const rows = [...(await cases.rowsOfTier(tier)).values()];
      return rows.filter(({ outcome }) => outcome === 'client_gone').length === timesEach + 5;
    });
    await until('every request has ended', () => cases.control.openRequests('p1') === 0);
    await until('no socket is left', () => openSockets() <= socketsBefore + atOnce);
    cases.control.forgetRequests();
    records.clear();
    // What each would leave behind if it left anything: far less than one request takes.
    const growth = (heapBytes() - heapBefore) / timesEach;
    if (timesEach >= 1000) expect(growth).toBeLessThan(4096);
  });
});

it('leaves no listener behind on anything that outlives a request', () => {
  expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
});
