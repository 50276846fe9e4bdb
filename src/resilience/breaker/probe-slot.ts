/** The one place of a half-open breaker: held by a probe until it settles or its lease ends. */

export type ProbeSlot = {
  /** The number of the newest probe, from 1; 0 = none yet. */
  readonly newest: number;
  /** When the newest probe began (monotonic ms). */
  readonly takenAtMs: number;
  /** Monotonic ms; the slot is free from then on. */
  readonly heldUntilMs: number;
};

/** A state that ended as it began would be told to nobody. */
const shortestMs = 1;
const never = Number.NEGATIVE_INFINITY;

export const freeSlot: ProbeSlot = { newest: 0, takenAtMs: never, heldUntilMs: never };

export function isFree(slot: ProbeSlot, nowMs: number): boolean {
  return slot.heldUntilMs <= nowMs;
}

/** Gives the slot to a new probe. The lease ends a wait for a probe that never reports. */
export function take(slot: ProbeSlot, nowMs: number, leaseMs: number): ProbeSlot {
  return { newest: slot.newest + 1, takenAtMs: nowMs, heldUntilMs: nowMs + leaseMs };
}

/**
 * When the period ends that a failed probe opens (monotonic ms). It began with the newest probe: however
 * long that one hung, a target that is back is looked at within one period.
 */
export function openedUntilMs(slot: ProbeSlot, nowMs: number, periodMs: number): number {
  return Math.max(nowMs + shortestMs, slot.takenAtMs + periodMs);
}

/** A probe proved nothing: the next request becomes the probe. One that lost its lease frees nothing. */
export function release(slot: ProbeSlot, probe: number | null): ProbeSlot {
  return probe === slot.newest ? { ...slot, takenAtMs: never, heldUntilMs: never } : slot;
}
