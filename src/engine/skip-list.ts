/** Why targets were passed over: one reason each, the first that stood in the way. */
import type { CandidateState } from './candidate-state.ts';
import type { Candidate } from './history.ts';
import type { Skip } from './trace.ts';

export class SkipList {
  readonly #skips: Skip[];

  constructor(skipped: readonly Skip[]) {
    this.#skips = [...skipped];
  }

  all(): readonly Skip[] {
    return this.#skips;
  }

  /** The request goes on without `candidate`. */
  skip(candidate: CandidateState, reason: string): void {
    candidate.isSpent = true;
    this.note(candidate.target.id, reason);
  }

  /**
   * What stood in the way of the candidates given, as the decision saw them: a moment later it may be gone,
   * and the row would not say why another one was asked.
   */
  noteObstacles(passedOver: readonly Candidate[]): void {
    for (const { target, obstacle, attempts, isSpent } of passedOver) {
      if (obstacle !== null && attempts === 0 && !isSpent) this.note(target, obstacle.reason);
    }
  }

  /** There is not time for the candidates of these indices; one that was asked before is none passed over. */
  noteLate(candidates: readonly Candidate[], late: readonly number[]): void {
    for (const index of late) {
      const candidate = candidates[index];
      if (candidate?.attempts === 0) this.note(candidate.target, 'deadline');
    }
  }

  /** Only the first reason counts. */
  note(target: string, reason: string): void {
    if (!this.#skips.some((skip) => skip.target === target)) this.#skips.push({ target, reason });
  }
}
