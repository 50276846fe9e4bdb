import { describe, expect, it } from 'vitest';
import {
  depositFirstAsk,
  openRetryBudget,
  type RetryBudget,
  type RetryBudgetPolicy,
  retryTokens,
  withdrawRetry,
} from '../../../src/resilience/retry-budget.ts';

const policy: RetryBudgetPolicy = { ratio: 0.2, minPerSecond: 1, max: 100 };
const still: RetryBudgetPolicy = { ...policy, minPerSecond: 0 };

function drain(
  budget: RetryBudget,
  under: RetryBudgetPolicy,
  nowMs: number,
): [number, RetryBudget] {
  let [count, left] = [0, budget];
  for (;;) {
    const drawn = withdrawRetry(left, under, nowMs);
    left = drawn.budget;
    if (!drawn.isAllowed) return [count, left];
    count += 1;
  }
}

describe('retry budget', () => {
  it('starts with ten retries, or with less where less can be saved', () => {
    expect(drain(openRetryBudget(still, 0), still, 0)[0]).toBe(10);
    const small = { ...still, max: 3 };
    expect(drain(openRetryBudget(small, 0), small, 0)[0]).toBe(3);
  });

  it('five first asks earn one retry, exactly', () => {
    let [, budget] = drain(openRetryBudget(still, 0), still, 0);
    for (let ask = 0; ask < 5; ask += 1) {
      expect(withdrawRetry(budget, still, 0).isAllowed).toBe(false);
      budget = depositFirstAsk(budget, still, 0);
    }
    expect(drain(budget, still, 0)[0]).toBe(1);
  });

  it('time alone earns min_per_second, however often it is asked', () => {
    let [, budget] = drain(openRetryBudget(policy, 0), policy, 0);
    let allowed = 0;
    for (let nowMs = 0; nowMs <= 10_000; nowMs += 0.25) {
      const drawn = withdrawRetry(budget, policy, nowMs);
      budget = drawn.budget;
      if (drawn.isAllowed) allowed += 1;
    }
    expect(allowed).toBe(10);
  });

  it('the floor is a floor: time adds nothing while first asks deposit more than it would', () => {
    let [, budget] = drain(openRetryBudget(policy, 0), policy, 0);
    let allowed = 0;
    for (let ask = 1; ask <= 1_000; ask += 1) {
      budget = depositFirstAsk(budget, policy, ask * 10);
      const [count, left] = drain(budget, policy, ask * 10);
      [allowed, budget] = [allowed + count, left];
    }
    expect(allowed).toBe(200);
  });

  it('a trickle of first asks is filled up to the floor', () => {
    let [, budget] = drain(openRetryBudget(policy, 0), policy, 0);
    for (let second = 1; second <= 10; second += 1) {
      budget = depositFirstAsk(budget, policy, second * 1_000);
    }
    expect(retryTokens(budget, policy, 11_000)).toBeCloseTo(11);
  });

  it('a burst pays for one second of the floor, and no more', () => {
    let [, budget] = drain(openRetryBudget(policy, 0), policy, 0);
    for (let ask = 0; ask < 100; ask += 1) budget = depositFirstAsk(budget, policy, 0);
    expect(retryTokens(budget, policy, 1_000)).toBeCloseTo(20);
    expect(retryTokens(budget, policy, 4_000)).toBeCloseTo(23);
  });

  it('saves up to max and no more', () => {
    let budget = openRetryBudget(policy, 0);
    for (let ask = 0; ask < 10_000; ask += 1) budget = depositFirstAsk(budget, policy, 0);
    expect(retryTokens(budget, policy, 0)).toBe(100);
    expect(retryTokens(budget, policy, 3_600_000)).toBe(100);
  });

  it('BR-08 a clock that seems to step back earns nothing', () => {
    const [, budget] = drain(openRetryBudget(policy, 5_000), policy, 5_000);
    expect(withdrawRetry(budget, policy, 1_000).isAllowed).toBe(false);
    const asked = depositFirstAsk(budget, policy, 1_000);
    expect(retryTokens(asked, policy, 5_000)).toBeCloseTo(0.2);
  });
});
