/** Whose fault a failure is, and what a request may still do: see 4-resilience, Whose fault. */

import { unreachable } from '../base/unreachable.ts';
import type { ChatRequest } from '../chat/request.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
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
 * The parameter at fault is none of the client's body: the target's, or of our translation, so that another
 * target may not mind. A prompt that is too long or refused is the client's own, whatever it is called.
 */
export function isOurParameter(failure: AttemptFailure, request: EngineRequest): boolean {
  const name = fieldAtFault(failure);
  return name !== null && !Object.hasOwn(request.chat.original.json, name);
}

/** It was not even made of anything that the client said: the target's settings, or the gateway, put it in. */
export function isOfOurMaking(
  failure: AttemptFailure,
  request: EngineRequest,
  dialect: UpstreamDialect,
): boolean {
  const name = fieldAtFault(failure);
  if (name === null || !isOurParameter(failure, request)) return false;
  const sources = dialect.fieldsFrom ?? {};
  const fields = Object.hasOwn(sources, name) ? (sources[name] ?? []) : [name];
  return !fields.some((field) => isSaid(request.chat, field));
}

function fieldAtFault({ errorClass, param }: AttemptFailure): string | null {
  if (errorClass !== 'invalid_request') return null;
  return param?.split(/[.[]/, 1)[0] || null;
}

function isSaid(chat: ChatRequest, field: string): boolean {
  switch (field) {
    case 'messages':
      return true;
    case 'tools':
      return chat.tools.length > 0;
    case 'tool_choice':
      return chat.toolChoice !== null;
    default:
      return Object.entries(chat.parameters).some(
        ([name, value]) => name === field && value !== null,
      );
  }
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
