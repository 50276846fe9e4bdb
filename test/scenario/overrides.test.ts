import { describe, expect, it } from 'vitest';
import { EngineHarness, ok, plainTarget, plainTier, status } from '../support/engine-harness.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

const both = plainTier([plainTarget('p1'), plainTarget('p2')]);

describe("an operator's override", () => {
  it('drained: the next candidate answers, and the row says why', async () => {
    const harness = new EngineHarness(both, (provider) => ok(provider));
    harness.overrides.set('p1/m', 'drained', { untilMs: null, note: 'maintenance' });
    const { text, trace } = await harness.askWithin(1000);
    expect(text).toBe('p2');
    expect(trace).toMatchObject({
      isFailedOver: true,
      skipped: [{ target: 'p1/m', reason: 'drained' }],
    });
    harness.overrides.set('p1/m', 'auto', { untilMs: null, note: null });
    expect((await harness.askWithin(1000)).text).toBe('p1');
  });

  it('ends by itself at its time', async () => {
    const harness = new EngineHarness(both, (provider) => ok(provider));
    harness.overrides.set('p1/m', 'drained', {
      untilMs: harness.clock.wallMs() + 5000,
      note: null,
    });
    expect((await harness.askWithin(1000)).text).toBe('p2');
    await harness.clock.advance(5000);
    expect((await harness.askWithin(1000)).text).toBe('p1');
  });

  it('every target drained is 503 without a wait', async () => {
    const harness = new EngineHarness(both, (provider) => ok(provider));
    for (const id of ['p1/m', 'p2/m'])
      harness.overrides.set(id, 'drained', { untilMs: null, note: null });
    const { answer } = await harness.askWithin(100);
    expect(answer).toMatchObject({ failure: { status: 503, failureClass: 'no_target_available' } });
  });

  it('draining while a request sleeps for the target moves the request on at once', async () => {
    const harness = new EngineHarness(both, (provider) =>
      provider === 'p1' ? status(529, { headers: { 'retry-after': '8' } }) : ok('p2'),
    );
    const pending = harness.ask();
    await harness.clock.advance(1000);
    harness.overrides.set('p1/m', 'drained', { untilMs: null, note: null });
    await harness.clock.advance(10);
    const { text, trace } = await pending;
    expect(text).toBe('p2');
    expect(trace.attempts).toMatchObject([
      { target: 'p1/m', kind: 'first' },
      { target: 'p2/m', kind: 'failover', startedAfterMs: 1000 },
    ]);
    expect(harness.clock.pending).toBe(0);
  });

  it('draining while a request queues for the target moves the request on at once', async () => {
    const narrow = { minConcurrent: 1, maxConcurrent: 1, queueMax: 2, queueWaitMs: 2000 };
    const tier = plainTier([plainTarget('p1', { concurrency: narrow }), plainTarget('p2')]);
    const harness = new EngineHarness(tier, (provider) =>
      provider === 'p1' ? ({ ...ok('p1'), afterMs: 1000 } as ScriptedCall) : ok('p2'),
    );
    const first = harness.ask();
    await harness.clock.advance(100);
    const second = harness.ask();
    await harness.clock.advance(100);
    harness.overrides.set('p1/m', 'drained', { untilMs: null, note: null });
    await harness.clock.advance(10);
    const { text, trace } = await second;
    expect(text).toBe('p2');
    expect(trace.skipped).toEqual([{ target: 'p1/m', reason: 'drained' }]);
    expect(trace.latencyMs).toBe(100);
    await harness.clock.advance(1000);
    expect((await first).text).toBe('p1');
    expect(harness.transport.calls('p1')).toBe(1);
    expect(harness.clock.pending).toBe(0);
  });

  it('forced: an open breaker is not asked', async () => {
    let isSick = true;
    const harness = new EngineHarness(both, (provider) =>
      provider === 'p1' && isSick ? status(500) : ok(provider),
    );
    for (let turn = 0; turn < 3; turn += 1) await harness.askWithin(60_000);
    expect(harness.health.all()[0]?.breakerState()).toBe('open');
    isSick = false;
    harness.overrides.set('p1/m', 'forced', { untilMs: null, note: null });
    expect((await harness.askWithin(100)).text).toBe('p1');
  });

  it('R73 forced: the attempt says so in place of the breaker, from its begin to its end', async () => {
    const harness = new EngineHarness(both, (provider) =>
      provider === 'p1' ? status(400) : ok(provider),
    );
    const standing = async () => {
      const { trace } = await harness.askWithin(100);
      return trace.attempts.map(({ breakerBefore, breakerAfter }) => [breakerBefore, breakerAfter]);
    };
    harness.overrides.set('p1/m', 'forced', { untilMs: null, note: null });
    expect(await standing()).toEqual([['forced', 'forced']]);
    harness.overrides.set('p1/m', 'auto', { untilMs: null, note: null });
    expect(await standing()).toEqual([['closed', 'closed']]);
  });
});
