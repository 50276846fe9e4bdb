/** What all requests together know of one provider's model: breaker, resting keys, parking, latencies. */
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import { effectOf } from '../failure/effects.ts';
import type { ProviderKey } from '../providers/provider.ts';
import type {
  Breaker,
  BreakerPolicy,
  BreakerState,
  BreakerView,
  Permit,
} from '../resilience/breaker/breaker.ts';
import type { BreakerFleet } from '../resilience/breaker/breaker-fleet.ts';
import { createOpossumBreaker } from '../resilience/breaker/opossum-breaker.ts';
import { createSharedBreaker } from '../resilience/breaker/shared-breaker.ts';
import {
  ConcurrencyLimit,
  type ConcurrencyPolicy,
  type Slot,
  type SlotRefusal,
} from '../resilience/concurrency-limit.ts';
import { type LatencyKind, LatencyRecord, type Percentiles } from '../resilience/latency.ts';
import { admitParked, afterProbe, type Parking, park } from '../resilience/parking.ts';
import { RecentOutcomes } from '../resilience/recent-outcomes.ts';
import {
  depositFirstAsk,
  openRetryBudget,
  type RetryBudget,
  retryTokens,
  withdrawRetry,
} from '../resilience/retry-budget.ts';
import type { Target, Tier } from '../routing/snapshot.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { Obstacle } from './history.ts';
import { KeyRing } from './key-ring.ts';

/** While another request probes, those who wait for this target look again after so long. */
const probeLookMs = 1000;
/** Those who found no room in the queue are told to look again after so long. */
export const fullLookMs = 1000;
/** How long a breaker stays open when no other target could answer. */
const lonePeriodMs = 1000;

/**
 * Leave to make one attempt; one of `succeed`, `fail`, `abandon` and `lose` judges it. All but the success
 * of a stream give the slot back too; that one is held until `release`.
 */
export type TargetPermit = {
  readonly isProbe: boolean;
  readonly succeed: (record: AttemptRecord, isStream: boolean) => void;
  /** `isLast`: no other candidate of the request is closed, so a long open period would protect nobody. */
  readonly fail: (record: AttemptRecord, failure: AttemptFailure, isLast: boolean) => void;
  /** The stream broke after `succeed`. */
  readonly breakAfterSuccess: (record: AttemptRecord, failure: AttemptFailure) => void;
  /** The attempt proves nothing: the client left. */
  readonly abandon: () => void;
  /** Another attempt won the race: neutral, but for a probe, and for a target that had sent nothing. */
  readonly lose: (record: AttemptRecord) => void;
  readonly release: () => void;
};

export type HealthPorts = {
  readonly clock: Clock;
  readonly random: Random;
  /** With whom breakers are shared; null = with nobody. */
  readonly fleet?: BreakerFleet | null;
};

export class TargetHealth {
  /** `provider/model`. */
  readonly name: string;
  readonly #clock: Clock;
  readonly #breaker: Breaker;
  /** What its last requests came to, by input. */
  readonly outcomes = new RecentOutcomes();
  readonly #latency = new LatencyRecord();
  readonly #keys: KeyRing;
  readonly #listeners = new Set<() => void>();
  /** Set while the model itself is unknown to its provider. */
  #parking: Parking | null = null;
  #budget: RetryBudget;
  readonly #limit: ConcurrencyLimit;
  #concurrency: ConcurrencyPolicy;

  constructor(
    name: string,
    { clock, random, fleet = null }: HealthPorts,
    tier: Tier,
    concurrency: ConcurrencyPolicy,
  ) {
    this.name = name;
    this.#limit = new ConcurrencyLimit(clock, concurrency);
    this.#concurrency = concurrency;
    this.#clock = clock;
    this.#keys = new KeyRing(clock);
    this.#breaker =
      fleet === null
        ? createOpossumBreaker({ name, clock, random })
        : createSharedBreaker({ name, clock, random, fleet });
    this.#breaker.onChange(() => this.#changed());
    this.#budget = openRetryBudget(tier.retry.budget, clock.monotonicMs());
  }

  /** The limits of the config version that asks now. */
  under(concurrency: ConcurrencyPolicy): this {
    if (concurrency !== this.#concurrency) {
      this.#concurrency = concurrency;
      this.#limit.configure(concurrency);
    }
    return this;
  }

  /** Why the target cannot be asked now. */
  obstacle(target: Target): Obstacle | null {
    const nowMs = this.#clock.monotonicMs();
    const parked = admitParked(this.#parking, nowMs);
    if (parked.kind === 'resting') return { reason: 'parked', untilMs: parked.untilMs };
    const resting = this.#keys.obstacle(target.provider.keys);
    if (resting !== null) return resting;
    const view = this.#breaker.view();
    if (!view.isAdmitting) {
      return { reason: 'open', untilMs: view.nextProbeAtMs ?? nowMs + probeLookMs };
    }
    return this.#limit.isFull() ? { reason: 'full', untilMs: nowMs + fullLookMs } : null;
  }

  /** Only what rests its keys: for a target that an operator forces. */
  keyObstacle(target: Target): Obstacle | null {
    return this.#keys.obstacle(target.provider.keys);
  }

  /** The first key in order that does not rest; null where the provider wants none, or none is left. */
  pickKey(target: Target): ProviderKey | null {
    return this.#keys.pick(target.provider.keys);
  }

  /** Until when the key rests (monotonic ms); `alias` null = the provider wants no key. */
  keyRestsUntilMs(alias: string | null): number | null {
    return this.#keys.restsUntilMs(alias);
  }

  /** A place among the requests in flight, now or within the target's queue wait. */
  acquire(signal: AbortSignal, withinMs: number): Promise<Slot | SlotRefusal> {
    return this.#limit.acquire(signal, withinMs);
  }

  tryAcquire(): Slot | null {
    return this.#limit.tryAcquire();
  }

  /** Null: the breaker or a parking refused at the last moment; an operator's force is not refused. */
  admit(tier: Tier, key: ProviderKey | null, slot: Slot, isForced: boolean): TargetPermit | null {
    const nowMs = this.#clock.monotonicMs();
    const parked = admitParked(this.#parking, nowMs);
    if (parked.kind === 'resting' && !isForced) return null;
    const admission = this.#breaker.admit();
    if (!admission.isAdmitted && !isForced) return null;
    const breakerPermit = admission.isAdmitted ? admission.permit : unmarkedPermit;
    if (parked.kind === 'probe') this.#parking = parked.next;
    const probe = parked.kind === 'probe' ? parked.probe : null;
    const keyProbe = this.#keys.use(key?.alias ?? null);
    return this.#permit({
      tier,
      alias: key?.alias ?? null,
      slot,
      permit: breakerPermit,
      probe,
      keyProbe,
    });
  }

  /** A first ask deposits, a retry withdraws: false = the retry budget is spent. */
  drawBudget(tier: Tier, isRetry: boolean): boolean {
    const policy = tier.retry.budget;
    const nowMs = this.#clock.monotonicMs();
    if (!isRetry) {
      this.#budget = depositFirstAsk(this.#budget, policy, nowMs);
      return true;
    }
    const drawn = withdrawRetry(this.#budget, policy, nowMs);
    this.#budget = drawn.budget;
    return drawn.isAllowed;
  }

  retryTokens(tier: Tier): number {
    return retryTokens(this.#budget, tier.retry.budget, this.#clock.monotonicMs());
  }

  /** A tenth of the successes take less than this (ms); null = fewer than 20 are known. */
  expectedMs(isStream: boolean): number | null {
    return this.#percentiles(isStream)?.p10Ms ?? null;
  }

  p99Ms(isStream: boolean): number | null {
    return this.#percentiles(isStream)?.p99Ms ?? null;
  }

  /** Of the successes of the last ten minutes; null = fewer than 20 are known. */
  percentilesMs(kind: LatencyKind): Percentiles | null {
    return this.#latency.percentiles(kind, this.#clock.monotonicMs());
  }

  keyState(alias: string): 'ready' | 'cooling' | 'parked' {
    return this.#keys.state(alias);
  }

  breakerState(): BreakerState {
    return this.#breaker.view().state;
  }

  breakerView(): BreakerView {
    return this.#breaker.view();
  }

  /** An operator says that the target and its keys may be asked again. */
  clearRests(): void {
    this.#parking = null;
    this.#keys.clear();
    this.#changed();
  }

  /** Attempts under way, streams included. */
  get inFlight(): number {
    return this.#limit.inFlight;
  }

  /** No request asks it, waits for it or queues for it. */
  get isIdle(): boolean {
    return this.inFlight + this.#limit.queued + this.#listeners.size === 0;
  }

  /** Calls `listener` when the target may have become askable, or no longer is. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#breaker.close();
    this.#listeners.clear();
  }

  #percentiles(isStream: boolean): Percentiles | null {
    return this.percentilesMs(isStream ? 'streamed' : 'whole');
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #permit(grant: {
    readonly tier: Tier;
    readonly alias: string | null;
    readonly slot: Slot;
    readonly permit: Permit;
    readonly probe: number | null;
    readonly keyProbe: number | null;
  }): TargetPermit {
    const { tier, alias, slot, permit, probe, keyProbe } = grant;
    const endProbe = (outcome: 'success' | 'none'): void => {
      const nowMs = this.#clock.monotonicMs();
      if (probe !== null) this.#parking = afterProbe(this.#parking, { probe, outcome, nowMs });
      this.#keys.endProbe(alias, keyProbe, outcome);
    };
    return {
      isProbe: permit.isProbe || probe !== null || keyProbe !== null,
      succeed: (record, isStream) => {
        if (!isStream) slot.release('success');
        permit.settle('success', tier.breaker);
        const tookMs = (isStream ? record.ttftMs : null) ?? record.elapsedMs();
        this.#latency.record(isStream ? 'streamed' : 'whole', tookMs, this.#clock.monotonicMs());
        this.#keys.succeeded(alias, record.startedMs);
        endProbe('success');
      },
      fail: (record, failure, isLast) => {
        slot.release(isOverload(failure) ? 'overloaded' : 'neutral');
        const policy = isLast ? probedOften(tier.breaker) : tier.breaker;
        permit.settle(countsAsFailure(record, failure) ? 'failure' : 'none', policy);
        this.#setAside(alias, failure, record.startedMs, tier);
        endProbe('none');
      },
      breakAfterSuccess: (record, failure) => {
        slot.release(isOverload(failure) ? 'overloaded' : 'neutral');
        if (effectOf(failure).countsForBreaker) permit.breakAfterSuccess(tier.breaker);
        this.#setAside(alias, failure, record.startedMs, tier);
      },
      abandon: () => {
        slot.release('neutral');
        permit.settle('none', tier.breaker);
        endProbe('none');
      },
      lose: (record) => {
        slot.release('neutral');
        const isSilent = record.status === null || permit.isProbe;
        permit.settle(isSilent && record.isFairlyTimed ? 'failure' : 'none', tier.breaker);
        endProbe('none');
      },
      release: () => slot.release('success'),
    };
  }

  #setAside(alias: string | null, failure: AttemptFailure, startedMs: number, tier: Tier): void {
    const nowMs = this.#clock.monotonicMs();
    if (failure.errorClass === 'not_found') {
      const refusal = { kind: 'fixed', nowMs, recheckMs: tier.failover.recheckMs } as const;
      this.#parking = park(this.#parking, refusal);
      this.#changed();
      return;
    }
    if (this.#keys.setAside(alias, failure, startedMs, tier)) this.#changed();
  }
}

/** While every candidate is open one waiter a second probes, and the period is not doubled. */
function probedOften(policy: BreakerPolicy): BreakerPolicy {
  const openForMs = Math.min(policy.openForMs, lonePeriodMs);
  return { ...policy, openForMs, openForMaxMs: openForMs, probeLeaseMs: policy.openForMs };
}

/** The target says itself that it has more than it can take. */
function isOverload({ errorClass }: AttemptFailure): boolean {
  return errorClass === 'rate_limit' || errorClass === 'overload';
}

/** An attempt that the breaker did not let through leaves no mark on it. */
const unmarkedPermit: Permit = {
  isProbe: false,
  settle: () => undefined,
  breakAfterSuccess: () => undefined,
};

/** The clock that is shortened for another candidate's sake. */
const splitClockRule = 'clock:first_content';
/** The clocks that a request's deadline shortens. */
const deadlineClockRules: readonly string[] = [splitClockRule, 'clock:headers'];

/**
 * A cut by the request's deadline is a failure only of a target that had a fair time; and a cut by the split
 * of the deadline, before the target's own clock, is no fault of one that had answered.
 */
function countsAsFailure(record: AttemptRecord, failure: AttemptFailure): boolean {
  if (!effectOf(failure).countsForBreaker) return false;
  if (deadlineClockRules.includes(failure.rule) && !record.isFairlyTimed) return false;
  const isCutEarly = failure.rule === splitClockRule && record.elapsedMs() < record.ownLimitMs;
  return !isCutEarly || record.status === null;
}
