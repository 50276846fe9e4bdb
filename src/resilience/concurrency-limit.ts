/**
 * The requests in flight at one target, and the short queue before it. It protects the next in line: when
 * the first target opens, all its traffic would else arrive at the second in one instant.
 */
import type { CancelTimer, Clock } from '../base/clock.ts';
import { unreachable } from '../base/unreachable.ts';
import {
  type AdaptiveLimit,
  type AdaptiveLimitPolicy,
  afterOverload,
  afterSuccess,
  openAdaptiveLimit,
  underPolicy,
} from './adaptive-limit.ts';

export type ConcurrencyPolicy = AdaptiveLimitPolicy & {
  /** The most requests that wait for a slot; 0 = none waits. */
  readonly queueMax: number;
  /** How long one waits; 0 = none waits. */
  readonly queueWaitMs: number;
};

/** `overloaded`: a 429 or 529. `neutral`: an end that says nothing of the target's room. */
export type SlotOutcome = 'success' | 'overloaded' | 'neutral';

/** One request in flight. Whoever got it releases it; only the first release counts. */
export type Slot = { readonly release: (outcome: SlotOutcome) => void };

/** `full`: no slot and no room to wait. `timeout`: waited `queueWaitMs`. */
export type SlotRefusal = 'full' | 'timeout' | 'aborted';

type Waiter = { readonly admit: (slot: Slot) => void };

export class ConcurrencyLimit {
  readonly #clock: Clock;
  #policy: ConcurrencyPolicy;
  #adaptive: AdaptiveLimit;
  #inFlight = 0;
  /** In order of arrival; a set, so that one who leaves costs no search. */
  readonly #waiters = new Set<Waiter>();

  constructor(clock: Clock, policy: ConcurrencyPolicy) {
    this.#clock = clock;
    this.#policy = policy;
    this.#adaptive = openAdaptiveLimit(policy);
  }

  /** May exceed `limit` after a lowering, until enough slots are released. */
  get inFlight(): number {
    return this.#inFlight;
  }

  get limit(): number {
    return this.#adaptive.limit;
  }

  get queued(): number {
    return this.#waiters.size;
  }

  /** Whether `acquire` would answer `full` now. */
  isFull(): boolean {
    return !this.#hasSlot() && !this.#hasQueueRoom();
  }

  /** A slot at once, or null. */
  tryAcquire(): Slot | null {
    return this.#hasSlot() ? this.#take() : null;
  }

  /**
   * A slot now or within `queueWaitMs` (at most `withinMs`), first come first served. An abort leaves the
   * queue at once; one that comes after the slot was given changes nothing, so the caller looks at its
   * signal and releases.
   */
  acquire(signal: AbortSignal, withinMs = Number.POSITIVE_INFINITY): Promise<Slot | SlotRefusal> {
    if (signal.aborted) return Promise.resolve('aborted');
    const slot = this.tryAcquire();
    if (slot !== null) return Promise.resolve(slot);
    if (!this.#hasQueueRoom()) return Promise.resolve('full');
    return this.#wait(signal, Math.min(this.#policy.queueWaitMs, withinMs));
  }

  /** Takes effect at once. Those who wait keep their place and their time, also in a queue made shorter. */
  configure(policy: ConcurrencyPolicy): void {
    this.#adaptive = underPolicy(this.#adaptive, this.#policy, policy);
    this.#policy = policy;
    this.#admitWaiters();
  }

  /** Those who wait take a slot in the moment it is free: one that is free now overtakes nobody. */
  #hasSlot(): boolean {
    return this.#inFlight < this.#adaptive.limit;
  }

  #hasQueueRoom(): boolean {
    return this.#policy.queueWaitMs > 0 && this.#waiters.size < this.#policy.queueMax;
  }

  #wait(signal: AbortSignal, forMs: number): Promise<Slot | SlotRefusal> {
    return new Promise((resolve) => {
      const leave = (result: Slot | SlotRefusal): void => {
        this.#waiters.delete(waiter);
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const onAbort = (): void => leave('aborted');
      const waiter: Waiter = { admit: leave };
      const cancelTimer: CancelTimer = this.#clock.schedule(forMs, () => leave('timeout'));
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  #take(): Slot {
    this.#inFlight += 1;
    const startedAtMs = this.#clock.monotonicMs();
    const inFlightAtStart = this.#inFlight;
    let isReleased = false;
    return {
      release: (outcome) => {
        if (isReleased) return;
        isReleased = true;
        this.#learn(outcome, { startedAtMs, inFlightAtStart });
        this.#inFlight -= 1;
        this.#admitWaiters();
      },
    };
  }

  #learn(
    outcome: SlotOutcome,
    slot: { readonly startedAtMs: number; readonly inFlightAtStart: number },
  ): void {
    switch (outcome) {
      case 'success':
        this.#adaptive = afterSuccess(this.#adaptive, this.#policy, slot.startedAtMs);
        return;
      case 'overloaded':
        this.#adaptive = afterOverload(this.#adaptive, this.#policy, {
          startedAtMs: slot.startedAtMs,
          nowMs: this.#clock.monotonicMs(),
          inFlightMost: Math.max(slot.inFlightAtStart, this.#inFlight),
        });
        return;
      case 'neutral':
        return;
      default:
        unreachable(outcome);
    }
  }

  #admitWaiters(): void {
    for (const waiter of this.#waiters) {
      if (this.#inFlight >= this.#adaptive.limit) return;
      waiter.admit(this.#take());
    }
  }
}
