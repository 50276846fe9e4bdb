import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  depositFirstAsk,
  openRetryBudget,
  withdrawRetry,
} from '../../src/resilience/retry-budget.ts';

const policy = fc.record({
  ratio: fc.double({ min: 0, max: 1, noNaN: true }),
  minPerSecond: fc.integer({ min: 0, max: 10 }),
  max: fc.integer({ min: 0, max: 200 }),
});
const event = fc.record({
  kind: fc.constantFrom('ask' as const, 'retry' as const),
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 })),
});

type Traffic = { readonly kind: 'ask' | 'retry'; readonly afterMs: number };

describe('retry budget, for any traffic', () => {
  it('R92 upstream calls <= first asks x (1 + ratio) + max + floor x seconds, at every moment', () => {
    fc.assert(
      fc.property(policy, fc.array(event, { maxLength: 400 }), (given, events) => {
        let [budget, nowMs, asks, retries] = [openRetryBudget(given, 0), 0, 0, 0];
        for (const { kind, afterMs } of events) {
          nowMs += afterMs;
          if (kind === 'ask') {
            asks += 1;
            budget = depositFirstAsk(budget, given, nowMs);
          } else {
            const drawn = withdrawRetry(budget, given, nowMs);
            budget = drawn.budget;
            if (drawn.isAllowed) retries += 1;
          }
          const bound = asks * (1 + given.ratio) + given.max + (given.minPerSecond * nowMs) / 1_000;
          // Deposits are rounded to thousandths of a token.
          expect(asks + retries).toBeLessThanOrEqual(bound + asks * 0.0005 + 1e-9);
        }
      }),
    );
  });

  it('agrees with a plain balance, event by event', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5 }), fc.array(event, { maxLength: 300 }), check),
    );
  });
});

/** Two plain accounts in thousandths: what may be spent, and what first asks have paid of the floor. */
function check(minPerSecond: number, events: readonly Traffic[]): void {
  const given = { ratio: 0.2, minPerSecond, max: 20 };
  let [budget, nowMs, balance, prepaid] = [openRetryBudget(given, 0), 0, 10_000, 0];
  for (const { kind, afterMs } of events) {
    nowMs += afterMs;
    const due = afterMs * minPerSecond;
    balance = Math.min(20_000, balance + Math.max(0, due - prepaid));
    prepaid = Math.max(0, prepaid - due);
    if (kind === 'ask') {
      balance = Math.min(20_000, balance + 200);
      prepaid = Math.min(1_000 * minPerSecond, prepaid + 200);
      budget = depositFirstAsk(budget, given, nowMs);
      continue;
    }
    const drawn = withdrawRetry(budget, given, nowMs);
    expect(drawn.isAllowed).toBe(balance >= 1_000);
    if (drawn.isAllowed) balance -= 1_000;
    budget = drawn.budget;
  }
}
