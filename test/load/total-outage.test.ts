/** Everything fails: the calls upstream stay within the budget, and the return is no stampede. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { CaseGateway } from '../support/case-gateway.ts';
import { effort } from '../support/effort.ts';
import type { ProviderName } from '../support/running-gateway.ts';
import { expectOneAtATime } from './probes.ts';
import { Traffic, until } from './traffic.ts';

const perSecond = 20;
const outageMs = effort(5000, 60_000);
const names = ['p1', 'p2'] as const satisfies readonly ProviderName[];
/** The first probe that is answered takes so long that any other beside it would be seen. */
const slowMs = 200;
/** As shipped, but for a store of tokens that an outage of seconds can empty. */
const budget = { ratio: 0.2, min_per_second: 1, max: 10 };
/** Few failures are enough for as many retries as a request may make. */
const retry = { attempts: 4, base: '50ms', cap: '500ms', budget };

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

async function suffer(policies: JsonObject) {
  const tier = await cases.tier(names, {}, { policies: { deadline: '4s', retry, ...policies } });
  const before = names.map((name) => cases.control.calls(name));
  for (const name of names) cases.control.fault(name, 'server_error');
  const startedMs = performance.now();
  const traffic = Traffic.start(cases, { tier, perSecond, words: 4, isMixed: true });
  await until('the outage has lasted', () => performance.now() - startedMs >= outageMs);
  const stop = async () => {
    const answers = await traffic.stop();
    return { answers, rows: await cases.rowsOfTier(tier) };
  };
  return { tier, traffic, stop, before, startedMs };
}

/** The calls of each target since `before`. */
function callsSince(before: readonly number[]): readonly number[] {
  return names.map((name, index) => cases.control.calls(name) - (before[index] ?? 0));
}

async function openNames(): Promise<readonly string[]> {
  const states = await Promise.all(names.map((name) => cases.breakerOf(name)));
  return names.filter((_, index) => states[index] !== 'closed');
}

function bound(requests: number, startedMs: number): number {
  const seconds = Math.ceil((performance.now() - startedMs) / 1000);
  return requests * (1 + budget.ratio) + budget.max + budget.min_per_second * seconds;
}

it('R92 total outage, breakers that never open: the budget alone bounds the calls', async () => {
  const { before, startedMs, stop } = await suffer({ breaker: { failures: 1000 } });
  const { answers, rows } = await stop();
  const calls = callsSince(before);
  const most = bound(answers.length, startedMs);
  console.info(
    `total outage, budget alone: ${answers.length} requests, calls ${calls}, bound ${most.toFixed(0)}`,
  );
  for (const each of calls) {
    expect(each).toBeLessThanOrEqual(most);
    // Each asked both once, and the budget was used: the bound is one that could be missed.
    expect(each).toBeGreaterThan(answers.length);
  }
  for (const answer of answers) {
    expect(answer).toMatchObject({ isComplete: false, servedBy: null });
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(rows.get(answer.id)).toMatchObject({ outcome: 'failed', status: answer.status });
  }
  expect(rows.size).toBe(answers.length);
});

it('R92 R72 total outage with breakers: few calls, everyone is told, and one probe at a time at the return', async () => {
  const breaker = { open_for: '500ms', open_for_max: '1s' };
  const { before, startedMs, traffic, stop } = await suffer({ breaker });
  const calls = callsSince(before);
  const requests = traffic.sent;
  const most = bound(requests, startedMs);
  for (const each of calls) expect(each).toBeLessThanOrEqual(Math.min(most, requests));

  const isServed = ({ isComplete }: { readonly isComplete: boolean }) => isComplete;
  await until('both are open', async () => (await openNames()).length === names.length);
  cases.control.forgetRequests();
  const callsAtReturn = names.map((name) => cases.control.calls(name));
  const underWay = traffic.sent - traffic.answers.length;
  cases.control.clear();
  for (const name of names) cases.control.fault(name, 'slow', { delayMs: slowMs });
  const backMs = performance.now();
  await until('a first answer', () => traffic.count(isServed) > 0);
  const servedAfterMs = performance.now() - backMs;
  await until('many answers', () => traffic.count(isServed) >= perSecond);
  const received = names.map((name) => [...cases.received(name)]);
  const { answers, rows } = await stop();
  for (const calls of received.filter((each) => each.some(({ status }) => status === 200))) {
    expectOneAtATime(calls, { backMs, wellMs: slowMs, openMs: 500 });
  }
  const returned = callsSince(callsAtReturn);
  console.info(
    `total outage, breakers: ${requests} requests, calls ${calls}, budget's bound ${most.toFixed(0)}; ` +
      `first answer ${Math.round(servedAfterMs)} ms after the return, then calls ${returned} of ${answers.length - requests + underWay} requests`,
  );
  // Those that waited are asked once more, not several times, and are not more than there are.
  for (const each of returned) {
    expect(each).toBeLessThanOrEqual(answers.length - requests + underWay + names.length);
  }
  expect([...rows.keys()].sort()).toEqual(answers.map(({ id }) => id).sort());
  for (const { id, isComplete } of answers) {
    expect(rows.get(id)).toMatchObject({ outcome: isComplete ? 'served' : 'failed' });
  }
});
