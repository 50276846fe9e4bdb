import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptClocks } from '../../src/resilience/attempt-clocks.ts';

const clockMs = fc.integer({ min: 0, max: 600_000 });
const input = fc.record({
  settings: fc.record({
    connectMs: clockMs,
    headersMs: clockMs,
    firstContentSoftMs: clockMs,
    firstContentMs: clockMs,
    idleMs: clockMs,
  }),
  isStream: fc.boolean(),
  isThinking: fc.boolean(),
  remainingMs: fc.integer({ min: 0, max: 600_000 }),
  isOtherAdmissible: fc.boolean(),
  isHedged: fc.boolean(),
  ownP99Ms: fc.option(clockMs),
});

describe('attempt clocks, for any setting', () => {
  it('R20 no clock that can end the attempt outlasts the deadline', () => {
    fc.assert(
      fc.property(input, (given) => {
        const clocks = attemptClocks(given);
        const bounded = [
          clocks.headersMs,
          clocks.firstContentSoftMs,
          clocks.firstContentMs,
          clocks.wholeMs,
          clocks.ownLimitMs,
        ];
        for (const limitMs of bounded) {
          if (limitMs !== null) expect(limitMs).toBeLessThanOrEqual(given.remainingMs);
          if (limitMs !== null) expect(limitMs).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  it('R20 while another candidate is left, at least half of the time is left to it', () => {
    fc.assert(
      fc.property(input, (given) => {
        const clocks = attemptClocks({ ...given, isOtherAdmissible: true, isHedged: false });
        const cutMs = Math.min(clocks.firstContentMs ?? clocks.wholeMs, clocks.wholeMs);
        expect(cutMs).toBeLessThanOrEqual(given.remainingMs / 2);
        expect(clocks.ownLimitMs).toBeGreaterThanOrEqual(cutMs);
        if (clocks.firstContentSoftMs !== null) {
          expect(clocks.firstContentSoftMs).toBeLessThanOrEqual(given.remainingMs / 3);
        }
      }),
    );
  });
});
