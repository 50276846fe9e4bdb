/** The breaker's port. One per provider + model; the trip rule is in 4-resilience, Breaker. */

export type BreakerPolicy = {
  readonly failures: number;
  readonly windowMs: number;
  readonly failureRate: number;
  readonly minSpanMs: number;
  readonly idleWindowMs: number;
  readonly openForMs: number;
  readonly openForMaxMs: number;
  /** The least time for which a probe keeps its slot; absent = the open period. */
  readonly probeLeaseMs?: number;
};

export type BreakerState = 'closed' | 'open' | 'half_open';

export type BreakerView = {
  readonly state: BreakerState;
  /** Why it is not closed, in words; null when closed. */
  readonly reason: string | null;
  /** When the next probe is let through (monotonic ms); null unless open. */
  readonly nextProbeAtMs: number | null;
  /** Whether `admit()` would let a request through now; asking changes nothing. */
  readonly isAdmitting: boolean;
};

/** Leave to make one attempt. Each method is idempotent; a permit of an older state changes no state. */
export type Permit = {
  readonly isProbe: boolean;
  /** Success at the first content, failure, or none (the attempt proves nothing: a probe slot is freed). */
  readonly settle: (mark: 'success' | 'failure' | 'none', policy: BreakerPolicy) => void;
  /** The stream broke after its success was marked: the success becomes a failure, now. */
  readonly breakAfterSuccess: (policy: BreakerPolicy) => void;
};

export type Admission =
  | { readonly isAdmitted: true; readonly permit: Permit }
  | { readonly isAdmitted: false; readonly retryAtMs: number | null };

export type Breaker = {
  /** Closed: a permit. Half-open: one permit at a time. Open: none. Asks no time of its own beyond the clock. */
  readonly admit: () => Admission;
  readonly view: () => BreakerView;
  /** Called after each change of state, and when a probe can be let through; returns the way to stop listening. */
  readonly onChange: (listener: (view: BreakerView) => void) => () => void;
  /** Frees timers; the breaker is not used afterwards. */
  readonly close: () => void;
};
