import { describe, expect, it } from 'vitest';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  status,
} from '../support/engine-harness.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

const p1 = plainTarget('p1');
const both = plainTier([p1, plainTarget('p2')]);
const silent: ScriptedCall = { kind: 'silent' };

function slow(text: string, afterMs: number): ScriptedCall {
  return { ...ok(text), afterMs } as ScriptedCall;
}

/** One request a quarter of a second, each to its end. */
async function ask(harness: EngineHarness, count: number, deadlineMs: number): Promise<void> {
  const asked: Promise<unknown>[] = [];
  for (let index = 0; index < count; index += 1) {
    asked.push(harness.ask({ deadlineMs }));
    await harness.clock.advance(250);
  }
  await harness.clock.advance(deadlineMs);
  await Promise.all(asked);
}

function states({ health }: EngineHarness): readonly string[] {
  return health.all().map((target) => target.breakerState());
}

describe('a deadline that leaves a target no fair time', () => {
  it.each([
    ['two targets', both],
    ['a lone target', plainTier([p1])],
  ])('R20 R72 of 5 ms, of one client, costs the others nothing: %s', async (_, tier) => {
    const harness = new EngineHarness(tier, (provider) => slow(provider, 100));
    await ask(harness, 60, 5);
    expect(new Set(states(harness))).toEqual(new Set(['closed']));
    expect((await harness.askWithin(1000)).text).toBe('p1');
  });

  it('R72 does not make a race lost after some milliseconds a failure', async () => {
    const harness = new EngineHarness(both, (provider) =>
      slow(provider, provider === 'p1' ? 200 : 5),
    );
    await ask(harness, 9, 90);
    expect(harness.transport.requests.some(({ provider }) => provider === 'p2')).toBe(true);
    expect(states(harness)).toEqual(['closed', 'closed']);
  });

  it('R72 is one below what its answers usually take', async () => {
    const harness = new EngineHarness(both, (provider) =>
      slow(provider, provider === 'p1' ? 5000 : 10),
    );
    const known = Array.from({ length: 20 }, () => harness.ask({ deadlineMs: 60_000 }));
    await harness.clock.advance(6000);
    await Promise.all(known);
    await ask(harness, 20, 6000);
    expect(states(harness)).toEqual(['closed', 'closed']);
  });

  it('R72 is not one of seconds: silence still opens the breaker', async () => {
    const harness = new EngineHarness(both, (provider) =>
      provider === 'p1' ? silent : ok(provider),
    );
    await ask(harness, 10, 3000);
    expect(states(harness)).toEqual(['open', 'closed']);
  });

  it('leaves a probe without a mark, and the next request is the probe', async () => {
    let isSick = true;
    const harness = new EngineHarness(both, (provider) =>
      provider === 'p1' && isSick ? silent : slow(provider, 100),
    );
    await ask(harness, 10, 3000);
    isSick = false;
    await harness.clock.advance(5000);
    await ask(harness, 1, 5);
    expect(states(harness)).toEqual(['half_open', 'closed']);
    const { text, trace } = await harness.askWithin(1000);
    expect([text, trace.attempts[0]?.kind]).toEqual(['p1', 'probe']);
    expect(states(harness)).toEqual(['closed', 'closed']);
  });
});

it('R21 a target that would not answer in time is skipped for the deadline; the last one is asked all the same', async () => {
  const tier = plainTier([p1, plainTarget('p2'), plainTarget('p3')], { hedge: null });
  const harness = new EngineHarness(tier, (provider) => {
    if (provider === 'p1') return silent;
    return slow(provider, provider === 'p2' ? 700 : 50);
  });
  const known = Array.from({ length: 20 }, () => harness.ask({ pin: 'p2/m' }));
  await harness.clock.advance(1000);
  await Promise.all(known);
  const { text, trace } = await harness.askWithin(2000, { deadlineMs: 1200 });
  expect(text).toBe('p3');
  expect(trace.attempts.map(({ target }) => target)).toEqual(['p1/m', 'p3/m']);
  expect(trace.skipped).toEqual([{ target: 'p2/m', reason: 'deadline' }]);
});

it('R20 a service that takes it is told how long a whole reply is waited for; of a stream it is told nothing', async () => {
  const provider = plainProvider('p1', { deadlineHeader: 'x-server-timeout' });
  const tier = plainTier([plainTarget('p1', { provider })]);
  const harness = new EngineHarness(tier, (_, call) =>
    call === 0 ? ({ ...status(500), afterMs: 1500 } as ScriptedCall) : ok(),
  );
  await harness.askWithin(20_000, { deadlineMs: 10_000, chat: { isStream: false } });
  await harness.askWithin(20_000, { deadlineMs: 200, chat: { isStream: false } });
  await harness.askWithin(20_000, { deadlineMs: 10_000 });
  const told = harness.transport.requests.map(({ headers }) => headers['x-server-timeout']);
  expect(told).toEqual(['10', expect.stringMatching(/^[78]$/), '1', undefined]);
});
