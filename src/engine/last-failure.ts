/** All that the next decision wants to know of the failure that led to it. */
import type { ProviderKey } from '../providers/provider.ts';
import type { LastFailure } from './history.ts';
import { isOurParameter } from './judgement.ts';
import { mayBePoison } from './poison-watch.ts';
import { mayHaveBegun, mayWrite } from './provider-tools.ts';
import type { FailedAttempt, RequestRun } from './request-run.ts';

export function lastFailureOf(
  { candidate, record, failure }: FailedAttempt,
  { request, candidates, failures }: RequestRun,
): LastFailure {
  const { keyAlias } = record.start;
  const hasOtherKey = isOther(candidate.pickKey(), keyAlias);
  return {
    candidate: candidates.indexOf(candidate),
    failure,
    hasOtherKey,
    // A retry would use the other one: the rest of this key holds nobody up.
    keyRestsUntilMs: hasOtherKey ? null : candidate.health.keyRestsUntilMs(keyAlias),
    retries: candidate.attempts - 1,
    previousDelayMs: candidate.previousDelayMs,
    unhintedFailures: candidate.unhintedFailuresLike(failure),
    mayHaveExecuted: mayHaveBegun(failure) && mayWrite(request, candidate.target),
    isConfirmedElsewhere: failures.some(
      (other) => other.candidate !== candidate && mayBePoison(other.failure),
    ),
    isOurParameter: isOurParameter(failure, request),
  };
}

/** A key that was told to come back at once does not rest, but it is no other one. */
function isOther(key: ProviderKey | null, usedAlias: string | null): boolean {
  return key !== null && key.alias !== usedAlias;
}
