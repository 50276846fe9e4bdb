/** What opossum alone would get wrong, and what it must not do behind our back. */
import CircuitBreaker from 'opossum';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemRandom } from '../../../src/base/random.ts';
import { createOpossumBreaker } from '../../../src/resilience/breaker/opossum-breaker.ts';
import { HandClock } from '../../conformance/breaker/hand-clock.ts';
import { admitted, highestDraw, shippedPolicy } from '../../conformance/breaker/subjects.ts';

const name = 'provider/model';

function openBreaker() {
  const clock = new HandClock();
  const breaker = createOpossumBreaker({ name, clock, random: highestDraw });
  for (const nowMs of [0, 500, 1_000]) {
    clock.nowMs = nowMs;
    admitted(breaker).settle('failure', shippedPolicy);
  }
  return { clock, breaker };
}

describe('opossum breaker', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('takes effect before settle returns, so that no admission falls between', () => {
    const { clock, breaker } = openBreaker();
    expect(breaker.view().state).toBe('open');
    clock.nowMs = 6_000;
    admitted(breaker).settle('success', shippedPolicy);
    expect(breaker.view().state).toBe('closed');
    breaker.close();
  });

  it('does not follow wall time: its timer neither wakes a breaker nor is left behind', () => {
    vi.useFakeTimers();
    const { clock, breaker } = openBreaker();
    vi.advanceTimersByTime(3_600_000);
    expect(breaker.view().state).toBe('open');
    clock.nowMs = 6_000;
    expect(breaker.view().state).toBe('half_open');
    admitted(breaker).settle('failure', shippedPolicy);
    breaker.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a closed breaker has no timer at all', () => {
    vi.useFakeTimers();
    const breaker = createOpossumBreaker({ name, clock: new HandClock(), random: systemRandom });
    admitted(breaker).settle('success', shippedPolicy);
    expect(vi.getTimerCount()).toBe(0);
    breaker.close();
  });

  it('fires opossum once for a counted outcome of the present state, never on admission', () => {
    const fire = vi.spyOn(CircuitBreaker.prototype, 'fire');
    const { clock, breaker } = openBreaker();
    expect(fire).toHaveBeenCalledTimes(3);
    clock.nowMs = 6_000;
    const probe = admitted(breaker);
    expect(fire).toHaveBeenCalledTimes(3);
    probe.settle('none', shippedPolicy);
    expect(fire).toHaveBeenCalledTimes(3);
    admitted(breaker).settle('success', shippedPolicy);
    expect(fire).toHaveBeenCalledTimes(4);
    probe.settle('success', shippedPolicy);
    expect(fire).toHaveBeenCalledTimes(4);
    breaker.close();
  });

  it('a late success of an attempt begun while closed fires nothing while it is half-open', () => {
    const clock = new HandClock();
    const breaker = createOpossumBreaker({ name, clock, random: highestDraw });
    const late = admitted(breaker);
    for (const nowMs of [0, 500, 1_000]) {
      clock.nowMs = nowMs;
      admitted(breaker).settle('failure', shippedPolicy);
    }
    clock.nowMs = 6_000;
    admitted(breaker).settle('none', shippedPolicy);
    const fire = vi.spyOn(CircuitBreaker.prototype, 'fire');
    late.settle('success', shippedPolicy);
    expect(fire).not.toHaveBeenCalled();
    expect(breaker.view().state).toBe('half_open');
    breaker.close();
  });

  it('its own percentage trips nothing: a hundred failures in one instant leave it closed', () => {
    const breaker = createOpossumBreaker({ name, clock: new HandClock(), random: systemRandom });
    for (let index = 0; index < 100; index += 1) {
      admitted(breaker).settle('failure', shippedPolicy);
    }
    expect(breaker.view().state).toBe('closed');
    breaker.close();
  });

  it('keeps no latency of every call: its only bucket is emptied again and again', () => {
    const circuits: CircuitBreaker[] = [];
    const { fire } = CircuitBreaker.prototype;
    vi.spyOn(CircuitBreaker.prototype, 'fire').mockImplementation(function record(
      this: CircuitBreaker,
      ...outcome: unknown[]
    ) {
      circuits[0] = this;
      return fire.apply(this, outcome);
    });
    const breaker = createOpossumBreaker({ name, clock: new HandClock(), random: systemRandom });
    for (let index = 0; index < 5_000; index += 1) {
      admitted(breaker).settle('success', shippedPolicy);
    }
    const kept = circuits[0]?.status.window.map((bucket) => bucket.latencyTimes.length);
    expect(kept).toHaveLength(1);
    expect(kept?.[0]).toBeLessThanOrEqual(256);
    breaker.close();
  });

  it('no rejection is left unhandled', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => {
      unhandled.push(reason);
    };
    process.on('unhandledRejection', note);
    const { breaker } = openBreaker();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    breaker.close();
  });
});
