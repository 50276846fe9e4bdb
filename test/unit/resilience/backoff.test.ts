import { describe, expect, it } from 'vitest';
import type { Random } from '../../../src/base/random.ts';
import {
  type BackoffPolicy,
  backoffDelayMs,
  hintDelayMs,
  type Jitter,
} from '../../../src/resilience/backoff.ts';

const lowest: Random = { next: () => 0 };
const highest: Random = { next: () => 1 - Number.EPSILON };
const middle: Random = { next: () => 0.5 };
const base: BackoffPolicy = { jitter: 'none', baseMs: 500, multiplier: 2, capMs: 30_000 };

function delay(
  jitter: Jitter,
  attempt: number,
  random: Random,
  previousMs: number | null = null,
): number {
  return backoffDelayMs({ policy: { ...base, jitter }, attempt, previousMs, random });
}

describe('backoff', () => {
  it('R01 grows as base x multiplier^attempt, every part a setting', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7].map((attempt) => delay('none', attempt, lowest));
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    const policy: BackoffPolicy = { jitter: 'none', baseMs: 100, multiplier: 3, capMs: 1_000 };
    const tripled = [0, 1, 2, 3].map((attempt) =>
      backoffDelayMs({ policy, attempt, previousMs: null, random: lowest }),
    );
    expect(tripled).toEqual([100, 300, 900, 1_000]);
  });

  const ranges: readonly (readonly [Jitter, number, number | null, number, number])[] = [
    ['full', 0, null, 0, 500],
    ['full', 3, null, 0, 4_000],
    ['full', 9, null, 0, 30_000],
    ['decorrelated', 0, null, 500, 1_500],
    ['decorrelated', 1, 1_200, 500, 3_600],
    ['decorrelated', 2, 20_000, 500, 30_000],
    ['decorrelated', 2, 0, 500, 500],
    ['equal', 0, null, 500, 1_000],
    ['equal', 3, null, 500, 4_500],
    ['proportional', 0, null, 500, 750],
    ['proportional', 3, null, 4_000, 6_000],
    ['none', 3, null, 4_000, 4_000],
  ];
  it.each(ranges)(
    'R02 %s, attempt %i after %s ms: from %i to %i ms',
    (jitter, attempt, previousMs, leastMs, mostMs) => {
      expect(delay(jitter, attempt, lowest, previousMs)).toBe(leastMs);
      expect(delay(jitter, attempt, highest, previousMs)).toBeCloseTo(mostMs, 6);
      const middleMs = delay(jitter, attempt, middle, previousMs);
      expect(middleMs).toBeGreaterThanOrEqual(leastMs);
      expect(middleMs).toBeLessThanOrEqual(mostMs);
    },
  );

  it('R02 decorrelated and full spread over their whole range', () => {
    expect(delay('full', 3, middle)).toBeCloseTo(2_000, 6);
    expect(delay('decorrelated', 1, middle, 1_200)).toBeCloseTo(2_050, 6);
    expect(delay('equal', 3, middle)).toBeCloseTo(2_500, 6);
    expect(delay('proportional', 3, middle)).toBeCloseTo(5_000, 6);
  });

  it('R03 the cap holds for every form, also after jitter, for any attempt and any base', () => {
    for (const jitter of ['full', 'decorrelated', 'equal', 'proportional', 'none'] as const) {
      for (const attempt of [0, 5, 6, 7, 50, 5_000]) {
        for (const random of [lowest, middle, highest]) {
          const delayMs = delay(jitter, attempt, random, 29_999);
          expect(delayMs).toBeLessThanOrEqual(30_000);
          expect(delayMs).toBeGreaterThanOrEqual(jitter === 'full' ? 0 : 500);
        }
      }
      const policy = { ...base, jitter, baseMs: 60_000 };
      const most = backoffDelayMs({ policy, attempt: 0, previousMs: null, random: highest });
      expect(most).toBeLessThanOrEqual(30_000);
    }
  });
});

describe('hint delay', () => {
  it('R08 is the hint, plus up to 10 % of it, plus up to 250 ms', () => {
    expect(hintDelayMs({ waitMs: 2_000, random: lowest })).toBe(2_000);
    expect(hintDelayMs({ waitMs: 2_000, random: highest })).toBeCloseTo(2_450, 6);
    expect(hintDelayMs({ waitMs: 0, random: highest })).toBeCloseTo(250, 6);
  });
});
