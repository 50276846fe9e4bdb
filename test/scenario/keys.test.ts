import { describe, expect, it } from 'vitest';
import { Counters } from '../../src/telemetry/counters.ts';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  retryPolicy,
  status,
} from '../support/engine-harness.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

/** p1 with two keys, of which `script` sees which one was used. */
function twoKeys(script: (key: string, call: number) => ScriptedCall) {
  const keys = ['KEY_A', 'KEY_B'].map((alias) => ({ alias, resolve: () => alias }));
  const provider = plainProvider('p1', { keys });
  const tier = plainTier([plainTarget('p1', { provider }), plainTarget('p2')]);
  const harness: EngineHarness = new EngineHarness(tier, (name, call) => {
    const key = harness.transport.requests.at(-1)?.headers['authorization'] ?? '';
    return name === 'p1' ? script(key, call) : ok('p2');
  });
  return harness;
}

const usedKeys = (harness: EngineHarness) =>
  harness.transport.requests.map(({ headers }) => headers['authorization'] ?? 'none');

describe('several keys of one provider', () => {
  it.each([401, 403, 402])(
    'R13 a %s retires the key, and the next one is tried at once',
    async (code) => {
      const harness = twoKeys((key) => (key === 'KEY_A' ? status(code) : ok('p1')));
      const { text, trace } = await harness.askWithin(100);
      expect(text).toBe('p1');
      expect(trace).toMatchObject({ backoffMs: 0, failoverCount: 0 });
      expect(trace.attempts.map(({ keyAlias }) => keyAlias)).toEqual(['KEY_A', 'KEY_B']);
      await harness.askWithin(100);
      expect(usedKeys(harness)).toEqual(['KEY_A', 'KEY_B', 'KEY_B']);
    },
  );

  it('a rate limit rests the key, not the provider; it comes back at its time', async () => {
    const limited = status(429, { headers: { 'retry-after': '20' } });
    const harness = twoKeys((key, call) => (key === 'KEY_A' && call === 0 ? limited : ok('p1')));
    expect((await harness.askWithin(100)).text).toBe('p1');
    expect((await harness.askWithin(100)).text).toBe('p1');
    await harness.clock.advance(21_000);
    expect((await harness.askWithin(100)).text).toBe('p1');
    expect(usedKeys(harness)).toEqual(['KEY_A', 'KEY_B', 'KEY_B', 'KEY_A']);
  });

  it('a rate limit that forbids a repeat is of its key: the next one is asked, then the next target', async () => {
    const headers = { 'retry-after': '20', 'x-should-retry': 'false' };
    const limited = status(429, { headers });
    const one = twoKeys((key) => (key === 'KEY_A' ? limited : ok('p1')));
    expect((await one.askWithin(100)).text).toBe('p1');
    expect(usedKeys(one)).toEqual(['KEY_A', 'KEY_B']);
    const both = twoKeys(() => limited);
    expect((await both.askWithin(100)).text).toBe('p2');
    expect(usedKeys(both).slice(0, 2)).toEqual(['KEY_A', 'KEY_B']);
    expect(both.transport.requests).toHaveLength(3);
  });

  it('R72 a key that others retired in the meantime holds up no retry: it goes by the next key', async () => {
    const later = (call: ScriptedCall, afterMs: number) => ({ ...call, afterMs }) as ScriptedCall;
    const harness = twoKeys((key, call) => {
      if (key === 'KEY_B') return ok('p1');
      return call === 0 ? later(status(402), 100) : later(status(500), 110);
    });
    const first = harness.ask();
    const second = await harness.askWithin(10_000);
    expect(second.trace.attempts).toMatchObject([
      { target: 'p1/m', keyAlias: 'KEY_A', failure: { errorClass: 'transient_infra' } },
      { target: 'p1/m', keyAlias: 'KEY_B', kind: 'retry', delayReason: 'backoff' },
    ]);
    expect((await first).text).toBe('p1');
  });

  it('R13 a key that was refused stays parked when an attempt from before still succeeds with it', async () => {
    const harness = twoKeys((key, call) => {
      if (key === 'KEY_B') return ok('p1');
      const answer = call === 0 ? ok('p1') : status(401);
      return { ...answer, afterMs: call === 0 ? 100 : 10 } as ScriptedCall;
    });
    const first = harness.ask();
    await harness.clock.advance(1);
    expect((await harness.askWithin(60)).trace.attempts).toHaveLength(2);
    await harness.clock.advance(100);
    expect((await first).text).toBe('p1');
    await harness.askWithin(100);
    expect(usedKeys(harness)).toEqual(['KEY_A', 'KEY_A', 'KEY_B', 'KEY_B']);
  });

  it('R06 what was refused for good is no answer to when to come back, where something else rests', async () => {
    const tier = plainTier([plainTarget('p1'), plainTarget('p2')], {
      failover: { onContentPolicy: false, recheckMs: 10_000, waiters: 64 },
    });
    const harness = new EngineHarness(tier, (provider) =>
      provider === 'p1' ? status(402) : status(429, { headers: { 'retry-after': '100' } }),
    );
    await harness.askWithin(100);
    const { answer } = await harness.askWithin(100);
    expect(answer).toMatchObject({ failure: { status: 429 } });
    const toldMs = answer.kind === 'failed' ? (answer.failure.retryAfterMs ?? 0) : 0;
    expect(toldMs).toBeGreaterThan(99_000);
  });

  it('when all keys rest, the target rests: the next one answers without a call', async () => {
    const harness = twoKeys(() => status(401));
    expect((await harness.askWithin(100)).text).toBe('p2');
    const { text, trace } = await harness.askWithin(100);
    expect(text).toBe('p2');
    expect(trace.skipped).toEqual([{ target: 'p1/m', reason: 'parked' }]);
  });

  it('a key switch counts in attempts, not in the budget', async () => {
    const harness = twoKeys((key) => (key === 'KEY_A' ? status(401) : ok('p1')));
    const tier = plainTier(harness.tier.targets, {
      retry: { ...retryPolicy, budget: { ratio: 0, minPerSecond: 0, max: 0 } },
    });
    expect((await harness.askWithin(100, { tier })).text).toBe('p1');
  });
});

describe('the retry budget', () => {
  it('spent, a retry is refused and the request fails over at once; it is counted', async () => {
    const none = { ...retryPolicy, budget: { ratio: 0, minPerSecond: 0, max: 0 } };
    const tier = plainTier([plainTarget('p1'), plainTarget('p2')], { retry: none });
    const harness = new EngineHarness(tier, (provider) =>
      provider === 'p1' ? status(529) : ok('p2'),
    );
    const { text, trace } = await harness.askWithin(40_000);
    expect(text).toBe('p2');
    expect(trace).toMatchObject({ latencyMs: 0, backoffMs: 0, refusedRetries: 1 });
    expect(harness.transport.calls('p1')).toBe(1);
    const counters = new Counters();
    counters.note(trace);
    expect(counters.totals()).toMatchObject({ retries_refused_by_budget: 1 });
  });
});

describe('a probe', () => {
  it('R92 draws no retry from the budget, also where its request has asked before', async () => {
    let isSick = true;
    const tier = plainTier([plainTarget('p1')], {
      retry: { ...retryPolicy, budget: { ratio: 0, minPerSecond: 0, max: 2 } },
    });
    const harness = new EngineHarness(tier, () => (isSick ? status(500) : ok('back')));
    const pending = harness.ask();
    while (harness.health.all()[0]?.breakerState() !== 'open') await harness.clock.advance(100);
    isSick = false;
    await harness.clock.advance(5000);
    const { text, trace } = await pending;
    expect(text).toBe('back');
    expect(trace.attempts.map(({ kind, retryBudget }) => [kind, retryBudget])).toEqual([
      ['first', 2],
      ['retry', 1],
      ['retry', 0],
      ['probe', 0],
    ]);
    expect(trace.refusedRetries).toBe(0);
  });
});

describe('a half-open breaker', () => {
  it('BR-03 of 100 concurrent requests one probes, and 99 are answered by the next target at once', async () => {
    let isSick = true;
    const harness = new EngineHarness(
      plainTier([plainTarget('p1'), plainTarget('p2')]),
      (provider) => {
        if (provider === 'p2') return ok('p2');
        return isSick ? status(500) : ({ ...ok('p1'), afterMs: 500 } as ScriptedCall);
      },
    );
    for (let turn = 0; turn < 4; turn += 1) await harness.askWithin(60_000);
    expect(harness.health.all()[0]?.breakerState()).toBe('open');
    isSick = false;
    await harness.clock.advance(5000);
    const before = harness.transport.calls('p1');
    const asked = Promise.all(Array.from({ length: 100 }, () => harness.ask()));
    await harness.clock.advance(499);
    expect(harness.transport.calls('p1') - before).toBe(1);
    await harness.clock.advance(1);
    const ended = await asked;
    const passed = ended.filter(({ text }) => text === 'p2');
    expect(passed).toHaveLength(99);
    for (const { trace } of passed) expect(trace.latencyMs).toBe(0);
    expect(ended.find(({ text }) => text === 'p1')?.trace.attempts[0]?.kind).toBe('probe');
  });

  it('BR-11 refused, a request is told when the next probe is due', async () => {
    const harness = new EngineHarness(plainTier([plainTarget('p1')]), () => status(500));
    const health = () => harness.health.all()[0];
    while (health()?.breakerState() !== 'open') {
      await harness.askWithin(60_000, { maxRetries: 0 });
      await harness.clock.advance(600);
    }
    const { answer } = await harness.askWithin(1000, { deadlineMs: 10 });
    const dueMs = health()?.breakerView().nextProbeAtMs ?? 0;
    const leftMs = Math.ceil(dueMs - harness.clock.monotonicMs());
    expect(answer).toMatchObject({
      failure: { status: 503, failureClass: 'no_target_available' },
    });
    const told = answer.kind === 'failed' ? (answer.failure.retryAfterMs ?? 0) : 0;
    expect(Math.abs(told - leftMs)).toBeLessThanOrEqual(50);
  });
});

describe('when every candidate is open', () => {
  it('one waiter a second probes, and the period is not doubled', async () => {
    let isSick = true;
    const lone = plainTier([plainTarget('p1')], { retry: { ...retryPolicy, attempts: 3 } });
    const harness = new EngineHarness(lone, () => (isSick ? status(500) : ok('back')));
    await harness.askWithin(120_000);
    expect(harness.health.all()[0]?.breakerState()).toBe('open');
    const waiting = Promise.all(Array.from({ length: 20 }, () => harness.ask()));
    const before = harness.transport.calls('p1');
    await harness.clock.advance(10_000);
    const probes = harness.transport.calls('p1') - before;
    expect(probes).toBeGreaterThanOrEqual(9);
    expect(probes).toBeLessThanOrEqual(14);
    isSick = false;
    await harness.clock.advance(2000);
    const ended = await waiting;
    expect(ended.filter(({ text }) => text === 'back').length).toBeGreaterThan(5);
  });
});
