/** Whose fault a failure is, and what a request may still do: see 4-resilience, Whose fault. */

import { unreachable } from '../base/unreachable.ts';
import type { AttemptFailure, ErrorClass } from '../failure/attempt-failure.ts';
import type { EngineRequest } from './engine-request.ts';
import type { Limits } from './history.ts';

/** Whether a target that answers so has looked at the request itself. */
function isJudgement(errorClass: ErrorClass): boolean {
  switch (errorClass) {
    case 'connection':
    case 'timeout':
    case 'overload':
    case 'rate_limit':
    case 'quota_exhausted':
    case 'auth':
    case 'permission':
    case 'not_found':
    case 'client_gone':
    case 'internal':
      return false;
    case 'transient_infra':
    case 'malformed_response':
    case 'context_length':
    case 'invalid_request':
    case 'content_policy':
    case 'poisoned':
    case 'stream_interrupted':
      return true;
    default:
      return unreachable(errorClass);
  }
}

export function judgementsIn(failures: readonly { readonly failure: AttemptFailure }[]): number {
  return failures.filter(({ failure }) => isJudgement(failure.errorClass)).length;
}

/**
 * The parameter at fault is one that the client did not send: the target's, or our translation's. A prompt
 * that is too long or refused is the client's own, whatever the target's protocol calls it.
 */
export function isOurParameter(failure: AttemptFailure, request: EngineRequest): boolean {
  if (failure.errorClass !== 'invalid_request') return false;
  const name = failure.param?.split(/[.[]/, 1)[0];
  if (name === undefined || name === '') return false;
  return !Object.hasOwn(request.chat.original.json, name);
}

export function limitsOf(request: EngineRequest): Limits {
  const { retry, failover } = request.tier;
  const attempts =
    request.maxRetries === null ? retry.attempts : Math.min(retry.attempts, request.maxRetries + 1);
  return {
    attempts,
    attemptsTotal: retry.attemptsTotal,
    maxWaitMs: retry.maxWaitMs,
    hintCeilingMs: retry.hintCeilingMs,
    backoff: retry.backoff,
    isFailoverOff: request.isFailoverOff || request.pin !== null || request.account !== undefined,
    failsOverOnContentPolicy: failover.onContentPolicy,
  };
}
