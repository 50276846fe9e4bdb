import { describe, expect, it } from 'vitest';
import { admitParked, afterProbe, type Parking, park } from '../../../src/resilience/parking.ts';

const recheckMs = 600_000;

function refusedProbes(kind: 'fixed' | 'growing', rounds: number): readonly number[] {
  const lengths: number[] = [];
  let parking: Parking | null = null;
  let nowMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    parking = park(parking, { kind, nowMs, recheckMs });
    lengths.push(parking.lengthMs);
    nowMs += parking.lengthMs;
    const admission = admitParked(parking, nowMs);
    if (admission.kind !== 'probe') throw new Error(admission.kind);
    parking = admission.next;
  }
  return lengths;
}

describe('parking', () => {
  it('R13 a refused key is looked at again after 1 m, doubling to 10 m', () => {
    expect(refusedProbes('growing', 6)).toEqual([
      60_000, 120_000, 240_000, 480_000, 600_000, 600_000,
    ]);
  });

  it('others are looked at every recheck', () => {
    expect(refusedProbes('fixed', 3)).toEqual([600_000, 600_000, 600_000]);
  });

  it('rests until then, lets one request probe, keeps the others away', () => {
    const parking = park(null, { kind: 'fixed', nowMs: 0, recheckMs });
    expect(admitParked(null, 0)).toEqual({ kind: 'free' });
    expect(admitParked(parking, 599_999)).toEqual({ kind: 'resting', untilMs: 600_000 });
    const admission = admitParked(parking, 600_000);
    if (admission.kind !== 'probe') throw new Error(admission.kind);
    expect(admitParked(admission.next, 600_001).kind).toBe('resting');
    expect(afterProbe(admission.next, { probe: 1, outcome: 'success', nowMs: 600_100 })).toBeNull();
  });

  it('a refusal of an attempt from before changes nothing', () => {
    const parking = park(null, { kind: 'growing', nowMs: 0, recheckMs });
    expect(park(parking, { kind: 'growing', nowMs: 5_000, recheckMs })).toBe(parking);
  });

  it('a probe that proves nothing, or never reports, makes room for the next', () => {
    const parked = park(null, { kind: 'growing', nowMs: 0, recheckMs });
    const first = admitParked(parked, 60_000);
    if (first.kind !== 'probe') throw new Error(first.kind);
    const freed = afterProbe(first.next, { probe: first.probe, outcome: 'none', nowMs: 60_500 });
    expect(admitParked(freed, 60_500)).toMatchObject({ kind: 'probe', probe: 2 });

    const second = admitParked(first.next, 120_000);
    if (second.kind !== 'probe') throw new Error(second.kind);
    expect(second.probe).toBe(2);
    const late = afterProbe(second.next, { probe: 1, outcome: 'none', nowMs: 120_100 });
    expect(admitParked(late, 120_100).kind).toBe('resting');
    expect(afterProbe(second.next, { probe: 1, outcome: 'success', nowMs: 120_100 })).toBeNull();
  });

  it('a probe reporting on what is no longer probed changes nothing', () => {
    const parked = park(null, { kind: 'fixed', nowMs: 0, recheckMs });
    expect(afterProbe(parked, { probe: 1, outcome: 'success', nowMs: 1 })).toBe(parked);
    expect(afterProbe(null, { probe: 1, outcome: 'none', nowMs: 1 })).toBeNull();
  });
});
