/** What this request knows of one candidate: its health, and what was tried on it. */

import type { EncodedCall } from '../dialects/dialect.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { ProviderKey } from '../providers/provider.ts';
import type { Target } from '../routing/snapshot.ts';
import type { Candidate, Obstacle } from './history.ts';
import type { Override } from './override-table.ts';
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

  readonly #override: () => Override | null;

  constructor(target: Target, health: TargetHealth, override: () => Override | null) {
    this.target = target;
    this.health = health;
    this.#override = override;
  }

  /** What an operator decided comes first: drained is drained, and forced knows no obstacle but its keys. */
  obstacle(): Obstacle | null {
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
