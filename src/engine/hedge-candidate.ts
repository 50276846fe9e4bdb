/** Whom a slow candidate is raced with. */
import type { CandidateState } from './candidate-state.ts';
import type { RequestRun } from './request-run.ts';

/** The next one after `slow` that nobody has asked yet; null when there is none, or the total is used up. */
export function hedgeCandidate(run: RequestRun, slow: CandidateState): CandidateState | null {
  const { candidates, records, request } = run;
  if (records.length >= request.tier.retry.attemptsTotal) return null;
  const isFree = (other: CandidateState): boolean =>
    other.attempts === 0 && !other.isSpent && other.obstacle() === null;
  return candidates.slice(candidates.indexOf(slow) + 1).find(isFree) ?? null;
}
