import { describe, expect, it } from 'vitest';
import type { AttemptBounds } from '../../../src/engine/attempt.ts';
import { boundsOf } from '../../../src/engine/bounds.ts';
import { candidateOf } from '../../../src/engine/candidate-of.ts';
import { EngineHarness, ok, plainTarget, plainTier } from '../../support/engine-harness.ts';

function boundsOfFirst(targets: number, deadlineMs: number): AttemptBounds {
  const tier = plainTier([plainTarget('p1'), plainTarget('p2')].slice(0, targets));
  const harness = new EngineHarness(tier, () => ok());
  const { clock, health, overrides } = harness;
  const candidates = tier.targets.map((target) =>
    candidateOf(target, tier, { clock, health, overrides }),
  );
  const [first] = candidates;
  if (first === undefined) throw new Error('a tier without targets');
  return boundsOf(harness.request({ deadlineMs }), first, candidates, 0);
}

function softAtMs(targets: number, deadlineMs: number): number | null {
  return boundsOfFirst(targets, deadlineMs).softAtMs;
}

it('the transport is always told the configured connect clock: a pool for each deadline would have no end', () => {
  for (const deadlineMs of [5, 1234, 120_000]) {
    expect(boundsOfFirst(1, deadlineMs).connectMs).toBe(3000);
    expect(boundsOfFirst(1, deadlineMs).firstContentAtMs).toBeLessThanOrEqual(deadlineMs);
  }
});

describe('the soft clock of an attempt', () => {
  it('runs at its setting, or at a third of the time left while another candidate is admissible', () => {
    expect(softAtMs(2, 120_000)).toBe(10_000);
    expect(softAtMs(2, 3000)).toBe(1000);
  });

  it('R20 is off where it would only run at the end of the attempt: a hedge would have no time', () => {
    expect(softAtMs(1, 10_000)).toBeNull();
    expect(softAtMs(1, 3000)).toBeNull();
    expect(softAtMs(1, 10_001)).toBe(10_000);
  });
});
