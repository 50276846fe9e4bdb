import { describe, expect, it } from 'vitest';
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

/** One request at a time, and one that waits for it. */
const narrow = { minConcurrent: 1, maxConcurrent: 1, queueMax: 1, queueWaitMs: 2000 };
const p1 = plainTarget('p1', { concurrency: narrow });
const p2 = plainTarget('p2', { concurrency: narrow });

const hurried = { ...p1.clocks, headersMs: 1000 };

/** An answer that takes a second and a half. */
const slowly: ScriptedCall = { ...ok(), afterMs: 1500 } as ScriptedCall;

const flowing: ScriptedCall = { kind: 'answer', status: 200, body: ['START\nT:a\n', 20_000] };

describe('the place of a request at its target', () => {
  it.each([
    ['a stream', ok(), true],
    ['a stream that is answered whole', whole(), true],
    ['a whole reply', whole(), false],
    ['a failure', status(400), false],
  ] as const)('is given back after %s', async (_, call, isStream) => {
    const harness = new EngineHarness(plainTier([p1]), () => call);
    for (let turn = 0; turn < 3; turn += 1) {
      const { trace } = await harness.askWithin(1000, { chat: { isStream } });
      expect(trace.attempts).toHaveLength(1);
      expect(trace.skipped).toEqual([]);
      expect(harness.health.all()[0]?.inFlight).toBe(0);
    }
  });

  it('R20 nobody waits for it beyond the deadline', async () => {
    const harness = new EngineHarness(plainTier([p1]), () => flowing);
    const first = harness.ask({ deadlineMs: 60_000 });
    await harness.clock.advance(1000);
    const { answer, trace } = await harness.askWithin(600, { deadlineMs: 500 });
    expect(answer).toMatchObject({ kind: 'failed', failure: { status: 504 } });
    expect(trace.attempts).toHaveLength(0);
    expect(trace.latencyMs).toBeLessThanOrEqual(501);
    await harness.clock.advance(60_000);
    await first;
  });

  it('R20 a place that is free only at the deadline itself is given back unused', async () => {
    const wide = plainTarget('p1', { concurrency: { ...narrow, maxConcurrent: 2 } });
    const harness = new EngineHarness(plainTier([p1]), () => flowing);
    const busy = harness.ask({ deadlineMs: 60_000 });
    await harness.clock.advance(10);
    harness.clock.schedule(500, () => harness.health.of(wide, plainTier([wide])));
    const { answer, trace } = await harness.askWithin(600, { deadlineMs: 500 });
    expect(answer).toMatchObject({ kind: 'failed', failure: { status: 504 } });
    expect(trace.attempts).toHaveLength(0);
    expect(harness.health.all()[0]?.inFlight).toBe(1);
    await harness.clock.advance(60_000);
    await busy;
  });

  it('R92 a change of key that waits until the first key is back is a plain retry, and draws from the budget', async () => {
    const keys = ['one', 'two'].map((alias) => ({ alias, resolve: () => alias }));
    const pool = plainTarget('p1', {
      provider: plainProvider('p1', { keys }),
      concurrency: { ...narrow, maxConcurrent: 2 },
    });
    const tier = plainTier([pool], {
      retry: { ...retryPolicy, budget: { ratio: 0, minPerSecond: 0, max: 0 } },
    });
    const harness = new EngineHarness(tier, (_, call) =>
      call < 2 ? ({ ...status(429), afterMs: 10 * (call + 1) } as ScriptedCall) : slowly,
    );
    const first = harness.ask();
    await harness.clock.advance(5);
    const second = harness.askWithin(60_000);
    expect((await second).trace.attempts.map(({ keyAlias }) => keyAlias)).toEqual(['one']);
    await harness.clock.advance(60_000);
    expect((await first).trace.attempts.map(({ keyAlias }) => keyAlias)).toEqual(['one', 'two']);
  });

  it.each([
    ['before the one that fails', ['p1', 'p2'], 'the queue is full'],
    ['after the one that fails', ['p2', 'p1'], 'the queue is full'],
    ['before the one that fails', ['p1', 'p2'], 'the wait in it is over'],
    ['after the one that fails', ['p2', 'p1'], 'the wait in it is over'],
  ] as const)(
    'last in the way, %s, it ends the request as 503 with Retry-After (%s, %s)',
    async (_, order, how) => {
      const targets = { p1, p2: plainTarget('p2', { clocks: hurried }) };
      const tier = plainTier(order.map((name) => targets[name]));
      const harness = new EngineHarness(tier, (provider) =>
        provider === 'p1' ? flowing : { kind: 'silent' },
      );
      const busy = [harness.ask({ tier: plainTier([p1]) })];
      if (how === 'the queue is full') busy.push(harness.ask({ tier: plainTier([p1]) }));
      const { answer, trace } = await harness.askWithin(10_000, {
        deadlineMs: 9000,
        maxRetries: 0,
      });
      expect(trace.attempts).toMatchObject([
        { target: 'p2/m', failure: { errorClass: 'timeout' } },
      ]);
      expect(trace.skipped).toEqual([{ target: 'p1/m', reason: 'full' }]);
      expect(answer).toMatchObject({
        failure: { failureClass: 'no_target_available', status: 503, retryAfterMs: 1000 },
      });
      await harness.clock.advance(120_000);
      await Promise.all(busy);
    },
  );

  it('R06 is no rate limit: 503 although everybody who answered was rate-limited', async () => {
    const limited = status(429, { headers: { 'retry-after': '100' } });
    const tier = plainTier([p1, plainTarget('p2')]);
    const harness = new EngineHarness(tier, (provider) => (provider === 'p1' ? flowing : limited));
    const busy = [harness.ask(), harness.ask()];
    const { answer } = await harness.askWithin(10_000, { deadlineMs: 9000 });
    expect(answer).toMatchObject({ failure: { status: 503, retryAfterMs: 1000 } });
    await harness.clock.advance(120_000);
    await Promise.all(busy);
  });

  it('a target without room is skipped for one reason, told once', async () => {
    const harness = new EngineHarness(plainTier([p1, p2]), () => flowing);
    const busy = [harness.ask(), harness.ask(), harness.ask(), harness.ask()];
    await harness.clock.advance(100);
    const { trace } = await harness.askWithin(10_000, { deadlineMs: 9000 });
    const skipped = trace.skipped.map(({ target }) => target);
    expect(new Set(skipped).size).toBe(skipped.length);
    await harness.clock.advance(120_000);
    await Promise.all(busy);
  });
});

function whole(): ScriptedCall {
  return {
    kind: 'answer',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: ['START\nT:hi\nFIN:stop\nEND\n', { end: 'clean' }],
  };
}
