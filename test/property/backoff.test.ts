import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { backoffDelayMs, hintDelayMs, type Jitter } from '../../src/resilience/backoff.ts';

const jitter = fc.constantFrom<Jitter>('full', 'decorrelated', 'equal', 'proportional', 'none');
const policy = fc.record({
  jitter,
  baseMs: fc.integer({ min: 1, max: 5_000 }),
  multiplier: fc.double({ min: 1, max: 10, noNaN: true }),
  capMs: fc.integer({ min: 5_000, max: 120_000 }),
});
const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 });

function delaysOf(
  input: { readonly policy: Parameters<typeof backoffDelayMs>[0]['policy']; readonly seed: number },
  count: number,
): readonly number[] {
  const random = seededRandom(input.seed);
  const delays: number[] = [];
  for (let attempt = 0; attempt < count; attempt += 1) {
    const previousMs = delays.at(-1) ?? null;
    delays.push(backoffDelayMs({ policy: input.policy, attempt, previousMs, random }));
  }
  return delays;
}

describe('backoff, for any policy and seed', () => {
  it('R03 every delay lies in [base, cap], for full jitter in [0, cap]', () => {
    fc.assert(
      fc.property(fc.record({ policy, seed }), (input) => {
        for (const delayMs of delaysOf(input, 30)) {
          expect(delayMs).toBeGreaterThanOrEqual(
            input.policy.jitter === 'full' ? 0 : input.policy.baseMs,
          );
          expect(delayMs).toBeLessThanOrEqual(input.policy.capMs);
        }
      }),
    );
  });

  it('R03 finite and in range for any draw, on any of 10,000 attempts, whatever the base', () => {
    const anyBase = fc.record({ policy, baseMs: fc.integer({ min: 0, max: 2 ** 31 - 1 }) });
    const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const attempt = fc.integer({ min: 0, max: 10_000 });
    const previousMs = fc.option(fc.integer({ min: 0, max: 120_000 }));
    fc.assert(
      fc.property(anyBase, attempt, previousMs, draw, (given, nth, before, value) => {
        const used = { ...given.policy, baseMs: given.baseMs };
        const random = { next: () => value };
        const delayMs = backoffDelayMs({ policy: used, attempt: nth, previousMs: before, random });
        expect(Number.isFinite(delayMs)).toBe(true);
        const leastMs = used.jitter === 'full' ? 0 : Math.min(used.baseMs, used.capMs);
        expect(delayMs).toBeGreaterThanOrEqual(leastMs);
        expect(delayMs).toBeLessThanOrEqual(used.capMs);
      }),
    );
  });

  it('R05 the same seed gives the same delays', () => {
    fc.assert(
      fc.property(fc.record({ policy, seed }), (input) => {
        const delays = delaysOf(input, 10);
        expect(delaysOf(input, 10)).toEqual(delays);
      }),
    );
  });

  it('R05 another seed gives other delays', () => {
    const full = { jitter: 'full', baseMs: 500, multiplier: 2, capMs: 30_000 } as const;
    const sequences = [1, 2, 3].map((start) => delaysOf({ policy: full, seed: start }, 5).join());
    expect(new Set(sequences).size).toBe(3);
  });

  it('R90 under a fake clock the sequence stays under the cap and ends before the deadline', () => {
    fc.assert(
      fc.property(
        fc.record({ policy, seed, lengthMs: fc.integer({ min: 1, max: 300_000 }) }),
        (input) => {
          const deadlineAtMs = 1_000 + input.lengthMs;
          let nowMs = 1_000;
          for (const delayMs of delaysOf(input, 50)) {
            if (nowMs + delayMs >= deadlineAtMs) break;
            expect(delayMs).toBeLessThanOrEqual(input.policy.capMs);
            nowMs += delayMs;
          }
          expect(nowMs).toBeLessThan(deadlineAtMs);
        },
      ),
    );
  });

  it('R08 no hint is shortened, and none stretched by more than 10 % and 250 ms', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 86_400_000, noNaN: true }), seed, (waitMs, start) => {
        const delayMs = hintDelayMs({ waitMs, random: seededRandom(start) });
        expect(delayMs).toBeGreaterThanOrEqual(waitMs);
        expect(delayMs).toBeLessThanOrEqual(waitMs * 1.1 + 250);
      }),
    );
  });

  it('R08 a hundred clients with one hint do not come back together', () => {
    const random = seededRandom(42);
    const delays = Array.from({ length: 100 }, () => hintDelayMs({ waitMs: 2_000, random }));
    const busiestTenthOfSecond = Math.max(
      ...delays.map(
        (delayMs) => delays.filter((other) => other >= delayMs && other < delayMs + 100).length,
      ),
    );
    // Between 2,000 and 2,450 ms: evenly spread it would be 22 in each 100 ms, together 100.
    expect(busiestTenthOfSecond).toBeLessThan(60);
    expect(
      new Set(delays.map((delayMs) => Math.floor((delayMs - 2_000) / 50))).size,
    ).toBeGreaterThan(7);
    const mean = delays.reduce((sum, delayMs) => sum + delayMs, 0) / delays.length;
    expect(mean).toBeGreaterThan(2_000 + 225 - 40);
    expect(mean).toBeLessThan(2_000 + 225 + 40);
  });
});
