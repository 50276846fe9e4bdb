/** A key or target that was refused for good: set aside, then tried with one real request at a time. */

/** Instants are monotonic ms. `lengthMs` is the length of the present period. */
export type Parking =
  | { readonly kind: 'parked'; readonly untilMs: number; readonly lengthMs: number }
  | {
      readonly kind: 'probing';
      readonly probe: number;
      readonly leaseUntilMs: number;
      readonly lengthMs: number;
    };

/** `growing`: a refused credential, looked at again soon and then ever more rarely. */
export type ParkingKind = 'fixed' | 'growing';

const growingMsFirst = 60_000;
const growingMsMax = 10 * 60_000;
/** A probe that never reports does not keep the slot. */
const probeLeaseMs = 60_000;

/** The parking after a refusal; a refusal while parked by an attempt begun earlier changes nothing. */
export function park(
  previous: Parking | null,
  refusal: { readonly kind: ParkingKind; readonly nowMs: number; readonly recheckMs: number },
): Parking {
  if (previous?.kind === 'parked' && previous.untilMs > refusal.nowMs) return previous;
  const lengthMs =
    refusal.kind === 'fixed' ? refusal.recheckMs : growingLengthMs(previous?.lengthMs ?? null);
  return { kind: 'parked', untilMs: refusal.nowMs + lengthMs, lengthMs };
}

function growingLengthMs(previousMs: number | null): number {
  return previousMs === null ? growingMsFirst : Math.min(previousMs * 2, growingMsMax);
}

export type ParkingAdmission =
  | { readonly kind: 'free' }
  /** This request is the probe; `probe` names it to `afterProbe`. */
  | { readonly kind: 'probe'; readonly probe: number; readonly next: Parking }
  | { readonly kind: 'resting'; readonly untilMs: number };

/** Whether a request may use what is parked now. */
export function admitParked(parking: Parking | null, nowMs: number): ParkingAdmission {
  if (parking === null) return { kind: 'free' };
  const busyUntilMs = parking.kind === 'parked' ? parking.untilMs : parking.leaseUntilMs;
  if (busyUntilMs > nowMs) return { kind: 'resting', untilMs: busyUntilMs };
  const probe = parking.kind === 'parked' ? 1 : parking.probe + 1;
  const { lengthMs } = parking;
  const next: Parking = { kind: 'probing', probe, leaseUntilMs: nowMs + probeLeaseMs, lengthMs };
  return { kind: 'probe', probe, next };
}

/**
 * A probe that did not end in a refusal (that is `park`): `success` frees, `none` proves nothing, so
 * the next request probes. A probe that lost its lease frees all the same, and else changes nothing.
 */
export function afterProbe(
  parking: Parking | null,
  ended: { readonly probe: number; readonly outcome: 'success' | 'none'; readonly nowMs: number },
): Parking | null {
  if (parking === null || parking.kind !== 'probing') return parking;
  if (ended.outcome === 'success') return null;
  if (parking.probe !== ended.probe) return parking;
  return { ...parking, leaseUntilMs: ended.nowMs };
}
