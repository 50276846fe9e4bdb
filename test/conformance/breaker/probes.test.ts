/** When a half-open breaker lets the next probe through, for every implementation of its port. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Breaker, BreakerPolicy } from '../../../src/resilience/breaker/breaker.ts';
import { HandClock } from './hand-clock.ts';
import { admitted, highestDraw, shippedPolicy, subjects } from './subjects.ts';

describe.each(subjects)('probes of a breaker: $name', ({ create }) => {
  let clock: HandClock;
  let breaker: Breaker;
  let policy: BreakerPolicy;

  beforeEach(() => {
    clock = new HandClock();
    breaker = create({ clock, random: highestDraw });
    policy = shippedPolicy;
  });
  afterEach(() => breaker.close());

  function at(nowMs: number): void {
    clock.nowMs = nowMs;
  }
  function toHalfOpen(): void {
    for (const nowMs of [0, 500, 1000]) {
      at(nowMs);
      admitted(breaker).settle('failure', policy);
    }
    at(6_000);
    expect(breaker.view().state).toBe('half_open');
  }

  it('R73 a probe that hung is followed by the next one a period after its begin, not after its end', () => {
    toHalfOpen();
    const hung = admitted(breaker);
    at(9_000);
    hung.settle('failure', policy);
    expect(breaker.view().state).toBe('open');
    expect(breaker.view().nextProbeAtMs).toBeCloseTo(16_000, 6);
    at(16_000);
    expect(admitted(breaker).isProbe).toBe(true);
  });

  it('R73 one that hung for longer than a period lets the next one through at its end', () => {
    toHalfOpen();
    const hung = admitted(breaker);
    at(10_999);
    policy = { ...policy, openForMs: 2_000, openForMaxMs: 2_000 };
    hung.settle('failure', policy);
    expect(breaker.view().state).toBe('open');
    at(11_000);
    expect(breaker.view()).toMatchObject({ state: 'half_open', isAdmitting: true });
    expect(admitted(breaker).isProbe).toBe(true);
    expect(breaker.admit().isAdmitted).toBe(false);
  });

  it('the newest of several probes says when the next one is due', () => {
    toHalfOpen();
    const first = admitted(breaker);
    at(11_000);
    admitted(breaker);
    at(12_000);
    first.settle('failure', policy);
    expect(breaker.view().nextProbeAtMs).toBeCloseTo(21_000, 6);
  });

  it('BR-07 a newest one that proved nothing leaves the next request to probe, whatever an older comes to', () => {
    toHalfOpen();
    const first = admitted(breaker);
    at(11_000);
    admitted(breaker).settle('none', policy);
    first.settle('failure', policy);
    at(11_001);
    expect(admitted(breaker).isProbe).toBe(true);
  });
});
