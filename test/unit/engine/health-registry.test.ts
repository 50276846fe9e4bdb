import { describe, expect, it } from 'vitest';
import type { Tier } from '../../../src/routing/snapshot.ts';
import { EngineHarness, ok, plainTarget, plainTier, status } from '../../support/engine-harness.ts';
import type { ScriptedCall } from '../../support/scripted-transport.ts';

const both = plainTier([plainTarget('p1'), plainTarget('p2')]);
const later = (call: ScriptedCall) => ({ ...call, afterMs: 1000 }) as ScriptedCall;

function named(...tiers: readonly Tier[]): ReadonlyMap<string, Tier> {
  return new Map(tiers.map((tier) => [tier.name, tier]));
}

function known({ health }: EngineHarness): readonly string[] {
  return health.all().map(({ name }) => name);
}

describe('the health of what a config no longer names', () => {
  it('is forgotten, and that of the rest stays as it was', async () => {
    const harness = new EngineHarness(both, (provider) => (provider === 'p2' ? ok() : status(500)));
    for (let turn = 0; turn < 3; turn += 1) await harness.askWithin(60_000);
    const states = () => harness.health.all().map((health) => health.breakerState());
    expect(states()).toEqual(['open', 'closed']);
    harness.health.retain(named(plainTier([plainTarget('p1')])));
    expect(known(harness)).toEqual(['p1/m']);
    expect(states()).toEqual(['open']);
    harness.health.retain(named());
    expect(known(harness)).toEqual([]);
  });

  it('stays while a request asks it, or waits for it', async () => {
    const harness = new EngineHarness(both, (provider, call) =>
      provider === 'p1' && call === 0 ? later(status(529)) : later(ok(provider)),
    );
    const pending = harness.ask();
    await harness.clock.advance(0);
    for (const untilMs of [500, 1100, 1200]) {
      harness.health.retain(named(plainTier([plainTarget('p2')])));
      expect(known(harness)).toEqual(['p1/m', 'p2/m']);
      await harness.clock.advance(untilMs - harness.clock.monotonicMs());
    }
    await harness.clock.advance(10_000);
    expect((await pending).text).toBe('p1');
    harness.health.retain(named(plainTier([plainTarget('p2')])));
    expect(known(harness)).toEqual(['p2/m']);
  });

  it('is that of a tier’s hedges as well', () => {
    const harness = new EngineHarness(both, () => ok());
    const draw = (tier: Tier) => Array.from({ length: 12 }, () => harness.health.drawHedge(tier));
    const allowed = (draws: readonly boolean[]) => draws.filter(Boolean).length;
    expect(allowed(draw(both))).toBe(10);
    harness.health.retain(named(both));
    expect(allowed(draw(both))).toBe(0);
    harness.health.retain(named());
    expect(allowed(draw(both))).toBe(10);
  });
});
