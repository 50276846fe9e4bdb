import { describe, expect, it } from 'vitest';
import {
  type AdaptiveLimit,
  afterOverload,
  afterSuccess,
  openAdaptiveLimit,
  underPolicy,
} from '../../../src/resilience/adaptive-limit.ts';

const policy = { minConcurrent: 4, maxConcurrent: 1_024 };

function refused(state: AdaptiveLimit, startedAtMs: number, nowMs: number, inFlightMost: number) {
  return afterOverload(state, policy, { startedAtMs, nowMs, inFlightMost });
}

function at(limit: number): AdaptiveLimit {
  return { limit, successes: 0, loweredAtMs: null };
}

function successesUntilRaised(limit: number): number {
  let state = at(limit);
  for (let count = 1; count <= 1_000; count += 1) {
    state = afterSuccess(state, policy, 0);
    if (state.limit > limit) return count;
  }
  return Number.POSITIVE_INFINITY;
}

describe('adaptive limit', () => {
  it('starts at the ceiling', () => {
    expect(openAdaptiveLimit(policy).limit).toBe(1_024);
  });

  it('a refusal lowers it at once to 0.7 of what was in flight, not of an unused ceiling', () => {
    expect(refused(openAdaptiveLimit(policy), 0, 10, 100).limit).toBe(70);
    expect(refused(at(50), 0, 10, 100).limit).toBe(35);
  });

  it('one burst of refusals lowers it once, however fast the rounds are', () => {
    let state = refused(openAdaptiveLimit(policy), 0, 10, 100);
    for (let nowMs = 11; nowMs < 1_010; nowMs += 20) state = refused(state, nowMs - 1, nowMs, 70);
    expect(state.limit).toBe(70);
    expect(refused(state, 20, 1_010, 70).limit).toBe(49);
  });

  it('a refusal of a request begun before the last lowering is no news, however late it comes', () => {
    const state = refused(openAdaptiveLimit(policy), 0, 10, 100);
    expect(refused(state, 10, 60_000, 100)).toBe(state);
    expect(refused(state, 11, 60_000, 70).limit).toBe(49);
  });

  it('never goes below min_concurrent', () => {
    let state = openAdaptiveLimit(policy);
    for (let round = 1; round < 40; round += 1) {
      state = refused(state, round * 2_000 - 1, round * 2_000, 1_024);
    }
    expect(state.limit).toBe(4);
    expect(refused(openAdaptiveLimit(policy), 0, 1, 1).limit).toBe(4);
  });

  it('one more for a round of successes, a round being at most 32', () => {
    expect([4, 10, 32, 33, 500].map(successesUntilRaised)).toEqual([4, 10, 32, 32, 32]);
    expect(successesUntilRaised(1_024)).toBe(Number.POSITIVE_INFINITY);
  });

  it('a success of a request begun before the last lowering raises nothing', () => {
    const lowered = refused(openAdaptiveLimit(policy), 0, 10, 6);
    expect(lowered.limit).toBe(4);
    let state = lowered;
    for (let count = 0; count < 100; count += 1) state = afterSuccess(state, policy, 10);
    expect(state).toBe(lowered);
    for (let count = 0; count < 4; count += 1) state = afterSuccess(state, policy, 11);
    expect(state.limit).toBe(5);
  });

  it('a lowering starts the count of successes anew', () => {
    const almost = { limit: 10, successes: 9, loweredAtMs: null };
    expect(refused(almost, 0, 10, 10)).toEqual({ limit: 7, successes: 0, loweredAtMs: 10 });
  });

  it('under a changed policy an unlowered limit follows the ceiling, a lowered one stays within', () => {
    const smaller = { minConcurrent: 2, maxConcurrent: 100 };
    expect(underPolicy(openAdaptiveLimit(policy), policy, smaller).limit).toBe(100);
    expect(underPolicy(at(100), smaller, policy).limit).toBe(1_024);
    expect(underPolicy(at(50), policy, { ...policy, maxConcurrent: 2_000 }).limit).toBe(50);
    expect(underPolicy(at(50), policy, { ...policy, minConcurrent: 60 }).limit).toBe(60);
  });
});
