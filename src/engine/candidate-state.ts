/** What this request knows of one candidate: its health, and what was tried on it. */

import type { EncodedCall } from '../dialects/dialect.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { ProviderKey } from '../providers/provider.ts';
import type { Target } from '../routing/snapshot.ts';
import type { Candidate, Obstacle } from './history.ts';
import type { TargetHealth } from './target-health.ts';

export class CandidateState {
  readonly target: Target;
  readonly health: TargetHealth;
  /** Written once per request and target: a retry sends the same bytes. */
  encoded: EncodedCall | null = null;
  attempts = 0;
  sleptMs = 0;
  isSpent = false;
  previousDelayMs: number | null = null;
  readonly failures: AttemptFailure[] = [];

  constructor(target: Target, health: TargetHealth) {
    this.target = target;
    this.health = health;
  }

  obstacle(): Obstacle | null {
    return this.health.obstacle(this.target);
  }

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
