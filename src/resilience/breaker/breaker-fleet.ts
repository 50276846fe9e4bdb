/**
 * What the breakers of a fleet tell each other through a store that they share. Every time is a duration:
 * the clocks of two machines are never compared.
 */

/** What one instance decided, for all. An open period that is over (`leftMs` 0) is half-open. */
export type FleetState =
  | {
      readonly kind: 'open';
      readonly leftMs: number;
      readonly level: number;
      readonly leaseMs: number;
      readonly reason: string;
    }
  | { readonly kind: 'closed'; readonly sinceMs: number; readonly level: number };

/** What the store holds of one target. */
export type FleetRecord = {
  /** Rises with each state that is written; 0 = there is none. */
  readonly generation: number;
  readonly state: FleetState | null;
  /** For how long another instance keeps the right to probe; null = nobody else has it. */
  readonly probeElsewhereMs: number | null;
};

/** The right to let one probe through, in the whole fleet. */
export type FleetClaim = {
  /** It lapses unused after so long. */
  readonly forMs: number;
  /** The probe is under way, and keeps the right for `leaseMs` from now. */
  readonly use: (leaseMs: number) => void;
  /** It will not be used, or the probe proved nothing: the next one may have it. */
  readonly release: () => void;
};

export type ClaimAnswer =
  | { readonly kind: 'granted'; readonly claim: FleetClaim }
  | { readonly kind: 'elsewhere'; readonly forMs: number }
  /** A newer state than the one that was asked for. */
  | { readonly kind: 'moved'; readonly record: FleetRecord };

export type WriteAnswer =
  | { readonly kind: 'written'; readonly generation: number }
  | { readonly kind: 'moved'; readonly record: FleetRecord };

/**
 * One target's place in the store, as one instance sees it. No method waits or throws; an answer comes
 * later or at once, in the order of the questions, and is null when the store could not be asked in time.
 */
export type FleetPlace = {
  /** False: this instance is alone for now, and decides alone. */
  readonly isReachable: () => boolean;
  /** Takes the place of a state that is no newer than `generation`. */
  readonly write: (
    generation: number,
    state: FleetState,
    answered: (answer: WriteAnswer | null) => void,
  ) => void;
  /** Asks for the right to probe in the state of that `generation`. */
  readonly claim: (
    generation: number,
    leaseMs: number,
    answered: (answer: ClaimAnswer | null) => void,
  ) => void;
  readonly leave: () => void;
};

export type BreakerFleet = {
  /** From then on `hear` is called with what the store holds: after each change there, and again in between. */
  readonly join: (target: string, hear: (record: FleetRecord) => void) => FleetPlace;
};
