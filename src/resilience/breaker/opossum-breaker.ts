/**
 * The in-memory breaker: opossum holds closed, open and half-open; the trip rule, the probe slot and
 * the clock are ours (docs/decisions/2026-11-30-breaker.md).
 */
import { EventEmitter } from 'node:events';
import CircuitBreaker from 'opossum';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Admission, Breaker, BreakerPolicy, BreakerState, BreakerView } from './breaker.ts';
import {
  failedProbeReason,
  levelAfterFailedProbe,
  levelAfterTrip,
  openPeriodMs,
  probeLeaseMs,
  tripReason,
} from './open-period.ts';
import { issuePermit, Listeners, type Mark, type Ticket } from './permit.ts';
import { freeSlot, isFree, openedUntilMs, type ProbeSlot, release, take } from './probe-slot.ts';
import { TripWindow } from './trip-window.ts';

export function createOpossumBreaker(parts: {
  /** The target's id; opossum reports under it. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
}): Breaker {
  return new OpossumBreaker(parts);
}

type Outcome = 'success' | 'failure';
type Circuit = CircuitBreaker<[Outcome], void>;
/** The types leave out the state that a circuit can be built in. */
type CircuitOptions = CircuitBreaker.Options<[Outcome]> & {
  readonly state?: { readonly closed: boolean; readonly halfOpen: boolean };
};

const attemptFailed = new Error('the attempt failed');
/** The largest that a timer takes: opossum's own timer runs on wall time and must never come first. */
const neverMs = 2 ** 31 - 1;
/** opossum keeps the latency of every call until its bucket is rotated, which we do by count. */
const firesPerBucket = 256;

/** A settled promise acts a microtask later; this one at once, so that no admission falls between. */
function settledNow(): Promise<void> {
  const settled = {
    // biome-ignore lint/suspicious/noThenProperty: it stands for a promise that opossum calls `then` on
    then: (onFulfilled: () => void) => {
      onFulfilled();
      return settled;
    },
    catch: () => settled,
  };
  return settled as unknown as Promise<void>;
}

function replay(outcome: Outcome): Promise<void> {
  if (outcome === 'failure') throw attemptFailed;
  return settledNow();
}

/** Everything that opossum could decide by itself is off: percentage, timeout, cache, semaphore, timers. */
function buildCircuit(name: string, rotation: EventEmitter, startsHalfOpen: boolean): Circuit {
  const options: CircuitOptions = {
    name,
    timeout: false,
    cache: false,
    resetTimeout: neverMs,
    errorThresholdPercentage: Number.POSITIVE_INFINITY,
    capacity: Number.MAX_SAFE_INTEGER,
    rollingCountBuckets: 1,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    rotateBucketController: rotation,
    ...(startsHalfOpen ? { state: { closed: false, halfOpen: true } } : {}),
  };
  return new CircuitBreaker<[Outcome], void>(replay, options);
}

class OpossumBreaker implements Breaker {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #window = new TripWindow();
  readonly #listeners = new Listeners<BreakerView>();
  readonly #rotation = new EventEmitter();
  #circuit: Circuit;
  #isDone = false;
  #fires = 0;
  /** Raised on each change of state: a permit of another epoch changes no state. */
  #epoch = 0;
  #slot: ProbeSlot = freeSlot;
  #level = 0;
  #closedAtMs: number | null = null;
  /** Of the present or last open period. */
  #untilMs = 0;
  #leaseMs = 0;
  #reason: string | null = null;

  constructor(parts: { readonly name: string; readonly clock: Clock; readonly random: Random }) {
    this.#name = parts.name;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#circuit = buildCircuit(parts.name, this.#rotation, false);
  }

  readonly admit = (): Admission => {
    const nowMs = this.#catchUp();
    if (this.#circuit.opened) return { isAdmitted: false, retryAtMs: this.#untilMs };
    if (this.#circuit.halfOpen && !isFree(this.#slot, nowMs)) {
      return { isAdmitted: false, retryAtMs: this.#slot.heldUntilMs };
    }
    const ticket = { epoch: this.#epoch, probe: this.#takeSlot(nowMs) };
    const permit = issuePermit(ticket, { settled: this.#settled, broken: this.#broken });
    return { isAdmitted: true, permit };
  };

  readonly view = (): BreakerView => {
    const nowMs = this.#clock.monotonicMs();
    const isDue = this.#circuit.opened && nowMs >= this.#untilMs;
    const state = isDue ? 'half_open' : this.#state();
    return {
      state,
      reason: this.#circuit.closed ? null : this.#reason,
      nextProbeAtMs: state === 'open' ? this.#untilMs : null,
      isAdmitting:
        state === 'closed' || isDue || (state === 'half_open' && isFree(this.#slot, nowMs)),
    };
  };

  readonly onChange = (listener: (view: BreakerView) => void): (() => void) =>
    this.#listeners.add(listener);

  readonly close = (): void => {
    this.#isDone = true;
    this.#listeners.clear();
    this.#circuit.shutdown();
  };

  readonly #settled = (ticket: Ticket, mark: Mark, policy: BreakerPolicy): number | null => {
    if (this.#isDone) return null;
    const nowMs = this.#catchUp();
    const isPresent = ticket.epoch === this.#epoch;
    if (mark === 'none') {
      if (isPresent) this.#slot = release(this.#slot, ticket.probe);
      return null;
    }
    if (mark === 'failure') {
      this.#window.addFailure(nowMs, policy);
      if (isPresent) this.#onFailure(nowMs, policy);
      return null;
    }
    // The probe's success answers the failures that opened the breaker: it starts afresh.
    if (isPresent && this.#circuit.halfOpen) this.#window.clear();
    const successMark = this.#window.addSuccess(nowMs, policy);
    if (isPresent) this.#onSuccess(nowMs);
    return successMark;
  };

  readonly #broken = (ticket: Ticket, successMark: number, policy: BreakerPolicy): void => {
    if (this.#isDone) return;
    const nowMs = this.#catchUp();
    this.#window.breakSuccess(successMark, nowMs, policy);
    if (ticket.epoch === this.#epoch) this.#onFailure(nowMs, policy);
  };

  #onSuccess(nowMs: number): void {
    const isProbe = this.#circuit.halfOpen;
    if (isProbe) this.#closedAtMs = nowMs;
    this.#fire('success');
    if (isProbe) this.#changed();
  }

  #onFailure(nowMs: number, policy: BreakerPolicy): void {
    const isProbe = this.#circuit.halfOpen;
    const isTripped = !isProbe && this.#window.isTripped(nowMs, policy);
    if (isProbe || isTripped) {
      this.#level = isProbe
        ? levelAfterFailedProbe(this.#level, policy)
        : levelAfterTrip(this.#level, this.#closedAtMs, nowMs, policy);
      const periodMs = openPeriodMs(this.#level, policy, this.#random);
      this.#untilMs = isProbe ? openedUntilMs(this.#slot, nowMs, periodMs) : nowMs + periodMs;
      this.#leaseMs = probeLeaseMs(periodMs, policy);
      this.#reason = isProbe ? failedProbeReason : tripReason(policy);
    }
    this.#fire('failure');
    if (isTripped) this.#circuit.open();
    if (isProbe || isTripped) this.#changed();
  }

  /** opossum is told of an outcome after the fact; a half-open circuit closes or opens by it. */
  #fire(outcome: Outcome): void {
    // The rejection repeats what `replay` threw; opossum has acted on it by now.
    void this.#circuit.fire(outcome).catch(() => undefined);
    this.#fires += 1;
    if (this.#fires % firesPerBucket === 0) this.#rotation.emit('rotate');
  }

  #takeSlot(nowMs: number): number | null {
    if (!this.#circuit.halfOpen) return null;
    this.#slot = take(this.#slot, nowMs, this.#leaseMs);
    return this.#slot.newest;
  }

  /** opossum has no call for it, so an open period that is over goes on in a circuit born half-open. */
  #catchUp(): number {
    const nowMs = this.#clock.monotonicMs();
    if (!this.#isDone && this.#circuit.opened && nowMs >= this.#untilMs) {
      this.#circuit.shutdown();
      this.#circuit = buildCircuit(this.#name, this.#rotation, true);
      this.#changed();
    }
    return nowMs;
  }

  #changed(): void {
    this.#epoch += 1;
    this.#slot = freeSlot;
    this.#listeners.tell(this.view());
  }

  #state(): BreakerState {
    if (this.#circuit.closed) return 'closed';
    return this.#circuit.halfOpen ? 'half_open' : 'open';
  }
}
