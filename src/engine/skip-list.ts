/** Why targets were passed over: one reason each, the first that stood in the way. */
import type { CandidateState } from './candidate-state.ts';
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
    this.#note(candidate.target.id, reason);
  }

  /** What stood in the way of those that would have come before `asked`; null = nobody is asked any more. */
  noteObstacles(candidates: readonly CandidateState[], asked: CandidateState | null): void {
    for (const candidate of candidates) {
      if (candidate === asked) return;
      if (candidate.attempts > 0 || candidate.isSpent) continue;
      const obstacle = candidate.obstacle();
      if (obstacle !== null) this.#note(candidate.target.id, obstacle.reason);
    }
  }

  #note(target: string, reason: string): void {
    if (!this.#skips.some((skip) => skip.target === target)) this.#skips.push({ target, reason });
  }
}
