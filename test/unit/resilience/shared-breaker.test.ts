/** How the instances of a fleet share a breaker: what is told, what is taken over, and who probes. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Breaker } from '../../../src/resilience/breaker/breaker.ts';
import { createSharedBreaker } from '../../../src/resilience/breaker/shared-breaker.ts';
import { admitted, highestDraw, shippedPolicy } from '../../conformance/breaker/subjects.ts';
import { MemoryFleet, MemoryFleetStore } from '../../support/memory-fleet.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const policy = shippedPolicy;
const name = 'provider/model';

let clock: SimulatedClock;
let store: MemoryFleetStore;

beforeEach(() => {
  clock = new SimulatedClock();
  store = new MemoryFleetStore(clock);
});

type Instance = { readonly fleet: MemoryFleet; readonly breaker: Breaker };

function instance(label: string, delayMs = 0): Instance {
  const fleet = new MemoryFleet(store, clock, label);
  fleet.delayMs = delayMs;
  const breaker = createSharedBreaker({ name, clock, random: highestDraw, fleet });
  return { fleet, breaker };
}

function trio(delayMs = 0): readonly [Instance, Instance, Instance] {
  return [instance('a', delayMs), instance('b', delayMs), instance('c', delayMs)];
}

/** Three failures over a second, seen by one instance. */
async function trip({ breaker }: Instance): Promise<void> {
  const startMs = clock.monotonicMs();
  for (const afterMs of [0, 500, 1_000]) {
    await clock.runUntil(startMs + afterMs);
    admitted(breaker).settle('failure', policy);
  }
  expect(breaker.view().state).toBe('open');
}

function states(...instances: readonly Instance[]): readonly string[] {
  return instances.map(({ breaker }) => breaker.view().state);
}

describe('a change of state', () => {
  it('reaches the others, with its reason and for as long', async () => {
    const [a, b, c] = trio();
    await trip(a);
    expect(states(a, b, c)).toEqual(['open', 'open', 'open']);
    expect(b.breaker.view().reason).toBe(`${a.breaker.view().reason} (seen by another instance)`);
    expect(b.breaker.view().nextProbeAtMs).toBeCloseTo(a.breaker.view().nextProbeAtMs ?? 0, 6);
    expect(b.breaker.admit().isAdmitted).toBe(false);
  });

  it('is told to those who listen', async () => {
    const [a, b] = trio();
    const seen: string[] = [];
    b.breaker.onChange(({ state }) => seen.push(state));
    await trip(a);
    await clock.runUntil(6_000);
    admitted(a.breaker).settle('success', policy);
    expect(seen).toEqual(['open', 'half_open', 'closed']);
  });

  it('whose message was lost comes with the next look', async () => {
    const [a, b] = trio();
    b.fleet.isTold = false;
    await trip(a);
    expect(states(b)).toEqual(['closed']);
    b.fleet.look();
    expect(states(b)).toEqual(['open']);
  });

  it('reaches an instance that joins later', async () => {
    const a = instance('a');
    await trip(a);
    const late = instance('late');
    late.fleet.look();
    expect(states(late)).toEqual(['open']);
  });

  it('of an older generation changes nothing, however late it comes', async () => {
    const a = instance('a');
    const heard: Parameters<Parameters<MemoryFleet['join']>[1]>[0][] = [];
    const spy = new MemoryFleet(store, clock, 'spy');
    spy.join(name, (record) => heard.push(record));
    let repeat: ((record: (typeof heard)[0]) => void) | null = null;
    const late = new MemoryFleet(store, clock, 'b');
    const fleet = {
      join: (target: string, hear: (record: (typeof heard)[0]) => void) => {
        repeat = hear;
        return late.join(target, hear);
      },
    };
    const b = createSharedBreaker({ name, clock, random: highestDraw, fleet });
    await trip(a);
    await clock.runUntil(6_000);
    admitted(a.breaker).settle('success', policy);
    expect(b.view().state).toBe('closed');
    let changes = 0;
    b.onChange(() => {
      changes += 1;
    });
    for (const record of heard) (repeat as ((record: unknown) => void) | null)?.(record);
    expect(heard.map(({ generation }) => generation)).toEqual([1, 2]);
    expect([b.view().state, changes]).toEqual(['closed', 0]);
  });

  it('decided by two at the same time is the one that was written first, for both', async () => {
    const [a, b] = [instance('a', 20), instance('b', 30)];
    for (const nowMs of [0, 500, 1_000]) {
      await clock.runUntil(nowMs);
      for (const { breaker } of [a, b]) admitted(breaker).settle('failure', policy);
    }
    expect(states(a, b)).toEqual(['open', 'open']);
    await clock.runUntil(1_200);
    expect(a.breaker.view().reason).not.toContain('another instance');
    expect(b.breaker.view().reason).toContain('another instance');
    expect(store.read(name, 'a').generation).toBe(1);
  });

  it('that follows another before that one is written is written after it', async () => {
    const [a, b] = [instance('a', 3_000), instance('b')];
    await trip(a);
    await clock.runUntil(6_000);
    a.fleet.isReachable = false;
    const probe = admitted(a.breaker);
    a.fleet.isReachable = true;
    probe.settle('success', policy);
    expect(states(a, b)).toEqual(['closed', 'open']);
    await clock.runUntil(20_000);
    expect(states(a, b)).toEqual(['closed', 'closed']);
  });

  it('to closed answers the failures that the others remember', async () => {
    const [a, b] = trio();
    for (let nth = 0; nth < 2; nth += 1) admitted(b.breaker).settle('failure', policy);
    await trip(a);
    await clock.runUntil(6_000);
    admitted(a.breaker).settle('success', policy);
    await clock.runUntil(7_500);
    admitted(b.breaker).settle('failure', policy);
    expect(states(a, b)).toEqual(['closed', 'closed']);
  });

  it('leaves permits of the state before without effect', async () => {
    const [a, b] = trio();
    const [good, bad] = [admitted(b.breaker), admitted(b.breaker)];
    await trip(a);
    await clock.runUntil(6_000);
    good.settle('success', policy);
    bad.settle('failure', policy);
    expect(states(a, b)).toEqual(['half_open', 'half_open']);
  });

  it('carries the rung of the open period on, whoever probes', async () => {
    const [a, b, c] = trio();
    await trip(a);
    await clock.runUntil(6_000);
    admitted(b.breaker).settle('failure', policy);
    expect((c.breaker.view().nextProbeAtMs ?? 0) - clock.monotonicMs()).toBeCloseTo(10_000, 6);
    await clock.runUntil(16_001);
    admitted(c.breaker).settle('failure', policy);
    expect((a.breaker.view().nextProbeAtMs ?? 0) - clock.monotonicMs()).toBeCloseTo(15_000, 6);
  });
});

describe('the probe', () => {
  it('BR-03 is one for the whole fleet, at most', async () => {
    const [a, b, c] = trio();
    await trip(a);
    await clock.runUntil(6_000);
    const probe = admitted(c.breaker);
    expect([a, b, c].map(({ breaker }) => breaker.admit().isAdmitted)).toEqual([
      false,
      false,
      false,
    ]);
    expect(a.breaker.view()).toMatchObject({ state: 'half_open', isAdmitting: false });
    probe.settle('success', policy);
    expect(states(a, b, c)).toEqual(['closed', 'closed', 'closed']);
  });

  it('waits for no answer: who asks first passes by, and the next request is the probe', async () => {
    const [a, b] = trio(5);
    await trip(a);
    await clock.runUntil(6_100);
    let told = 0;
    b.breaker.onChange(({ isAdmitting }) => {
      if (isAdmitting) told += 1;
    });
    expect(b.breaker.view().isAdmitting).toBe(true);
    expect(b.breaker.admit()).toEqual({ isAdmitted: false, retryAtMs: null });
    expect(b.breaker.view().isAdmitting).toBe(false);
    expect(b.breaker.admit().isAdmitted).toBe(false);
    told = 0;
    await clock.runUntil(6_111);
    expect(told).toBe(1);
    expect(admitted(b.breaker).isProbe).toBe(true);
    expect(a.breaker.admit().isAdmitted).toBe(false);
    await clock.runUntil(6_200);
    const refused = a.breaker.admit();
    expect(refused.isAdmitted).toBe(false);
    expect(refused.isAdmitted ? 0 : (refused.retryAtMs ?? 0)).toBeGreaterThan(11_000);
  });

  it('BR-07 whose client leaves frees the right, for any instance', async () => {
    const [a, b] = trio();
    await trip(a);
    await clock.runUntil(6_000);
    const probe = admitted(a.breaker);
    expect(b.breaker.admit().isAdmitted).toBe(false);
    probe.settle('none', policy);
    expect(admitted(b.breaker).isProbe).toBe(true);
    expect(a.breaker.admit().isAdmitted).toBe(false);
  });

  it('BR-07 of an instance that is gone blocks the others for one open period at most', async () => {
    const [a, b] = trio();
    await trip(a);
    await clock.runUntil(6_000);
    admitted(a.breaker);
    a.fleet.isReachable = false;
    await clock.runUntil(10_999);
    expect(b.breaker.admit().isAdmitted).toBe(false);
    await clock.runUntil(11_000);
    expect(admitted(b.breaker).isProbe).toBe(true);
  });

  it('keeps the right from when it began, not from when the right was given', async () => {
    const [a, b] = trio(1);
    await trip(a);
    await clock.runUntil(6_100);
    a.breaker.admit();
    await clock.runUntil(10_000);
    expect(admitted(a.breaker).isProbe).toBe(true);
    await clock.runUntil(14_900);
    expect(b.breaker.admit().isAdmitted).toBe(false);
    await clock.runUntil(15_010);
    b.breaker.admit();
    await clock.runUntil(15_020);
    expect(admitted(b.breaker).isProbe).toBe(true);
  });

  it('of an instance that has no request for it passes on, and is kept longer each time', async () => {
    const [a, b] = trio(1);
    await trip(a);
    await clock.runUntil(6_100);
    const kept: number[] = [];
    for (const asker of [a, b, a, b]) {
      expect(asker.breaker.admit().isAdmitted).toBe(false);
      await clock.runUntil(clock.monotonicMs() + 10);
      const other = asker === a ? b : a;
      const startMs = clock.monotonicMs();
      other.breaker.admit();
      await clock.runUntil(clock.monotonicMs() + 10);
      const refused = other.breaker.admit();
      kept.push(
        Math.round(((refused.isAdmitted ? 0 : refused.retryAtMs) ?? 0) / 100 - startMs / 100) / 10,
      );
      await clock.runUntil(refused.isAdmitted ? 0 : (refused.retryAtMs ?? 0));
    }
    expect(kept).toEqual([5, 10, 20, 40]);
  });

  it('is never begun on a right that is about to end', async () => {
    const [a] = trio(1);
    await trip(a);
    await clock.runUntil(6_100);
    a.breaker.admit();
    await clock.runUntil(6_100 + 4_600);
    expect(a.breaker.admit().isAdmitted).toBe(false);
    await clock.runUntil(6_100 + 4_610);
    expect(admitted(a.breaker).isProbe).toBe(true);
  });

  it('is not begun on an answer to a state that is over', async () => {
    const [a, b] = [instance('a'), instance('b', 50)];
    await trip(a);
    await clock.runUntil(6_200);
    expect(b.breaker.admit().isAdmitted).toBe(false);
    await clock.runUntil(6_260);
    a.fleet.isReachable = false;
    admitted(a.breaker).settle('failure', policy);
    a.fleet.isReachable = true;
    a.fleet.look();
    await clock.runUntil(6_400);
    expect(states(a, b)).toEqual(['open', 'open']);
    expect(b.breaker.admit().isAdmitted).toBe(false);
    expect(store.read(name, 'other').probeElsewhereMs).toBeNull();
  });
});

describe('an instance that cannot reach the store', () => {
  it('decides alone: it trips, probes and closes', async () => {
    const [a, b] = trio();
    a.fleet.isReachable = false;
    await trip(a);
    expect(states(a, b)).toEqual(['open', 'closed']);
    await clock.runUntil(6_000);
    admitted(a.breaker).settle('success', policy);
    expect(states(a, b)).toEqual(['closed', 'closed']);
  });

  it('probes although another instance had the right', async () => {
    const [a, b] = trio();
    await trip(a);
    await clock.runUntil(6_000);
    admitted(b.breaker);
    expect(a.breaker.admit().isAdmitted).toBe(false);
    a.fleet.isReachable = false;
    expect(a.breaker.view().isAdmitting).toBe(true);
    expect(admitted(a.breaker).isProbe).toBe(true);
  });

  it('probes when the answer does not come', async () => {
    const [a] = trio(200);
    await trip(a);
    await clock.runUntil(6_500);
    let told = 0;
    expect(a.breaker.admit().isAdmitted).toBe(false);
    a.breaker.onChange(({ isAdmitting }) => {
      if (isAdmitting) told += 1;
    });
    a.fleet.isReachable = false;
    await clock.runUntil(7_000);
    expect(told).toBe(1);
    a.fleet.isReachable = true;
    expect(admitted(a.breaker).isProbe).toBe(true);
  });

  it('tells on its return what it decided, where nobody decided since', async () => {
    const [a, b] = trio();
    a.fleet.isReachable = false;
    await trip(a);
    await clock.runUntil(3_000);
    a.fleet.isReachable = true;
    a.fleet.look();
    expect(states(a, b)).toEqual(['open', 'open']);
    expect(b.breaker.view().nextProbeAtMs).toBeCloseTo(6_000, 6);
  });

  it('takes over on its return what others decided since', async () => {
    const [a, b] = trio();
    await trip(a);
    a.fleet.isReachable = false;
    await clock.runUntil(6_000);
    admitted(a.breaker).settle('failure', policy);
    admitted(b.breaker).settle('success', policy);
    a.fleet.isReachable = true;
    a.fleet.look();
    expect(states(a, b)).toEqual(['closed', 'closed']);
  });

  it('does not tell on its return that it is well, where nothing is open', async () => {
    const [a, b] = trio();
    for (const { fleet } of [a, b]) fleet.isReachable = false;
    await trip(a);
    await clock.runUntil(6_000);
    admitted(a.breaker).settle('success', policy);
    await trip(b);
    for (const { fleet } of [a, b]) fleet.isReachable = true;
    for (const { fleet } of [a, b]) fleet.look();
    expect(states(a, b)).toEqual(['open', 'open']);
  });

  it('tells again of an open period that the store has lost, not of health', async () => {
    const [a, b] = trio();
    await trip(a);
    store.flush();
    const late = instance('late');
    late.fleet.look();
    expect(states(late)).toEqual(['closed']);
    b.fleet.look();
    expect(states(a, b, late)).toEqual(['open', 'open', 'open']);
    await clock.runUntil(6_000);
    admitted(late.breaker).settle('success', policy);
    store.flush();
    for (const { fleet } of [a, b, late]) fleet.look();
    expect(store.read(name, 'a').generation).toBe(0);
  });
});

describe('closing', () => {
  it('gives the right back and leaves the fleet', async () => {
    const [a, b] = trio();
    await trip(a);
    await clock.runUntil(6_000);
    const probe = admitted(a.breaker);
    a.breaker.close();
    expect(a.fleet.places).toBe(0);
    expect(admitted(b.breaker).isProbe).toBe(true);
    probe.settle('failure', policy);
    expect(states(b)).toEqual(['half_open']);
  });

  it('ignores what comes later', async () => {
    const [a, b] = trio(50);
    await trip(a);
    await clock.runUntil(6_200);
    a.breaker.admit();
    a.breaker.close();
    await clock.runUntil(6_400);
    b.breaker.admit();
    await clock.runUntil(6_600);
    expect(admitted(b.breaker).isProbe).toBe(true);
    await clock.runUntil(7_000);
    expect(clock.pending).toBe(0);
  });
});
