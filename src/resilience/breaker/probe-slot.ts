/** The one place of a half-open breaker: held by a probe until it settles or its lease ends. */

export type ProbeSlot = {
  /** The number of the newest probe, from 1; 0 = none yet. */
  readonly newest: number;
  /** Monotonic ms; the slot is free from then on. */
  readonly heldUntilMs: number;
};

export const freeSlot: ProbeSlot = { newest: 0, heldUntilMs: Number.NEGATIVE_INFINITY };

export function isFree(slot: ProbeSlot, nowMs: number): boolean {
  return slot.heldUntilMs <= nowMs;
}

/** Gives the slot to a new probe. The lease ends a wait for a probe that never reports. */
export function take(slot: ProbeSlot, nowMs: number, leaseMs: number): ProbeSlot {
  return { newest: slot.newest + 1, heldUntilMs: nowMs + leaseMs };
}

/** A probe proved nothing: the next request becomes the probe. One that lost its lease frees nothing. */
export function release(slot: ProbeSlot, probe: number | null): ProbeSlot {
  return probe === slot.newest ? { ...slot, heldUntilMs: Number.NEGATIVE_INFINITY } : slot;
}
