import { describe, expect, it } from 'vitest';
import { RecentOutcomes } from '../../../src/resilience/recent-outcomes.ts';

const mine = { fingerprint: 'mine', bytes: 100 };
const yours = { fingerprint: 'yours', bytes: 100 };

function withOutcomes(outcomes: string): RecentOutcomes {
  const recent = new RecentOutcomes();
  [...outcomes].forEach((outcome, index) => {
    const isSuccess = outcome === '+';
    recent.record({
      isSuccess,
      fingerprint: isSuccess ? null : `other ${index}`,
      bytes: 1,
      atMs: 0,
    });
  });
  return recent;
}

describe('recent outcomes', () => {
  it.each([
    ['++++++++++++++++++--', true],
    ['+++++++++++++++++---', false],
    ['---++++++++++++++++++++', true],
    ['-++++++++++++++++++--', true],
    ['++++++++++', true],
    ['+++++++++-', true],
    ['+++++++++', false],
    ['++++++++--', false],
    ['', false],
  ])('%s: healthy %s', (outcomes, isHealthy) => {
    expect(withOutcomes(outcomes).areOthersHealthy(mine, 0)).toBe(isHealthy);
  });

  it('R14 an input is held against the others alone, however often it failed', () => {
    const recent = withOutcomes('+++++++++++++++++++-');
    for (let count = 0; count < 50; count += 1) {
      recent.record({ isSuccess: false, fingerprint: 'mine', bytes: 1, atMs: 0 });
    }
    expect(recent.areOthersHealthy(mine, 0)).toBe(true);
    expect(recent.areOthersHealthy(yours, 0)).toBe(true);
  });

  it('the last 20 others count also when the own input is among them', () => {
    const recent = withOutcomes('++++++++++++++++++--');
    recent.record({ isSuccess: false, fingerprint: 'mine', bytes: 1, atMs: 0 });
    expect(recent.areOthersHealthy(mine, 0)).toBe(true);
    expect(recent.areOthersHealthy(yours, 0)).toBe(false);
  });

  it('a request that failed first and succeeded then counts as a success', () => {
    const recent = withOutcomes('++++++++-');
    recent.record({ isSuccess: false, fingerprint: 'second try', bytes: 1, atMs: 0 });
    expect(recent.areOthersHealthy(mine, 0)).toBe(false);
    recent.record({ isSuccess: true, fingerprint: 'second try', bytes: 1, atMs: 0 });
    expect(recent.areOthersHealthy(mine, 0)).toBe(true);
  });

  it('R14 successes of a body as long as the own may be its own: they prove nothing of others', () => {
    const recent = withOutcomes('++++++++++');
    expect(recent.areOthersHealthy(mine, 0)).toBe(true);
    expect(recent.areOthersHealthy({ fingerprint: 'mine', bytes: 1 }, 0)).toBe(false);
  });

  it('forgets what is 10 minutes old: yesterday proves no health', () => {
    const recent = withOutcomes('++++++++++');
    expect(recent.areOthersHealthy(mine, 599_999)).toBe(true);
    expect(recent.areOthersHealthy(mine, 600_000)).toBe(false);
  });
});
