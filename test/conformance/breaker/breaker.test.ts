/** One suite for every implementation of the breaker's port. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/base/random.ts';
import type {
  Breaker,
  BreakerPolicy,
  BreakerState,
} from '../../../src/resilience/breaker/breaker.ts';
import { HandClock } from './hand-clock.ts';
import { admitted, highestDraw, shippedPolicy, subjects } from './subjects.ts';

describe.each(subjects)('breaker: $name', ({ create }) => {
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
  function attempt(mark: 'success' | 'failure' | 'none', nowMs = clock.nowMs): void {
    at(nowMs);
    admitted(breaker).settle(mark, policy);
  }
  function trip(): void {
    for (const nowMs of [0, 500, 1000]) attempt('failure', nowMs);
    expect(breaker.view().state).toBe('open');
  }
  function toHalfOpen(): void {
    trip();
    at(6_000);
    expect(breaker.view().state).toBe('half_open');
  }

  describe('the trip rule', () => {
    it('three failures inside one 10 ms burst do not trip', () => {
      const permits = [admitted(breaker), admitted(breaker), admitted(breaker)];
      permits.forEach((permit, index) => {
        at(index * 5);
        permit.settle('failure', policy);
      });
      expect(breaker.view().state).toBe('closed');
    });

    it('R72 three failures over a second do trip, two do not', () => {
      attempt('failure', 0);
      attempt('failure', 500);
      expect(breaker.view().state).toBe('closed');
      attempt('failure', 1000);
      expect(breaker.view()).toMatchObject({ state: 'open', isAdmitting: false });
    });

    it('three failures among a thousand successes do not trip', () => {
      for (let index = 0; index < 1_000; index += 1) {
        attempt('success', index * 10);
        if (index % 400 === 0) attempt('failure');
      }
      expect(breaker.view().state).toBe('closed');
    });

    it('trips at the third failure at 30.000 s, not at 30.001 s', () => {
      attempt('failure', 0);
      attempt('failure', 10_000);
      attempt('failure', 30_000);
      expect(breaker.view().state).toBe('open');

      const late = create({ clock, random: highestDraw });
      for (const nowMs of [40_000, 50_000, 70_001]) {
        at(nowMs);
        admitted(late).settle('failure', policy);
      }
      expect(late.view().state).toBe('closed');
      late.close();
    });

    it('trips at half of the marks, not below', () => {
      for (let index = 0; index < 4; index += 1) attempt('success', index);
      attempt('failure', 10);
      attempt('failure', 600);
      attempt('failure', 1200);
      expect(breaker.view().state).toBe('closed');
      attempt('failure', 1300);
      expect(breaker.view().state).toBe('open');
    });

    it('trips when the last 20 marks hold no success, whatever came before', () => {
      for (let index = 0; index < 200; index += 1) attempt('success', index);
      for (let index = 0; index < 19; index += 1) attempt('failure', 1_000 + index * 100);
      expect(breaker.view().state).toBe('closed');
      attempt('failure', 3_000);
      expect(breaker.view().state).toBe('open');
    });

    it('BR-13 with an idle window the last failures count, however far apart', () => {
      for (const nowMs of [45_000, 90_000, 135_000]) attempt('failure', nowMs);
      expect(breaker.view().state).toBe('closed');

      const patient = create({ clock, random: highestDraw });
      const idlePolicy = { ...policy, idleWindowMs: 600_000 };
      for (const nowMs of [145_000, 190_000, 235_000]) {
        at(nowMs);
        admitted(patient).settle('failure', idlePolicy);
      }
      expect(patient.view().state).toBe('open');
      patient.close();
    });

    it('BR-13 a failure counts when it is known, not when its attempt began', () => {
      const permits = [admitted(breaker), admitted(breaker), admitted(breaker)];
      permits.forEach((permit, index) => {
        at(45_000 + index * 1_000);
        permit.settle('failure', policy);
      });
      expect(breaker.view().state).toBe('open');
    });

    it('idle: a success among the last marks, or one too old, keeps it closed', () => {
      policy = { ...policy, idleWindowMs: 600_000 };
      attempt('failure', 0);
      attempt('failure', 100_000);
      attempt('success', 200_000);
      attempt('failure', 300_000);
      expect(breaker.view().state).toBe('closed');
      attempt('failure', 900_001);
      attempt('failure', 1_000_000);
      expect(breaker.view().state).toBe('closed');
      attempt('failure', 1_100_000);
      expect(breaker.view().state).toBe('open');
    });

    it('idle: a failure exactly as old as the idle window still counts', () => {
      policy = { ...policy, idleWindowMs: 600_000 };
      for (const nowMs of [0, 300_000, 600_000]) attempt('failure', nowMs);
      expect(breaker.view().state).toBe('open');
    });

    it('BR-05 attempts without a mark never trip it', () => {
      for (let index = 0; index < 60; index += 1) attempt('none', index * 1_000);
      expect(breaker.view()).toMatchObject({ state: 'closed', reason: null });
    });

    it('a policy that changes at run time judges from then on, over the same marks', () => {
      attempt('failure', 0);
      attempt('failure', 1_000);
      policy = { ...policy, failures: 5 };
      attempt('failure', 2_000);
      expect(breaker.view().state).toBe('closed');
      policy = { ...policy, failures: 4 };
      attempt('failure', 3_000);
      expect(breaker.view().state).toBe('open');
    });
  });

  describe('a stream that breaks after its success', () => {
    it('turns its success into a failure, at the time of the break', () => {
      const permits = [admitted(breaker), admitted(breaker), admitted(breaker)];
      for (const permit of permits) permit.settle('success', policy);
      permits.forEach((permit, index) => {
        at(40_000 + index * 700);
        permit.breakAfterSuccess(policy);
      });
      expect(breaker.view().state).toBe('open');
    });

    it('takes the success out of the count', () => {
      const permit = admitted(breaker);
      permit.settle('success', policy);
      attempt('success', 0);
      attempt('failure', 0);
      attempt('failure', 1_000);
      expect(breaker.view().state).toBe('closed');
      // Three failures of four marks; with the success left in they were three of five.
      policy = { ...policy, failureRate: 0.75 };
      permit.breakAfterSuccess(policy);
      expect(breaker.view().state).toBe('open');
    });

    it('counts once, and only after a success', () => {
      const failed = admitted(breaker);
      failed.settle('failure', policy);
      failed.breakAfterSuccess(policy);
      at(2_000);
      const broken = admitted(breaker);
      broken.settle('success', policy);
      broken.breakAfterSuccess(policy);
      broken.breakAfterSuccess(policy);
      expect(breaker.view().state).toBe('closed');
    });

    it('a probe whose stream breaks leaves a failure in the window of the closed breaker', () => {
      toHalfOpen();
      const probe = admitted(breaker);
      probe.settle('success', policy);
      expect(breaker.view().state).toBe('closed');
      probe.breakAfterSuccess(policy);
      expect(breaker.view().state).toBe('closed');
      attempt('failure', 6_500);
      attempt('failure', 7_000);
      expect(breaker.view().state).toBe('open');
    });
  });

  describe('open', () => {
    it('refuses until its period is over and says when that is', () => {
      trip();
      const view = breaker.view();
      expect(view.nextProbeAtMs).toBeCloseTo(6_000, 6);
      expect(breaker.admit()).toMatchObject({ isAdmitted: false });
      at(5_999);
      const refused = breaker.admit();
      expect(refused.isAdmitted ? null : refused.retryAtMs).toBeCloseTo(6_000, 6);
      at(6_000);
      expect(breaker.view()).toMatchObject({ state: 'half_open', isAdmitting: true });
    });

    it('stays open for 5 s, 10 s, 15 s, 15 s while probes fail', () => {
      trip();
      const periods: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const untilMs = breaker.view().nextProbeAtMs ?? 0;
        periods.push(Math.round(untilMs - clock.nowMs));
        at(untilMs);
        admitted(breaker).settle('failure', policy);
      }
      expect(periods).toEqual([5_000, 10_000, 15_000, 15_000, 15_000]);
    });

    it('shortens each period by up to a fifth, from the seed', () => {
      const lengths = [1, 2, 3, 4].map((seed) => {
        const seeded = create({ clock, random: seededRandom(seed) });
        for (const nowMs of [0, 600, 1_200]) {
          at(nowMs);
          admitted(seeded).settle('failure', policy);
        }
        const lengthMs = (seeded.view().nextProbeAtMs ?? 0) - 1_200;
        seeded.close();
        return lengthMs;
      });
      expect(new Set(lengths).size).toBe(4);
      for (const lengthMs of lengths) {
        expect(lengthMs).toBeGreaterThanOrEqual(4_000);
        expect(lengthMs).toBeLessThan(5_000);
      }
    });

    it('goes back to the base period only after a full healthy window', () => {
      toHalfOpen();
      admitted(breaker).settle('failure', policy);
      at(breaker.view().nextProbeAtMs ?? 0);
      admitted(breaker).settle('success', policy);
      const closedAtMs = clock.nowMs;
      for (const afterMs of [0, 500, 1_000]) attempt('failure', closedAtMs + afterMs);
      expect((breaker.view().nextProbeAtMs ?? 0) - clock.nowMs).toBeCloseTo(10_000, 6);

      at(breaker.view().nextProbeAtMs ?? 0);
      admitted(breaker).settle('success', policy);
      const healthyMs = clock.nowMs + 30_000;
      for (const afterMs of [0, 500, 1_000]) attempt('failure', healthyMs + afterMs);
      expect((breaker.view().nextProbeAtMs ?? 0) - clock.nowMs).toBeCloseTo(5_000, 6);
    });

    it('does not double where the policy says that the longest period is the base', () => {
      policy = { ...policy, openForMaxMs: 5_000 };
      trip();
      for (let round = 0; round < 4; round += 1) {
        const untilMs = breaker.view().nextProbeAtMs ?? 0;
        expect(untilMs - clock.nowMs).toBeCloseTo(5_000, 6);
        at(untilMs);
        admitted(breaker).settle('failure', policy);
      }
    });
  });

  describe('half-open', () => {
    it('BR-01 closed, open, half-open, open, half-open, closed, one call each time', () => {
      const seen: BreakerState[] = [breaker.view().state];
      breaker.onChange((view) => seen.push(view.state));
      trip();
      at(6_000);
      const first = admitted(breaker);
      expect(first.isProbe).toBe(true);
      expect(breaker.admit().isAdmitted).toBe(false);
      first.settle('failure', policy);
      at(16_000);
      const second = admitted(breaker);
      expect(breaker.admit().isAdmitted).toBe(false);
      second.settle('success', policy);
      expect(seen).toEqual(['closed', 'open', 'half_open', 'open', 'half_open', 'closed']);
    });

    it('BR-02 six concurrent failures, then one probe after the open time, then closed', () => {
      const permits = Array.from({ length: 6 }, () => admitted(breaker));
      permits.forEach((permit, index) => {
        at(index * 300);
        permit.settle('failure', policy);
      });
      expect(breaker.view().state).toBe('open');
      at(breaker.view().nextProbeAtMs ?? 0);
      const probe = admitted(breaker);
      expect(breaker.admit().isAdmitted).toBe(false);
      probe.settle('success', policy);
      expect(breaker.view()).toMatchObject({ state: 'closed', isAdmitting: true });
    });

    it('BR-03 of 100 concurrent calls one is the probe and 99 are refused at once', () => {
      toHalfOpen();
      const admissions = Array.from({ length: 100 }, () => breaker.admit());
      expect(admissions.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(1);
      expect(breaker.view()).toMatchObject({ state: 'half_open', isAdmitting: false });
    });

    it('BR-07 a probe whose client leaves frees the slot, and the next call probes', () => {
      toHalfOpen();
      admitted(breaker).settle('none', policy);
      expect(breaker.view()).toMatchObject({ state: 'half_open', isAdmitting: true });
      expect(admitted(breaker).isProbe).toBe(true);
    });

    it('BR-07 a probe that never reports keeps the slot for one open period at most', () => {
      toHalfOpen();
      const silent = admitted(breaker);
      at(10_999);
      const refused = breaker.admit();
      expect(refused.isAdmitted ? null : refused.retryAtMs).toBeCloseTo(11_000, 6);
      at(11_000);
      expect(breaker.view().isAdmitting).toBe(true);
      const second = admitted(breaker);
      silent.settle('none', policy);
      expect(breaker.admit().isAdmitted).toBe(false);
      second.settle('none', policy);
      expect(breaker.admit().isAdmitted).toBe(true);
    });

    it('a slow probe still closes it, although others followed', () => {
      toHalfOpen();
      const slow = admitted(breaker);
      at(11_000);
      const second = admitted(breaker);
      at(12_000);
      slow.settle('success', policy);
      expect(breaker.view().state).toBe('closed');
      second.settle('failure', policy);
      expect(breaker.view().state).toBe('closed');
    });

    it('a probe of an earlier half-open state frees no slot of a later one', () => {
      toHalfOpen();
      const forgotten = admitted(breaker);
      at(11_000);
      admitted(breaker).settle('failure', policy);
      at(breaker.view().nextProbeAtMs ?? 0);
      admitted(breaker);
      forgotten.settle('none', policy);
      expect(breaker.admit().isAdmitted).toBe(false);
    });

    it('a late result of an attempt begun while closed neither closes nor opens it', () => {
      const [good, bad] = [admitted(breaker), admitted(breaker)];
      toHalfOpen();
      good.settle('success', policy);
      expect(breaker.view()).toMatchObject({ state: 'half_open', isAdmitting: true });
      bad.settle('failure', policy);
      expect(breaker.view()).toMatchObject({ state: 'half_open', isAdmitting: true });
      expect(admitted(breaker).isProbe).toBe(true);
    });

    it('a late failure enters the window, where the next failure of a present attempt finds it', () => {
      const late = [admitted(breaker), admitted(breaker)];
      toHalfOpen();
      admitted(breaker).settle('success', policy);
      at(7_000);
      for (const permit of late) permit.settle('failure', policy);
      expect(breaker.view().state).toBe('closed');
      attempt('failure', 8_000);
      expect(breaker.view().state).toBe('open');
    });

    it('once closed it starts afresh: the failures that opened it trip nothing again', () => {
      toHalfOpen();
      admitted(breaker).settle('success', policy);
      attempt('failure', 6_100);
      attempt('failure', 7_200);
      expect(breaker.view().state).toBe('closed');
    });
  });

  describe('the port', () => {
    it('a permit settles once', () => {
      const permit = admitted(breaker);
      permit.settle('failure', policy);
      at(600);
      permit.settle('failure', policy);
      at(1_200);
      permit.settle('failure', policy);
      expect(breaker.view().state).toBe('closed');
    });

    it('looking changes nothing: no state, no slot, no message', () => {
      trip();
      let changes = 0;
      breaker.onChange(() => {
        changes += 1;
      });
      at(6_000);
      for (let look = 0; look < 5; look += 1) breaker.view();
      expect(changes).toBe(0);
      expect(admitted(breaker).isProbe).toBe(true);
      expect(changes).toBe(1);
    });

    it('a listener that left is told nothing, also when it was added twice', () => {
      let told = 0;
      const listener = (): void => {
        told += 1;
      };
      const leave = breaker.onChange(listener);
      breaker.onChange(listener);
      leave();
      leave();
      trip();
      expect(told).toBe(1);
    });

    it('says in words why it is not closed', () => {
      trip();
      expect(breaker.view().reason).toContain('30 s');
      at(6_000);
      admitted(breaker).settle('failure', policy);
      expect(breaker.view().reason).toBe('the probe failed');
    });

    it('BR-08 decides the same when the wall clock jumps an hour either way', () => {
      const run = (jumpMs: readonly number[]): readonly unknown[] => {
        const jumpy = new HandClock();
        const subject = create({ clock: jumpy, random: seededRandom(7) });
        const seen: unknown[] = [];
        for (let step = 0; step < 60; step += 1) {
          jumpy.nowMs += 400;
          jumpy.wallOffsetMs += jumpMs[step % jumpMs.length] ?? 0;
          const admission = subject.admit();
          const mark = step % 7 < 4 ? 'failure' : 'success';
          if (admission.isAdmitted) admission.permit.settle(mark, policy);
          seen.push(admission.isAdmitted, subject.view());
        }
        subject.close();
        return seen;
      };
      expect(run([-3_600_000, 3_600_000, 0])).toEqual(run([0]));
    });

    it('permits that come back after it was closed down do no harm', () => {
      const permits = [admitted(breaker), admitted(breaker), admitted(breaker)];
      breaker.close();
      permits.forEach((permit, index) => {
        at(index * 1_000);
        permit.settle(index === 0 ? 'success' : 'failure', policy);
      });
      permits[0]?.breakAfterSuccess(policy);
    });
  });
});
