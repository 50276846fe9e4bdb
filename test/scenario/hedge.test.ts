import { describe, expect, it } from 'vitest';
import {
  EngineHarness,
  ok,
  plainTarget,
  plainTier,
  retryPolicy,
  status,
} from '../support/engine-harness.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

const both = plainTier([plainTarget('p1'), plainTarget('p2')]);

function always(scripts: { readonly [provider: string]: ScriptedCall }) {
  return (provider: string): ScriptedCall => scripts[provider] ?? ok(provider);
}

/** Answers well, after `ms`. */
function late(ms: number, text: string): ScriptedCall {
  return { ...ok(text), afterMs: ms } as ScriptedCall;
}

describe('a hedge on a slow start', () => {
  it('asks the next candidate at the soft clock and cancels the loser', async () => {
    const harness = new EngineHarness(both, always({ p1: { kind: 'silent' } }));
    const { text, trace } = await harness.askWithin(11_000);
    expect(text).toBe('p2');
    expect(trace.attempts.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ['first', 'cancelled'],
      ['hedge', 'served'],
    ]);
    expect(trace).toMatchObject({ failoverCount: 1, isFailedOver: true });
    expect(harness.transport.open).toBe(0);
    expect(harness.clock.pending).toBe(0);
  });

  it('never cuts a healthy slow request: it still wins when it answers first', async () => {
    const harness = new EngineHarness(
      both,
      always({ p1: late(25_000, 'slow but sound'), p2: { kind: 'silent' } }),
    );
    const { text, trace } = await harness.askWithin(26_000);
    expect(text).toBe('slow but sound');
    expect(trace.attempts.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ['first', 'served'],
      ['hedge', 'cancelled'],
    ]);
    expect(trace.failoverCount).toBe(0);
    expect(harness.transport.open).toBe(0);
  });

  it('R20 ends the split: both race to the deadline, and the slow one may come last', async () => {
    const harness = new EngineHarness(
      both,
      always({ p1: late(25_000, 'slow but sound'), p2: { kind: 'silent' } }),
    );
    const { text, trace } = await harness.askWithin(31_000, { deadlineMs: 30_000 });
    expect([text, trace.latencyMs]).toEqual(['slow but sound', 25_000]);
  });

  it('a racer that failed is left for good, also when the other fails after it', async () => {
    const tier = plainTier(both.targets, { retry: { ...retryPolicy, attempts: 2 } });
    const failing = { ...status(500), afterMs: 12_000 } as ScriptedCall;
    const harness = new EngineHarness(tier, always({ p1: failing, p2: status(500) }));
    const { trace } = await harness.askWithin(120_000);
    expect(trace.attempts.map(({ target, kind }) => [target, kind])).toEqual([
      ['p1/m', 'first'],
      ['p2/m', 'hedge'],
      ['p1/m', 'retry'],
    ]);
  });

  it('one answer, whichever comes first: no text of the loser reaches the client', async () => {
    const harness = new EngineHarness(
      both,
      always({ p1: late(10_050, 'one'), p2: late(40, 'two') }),
    );
    const { text } = await harness.askWithin(12_000);
    expect(['one', 'two']).toContain(text);
  });

  it('a hedge that fails leaves the slow one running', async () => {
    const harness = new EngineHarness(both, always({ p1: late(15_000, 'slow'), p2: status(401) }));
    const { text, trace } = await harness.askWithin(16_000);
    expect(text).toBe('slow');
    expect(trace.attempts.map(({ outcome }) => outcome)).toEqual(['served', 'failed']);
  });

  it('is not started when content has come, nor for a pinned request, nor where it is off', async () => {
    const trickle: ScriptedCall = {
      kind: 'answer',
      status: 200,
      body: ['T:a\n', 20_000, 'FIN:stop\nEND\n'],
    };
    const flowing = new EngineHarness(
      plainTier(both.targets, { stream: { ...both.stream, holdMaxMs: 60_000 } }),
      always({ p1: trickle }),
    );
    expect((await flowing.askWithin(30_000)).trace.attempts).toHaveLength(1);
    const pinned = new EngineHarness(both, always({ p1: late(12_000, 'x') }));
    expect((await pinned.askWithin(30_000, { pin: 'p1/m' })).trace.attempts).toHaveLength(1);
    const off = new EngineHarness(
      plainTier(both.targets, { hedge: null }),
      always({ p1: late(12_000, 'x') }),
    );
    expect((await off.askWithin(30_000)).trace.attempts).toHaveLength(1);
  });

  it('has a budget of its own: ten at once, then one in twenty requests', async () => {
    const harness = new EngineHarness(
      plainTier(both.targets, { breaker: { ...both.breaker, failures: 1000 } }),
      always({ p1: late(11_000, 'slow') }),
    );
    const asked = await Promise.all([
      ...Array.from({ length: 20 }, () => harness.ask()),
      harness.clock.advance(12_000),
    ]);
    const hedged = asked.filter((one) => one !== undefined && one.trace.attempts.length === 2);
    expect(hedged).toHaveLength(10);
  });

  it('a loser whose target had sent nothing is marked as silent, one that had answered is not', async () => {
    const silent = new EngineHarness(both, always({ p1: { kind: 'silent' } }));
    for (let turn = 0; turn < 3; turn += 1) await silent.askWithin(11_000);
    expect(silent.health.all()[0]?.breakerState()).toBe('open');
    const answering = new EngineHarness(
      both,
      always({ p1: { kind: 'answer', status: 200, body: ['START\n', 50_000] } }),
    );
    for (let turn = 0; turn < 4; turn += 1) await answering.askWithin(11_000);
    expect(answering.health.all()[0]?.breakerState()).toBe('closed');
  });

  it('a client that leaves while both run cancels both and charges neither', async () => {
    const harness = new EngineHarness(both, () => ({ kind: 'silent' }));
    const client = new AbortController();
    const run = harness.engine.start(harness.request({ signal: client.signal }));
    await harness.clock.advance(11_000);
    expect(harness.transport.open).toBe(2);
    client.abort();
    await harness.clock.advance(0);
    expect(await run.answer).toEqual({ kind: 'gone' });
    expect(harness.transport.open).toBe(0);
    expect(harness.clock.pending).toBe(0);
    expect(run.trace().attempts.map(({ outcome }) => outcome)).toEqual([
      'client_gone',
      'client_gone',
    ]);
    expect(harness.health.all().map((health) => health.breakerState())).toEqual([
      'closed',
      'closed',
    ]);
  });
});
