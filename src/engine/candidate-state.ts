/** What this request knows of one candidate: its health, and what was tried on it. */
import type { Clock } from '../base/clock.ts';
import type { EncodedCall } from '../dialects/dialect.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import { effectOf } from '../failure/effects.ts';
import type { ProviderKey } from '../providers/provider.ts';
import type { Target } from '../routing/snapshot.ts';
import type { Candidate, Obstacle } from './history.ts';
import type { Override } from './override-table.ts';
import { fullLookMs, type TargetHealth } from './target-health.ts';
import type { BreakerStanding } from './trace.ts';

export class CandidateState {
  readonly target: Target;
  readonly health: TargetHealth;
  /** Written once per request and target: a retry sends the same bytes. */
  encoded: EncodedCall | null = null;
  /** Whose key it was written for, where that makes a difference. */
  encodedFor: string | null = null;
  attempts = 0;
  /** The alias that the last attempt used; null where none was wanted, or none was made. */
  lastKey: string | null = null;
  sleptMs = 0;
  isSpent = false;
  /** No room was found in its queue: this request does not line up a second time. */
  hadNoRoom = false;
  previousDelayMs: number | null = null;
  readonly failures: AttemptFailure[] = [];

  readonly #clock: Clock;
  readonly #override: () => Override | null;
  /** The target told this request not to come back before (monotonic ms). */
  #hintedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    target: Target,
    health: TargetHealth,
    ports: { readonly clock: Clock; readonly override: () => Override | null },
  ) {
    this.target = target;
    this.health = health;
    this.#clock = ports.clock;
    this.#override = ports.override;
  }

  noteFailure(failure: AttemptFailure): void {
    this.failures.push(failure);
    const { hint } = failure;
    if (hint === null || isOfItsKey(failure)) return;
    const untilMs = this.#clock.monotonicMs() + hint.waitMs;
    this.#hintedUntilMs = Math.max(this.#hintedUntilMs, untilMs);
  }

  /** A hint binds the request that was given it, whatever it does in the meantime. */
  obstacle(): Obstacle | null {
    if (this.hadNoRoom) return { reason: 'full', untilMs: this.#clock.monotonicMs() + fullLookMs };
    const obstacle = this.#obstacleToAll();
    if (obstacle !== null || this.#clock.monotonicMs() >= this.#hintedUntilMs) return obstacle;
    return { reason: 'cooling', untilMs: this.#hintedUntilMs };
  }

  /** What an operator decided comes first: drained is drained, and forced knows no obstacle but its keys. */
  #obstacleToAll(): Obstacle | null {
    switch (this.#override()?.state) {
      case 'drained':
        return { reason: 'drained', untilMs: null };
      case 'forced':
        return this.health.keyObstacle(this.target);
      case undefined:
        return this.health.obstacle(this.target);
    }
  }

  get isForced(): boolean {
    return this.#override()?.state === 'forced';
  }

  breakerStanding(): BreakerStanding {
    return this.isForced ? 'forced' : this.health.breakerState();
  }

  /** Whether whoever has a place in flight may ask. */
  get isAskable(): boolean {
    const obstacle = this.obstacle();
    return obstacle === null || obstacle.reason === 'full';
  }

  /** Null where none is wanted, or all rest. */
  pickKey(): ProviderKey | null {
    return this.health.pickKey(this.target);
  }

  view(isStream: boolean): Candidate {
    return {
      target: this.target.id,
      obstacle: this.obstacle(),
      attempts: this.attempts,
      sleptMs: this.sleptMs,
      isSpent: this.isSpent,
      expectedMs: this.health.expectedMs(isStream),
      contextWindow: this.target.contextWindow,
    };
  }

  unhintedFailuresLike(failure: AttemptFailure): number {
    return this.failures.filter(
      (earlier) => earlier.errorClass === failure.errorClass && earlier.hint === null,
    ).length;
  }
}

/** Such a hint rests the key for everyone; another key is free to ask. */
function isOfItsKey(failure: AttemptFailure): boolean {
  const { sameTarget } = effectOf(failure);
  return sameTarget === 'other_key_then_hint' || sameTarget === 'other_key_only';
}
