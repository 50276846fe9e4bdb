/** The keys of one provider, as one model sees them: used in listed order, the first that does not rest. */
import type { Clock } from '../base/clock.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { ProviderKey } from '../providers/provider.ts';
import {
  afterRateLimit,
  afterSuccess,
  type Cooldown,
  restsUntilMs,
} from '../resilience/cooldown.ts';
import { admitParked, afterProbe, type Parking, park } from '../resilience/parking.ts';
import type { Tier } from '../routing/snapshot.ts';
import type { Obstacle } from './history.ts';

type KeyState = { cooldown: Cooldown | null; parking: Parking | null };

/** Stands for the provider itself where it wants no key. */
const noKey = '';

export class KeyRing {
  readonly #clock: Clock;
  readonly #states = new Map<string, KeyState>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Null when at least one key can be used; else the rest that ends first. */
  obstacle(keys: readonly ProviderKey[]): Obstacle | null {
    if (this.#states.size === 0) return null;
    let first: Obstacle | null = null;
    for (const alias of aliasesOf(keys)) {
      const rest = this.#restOf(alias);
      if (rest === null) return null;
      if (first === null || endsEarlier(rest, first)) first = rest;
    }
    return first;
  }

  pick(keys: readonly ProviderKey[]): ProviderKey | null {
    return keys.find(({ alias }) => this.#restOf(alias) === null) ?? null;
  }

  state(alias: string): 'ready' | 'cooling' | 'parked' {
    const rest = this.#restOf(alias);
    if (rest === null) return 'ready';
    return rest.reason === 'cooling' ? 'cooling' : 'parked';
  }

  restsUntilMs(alias: string | null): number | null {
    return this.#restOf(alias ?? noKey)?.untilMs ?? null;
  }

  /** Takes the probe's slot of a key whose parking is over; the number ends it. */
  use(alias: string | null): number | null {
    const state = this.#states.get(alias ?? noKey);
    if (state === undefined) return null;
    const admission = admitParked(state.parking, this.#clock.monotonicMs());
    if (admission.kind !== 'probe') return null;
    state.parking = admission.next;
    return admission.probe;
  }

  endProbe(alias: string | null, probe: number | null, outcome: 'success' | 'none'): void {
    const state = this.#states.get(alias ?? noKey);
    if (state === undefined || probe === null) return;
    const nowMs = this.#clock.monotonicMs();
    state.parking = afterProbe(state.parking, { probe, outcome, nowMs });
  }

  /** No key rests any longer. */
  clear(): void {
    this.#states.clear();
  }

  succeeded(alias: string | null, startedMs: number): void {
    const state = this.#states.get(alias ?? noKey);
    if (state === undefined) return;
    state.cooldown = afterSuccess(state.cooldown, startedMs);
    if (state.cooldown === null && state.parking === null) this.#states.delete(alias ?? noKey);
  }

  /** True when the failure makes the key rest. */
  setAside(alias: string | null, failure: AttemptFailure, startedMs: number, tier: Tier): boolean {
    const nowMs = this.#clock.monotonicMs();
    switch (failure.errorClass) {
      case 'rate_limit': {
        const state = this.#state(alias);
        state.cooldown = afterRateLimit(state.cooldown, {
          nowMs,
          startedAtMs: startedMs,
          hintMs: failure.hint?.waitMs ?? null,
          cooldownMaxMs: tier.retry.cooldownMaxMs,
        });
        return true;
      }
      case 'auth':
      case 'permission':
      case 'quota_exhausted': {
        const state = this.#state(alias);
        const kind = failure.errorClass === 'auth' ? 'growing' : 'fixed';
        const refusal = { kind, nowMs, recheckMs: tier.failover.recheckMs } as const;
        state.parking = park(state.parking, refusal);
        return true;
      }
      default:
        return false;
    }
  }

  #restOf(alias: string): Obstacle | null {
    const state = this.#states.get(alias);
    if (state === undefined) return null;
    const nowMs = this.#clock.monotonicMs();
    const parked = admitParked(state.parking, nowMs);
    if (parked.kind === 'resting') return { reason: 'parked', untilMs: parked.untilMs };
    const untilMs = restsUntilMs(state.cooldown, nowMs);
    return untilMs === null ? null : { reason: 'cooling', untilMs };
  }

  #state(alias: string | null): KeyState {
    const known = this.#states.get(alias ?? noKey);
    if (known !== undefined) return known;
    const made: KeyState = { cooldown: null, parking: null };
    this.#states.set(alias ?? noKey, made);
    return made;
  }
}

function aliasesOf(keys: readonly ProviderKey[]): readonly string[] {
  return keys.length === 0 ? [noKey] : keys.map(({ alias }) => alias);
}

function endsEarlier(left: Obstacle, right: Obstacle): boolean {
  return (left.untilMs ?? Number.POSITIVE_INFINITY) < (right.untilMs ?? Number.POSITIVE_INFINITY);
}
