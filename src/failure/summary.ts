/** From all that happened to a request to the one failure that its client is told: 2-api, Errors. */
import { unreachable } from '../base/unreachable.ts';
import type { AttemptFailure, ErrorClass } from './attempt-failure.ts';
import {
  type FailedAttempt,
  publicAttempt,
  publicMessage,
  type SkippedTarget,
  whatWasTried,
} from './public-message.ts';
import type { FailureClass, RequestFailure } from './request-failure.ts';

/** What stood last in the way of another attempt, and in how many ms it is gone (null = unknown). */
export type LastObstacle = {
  readonly kind: 'hint' | 'cooling' | 'open' | 'parked' | 'full';
  readonly backInMs: number | null;
};

export type RequestEnd = {
  readonly requestId: string;
  readonly clientRequestId: string;
  readonly tier: string;
  /** In the order in which they were made. */
  readonly attempts: readonly FailedAttempt[];
  /** Candidates that were not asked, with the skip reasons of 2-api. */
  readonly skipped: readonly SkippedTarget[];
  /** Null when nothing was left to ask, or to wait for. */
  readonly obstacle: LastObstacle | null;
  /** Whether time was left; if not, whether an attempt or a wait was under way when it ran out. */
  readonly deadline: 'left' | 'ran_out' | 'ran_out_under_way';
  /** Why no target's dialect can carry the request; counts when no attempt was made. */
  readonly requestFault: { readonly message: string; readonly param: string | null } | null;
  /** The largest window of the tier in tokens, where known. */
  readonly largestWindow: number | null;
};

/** Of every failure class; `stream_interrupted` stands for a stream that had already begun with 200. */
export const statusOfFailure = {
  invalid_request: 400,
  context_length: 400,
  content_policy: 400,
  unauthenticated: 401,
  forbidden: 403,
  unknown_tier: 404,
  idempotency_in_progress: 409,
  body_too_large: 413,
  idempotency_conflict: 422,
  guardrail_tripped: 422,
  output_invalid: 422,
  rate_limited: 429,
  client_gone: 499,
  internal: 500,
  upstream_quota: 502,
  upstream_auth: 502,
  upstream_failed: 502,
  stream_interrupted: 502,
  no_target_available: 503,
  deadline_exceeded: 504,
} satisfies { readonly [name in FailureClass]: number };

/**
 * The failure of a request that nobody served. The first that holds counts: a fault of ours, the
 * request's own fault, the deadline under way, rate limits, another obstacle, quota, auth, the rest.
 */
export function failureOfRequest(end: RequestEnd): RequestFailure {
  const { attempts } = end;
  const last = attempts.at(-1)?.failure.errorClass;
  if (last === 'client_gone' || last === 'internal') return failure(end, last);
  const fault = attempts.find(isRequestFault);
  if (fault !== undefined) return requestFault(end, fault.target, fault.failure);
  if (attempts.length === 0 && end.requestFault !== null) {
    const { message, param } = end.requestFault;
    return { ...failure(end, 'invalid_request'), message, param };
  }
  if (end.deadline === 'ran_out_under_way') return failure(end, 'deadline_exceeded');
  if (end.deadline === 'ran_out' && attempts.length === 0) return failure(end, 'deadline_exceeded');
  if (end.obstacle !== null && isRateLimited(end, end.obstacle))
    return failure(end, 'rate_limited');
  if (end.obstacle !== null || attempts.length === 0) return failure(end, 'no_target_available');
  if (isEach(attempts, ['quota_exhausted'])) return failure(end, 'upstream_quota');
  if (isEach(attempts, ['auth', 'permission', 'quota_exhausted'])) {
    return failure(end, 'upstream_auth');
  }
  return failure(end, 'upstream_failed');
}

/** A 400 about our own translation is the gateway's business, whoever answered it. */
function isRequestFault(attempt: FailedAttempt): boolean {
  switch (attempt.failure.errorClass) {
    case 'invalid_request':
    case 'context_length':
    case 'content_policy':
      return !attempt.isOfOurMaking;
    default:
      return false;
  }
}

function isEach(attempts: readonly FailedAttempt[], classes: readonly ErrorClass[]): boolean {
  return attempts.every(({ failure: { errorClass } }) => classes.includes(errorClass));
}

/** Targets that could not have served whatever the limits: they say nothing about rate limits. */
const unable: ReadonlySet<ErrorClass> = new Set([
  'auth',
  'permission',
  'quota_exhausted',
  'not_found',
]);

/** Whether every candidate able to serve was rate-limited, and a hint or cooldown stood in the way. */
function isRateLimited(end: RequestEnd, obstacle: LastObstacle): boolean {
  if (obstacle.kind !== 'hint' && obstacle.kind !== 'cooling') return false;
  const lastOf = new Map(
    end.attempts.map(({ target, failure: { errorClass } }) => [target, errorClass]),
  );
  const able = [...lastOf.values()].filter((errorClass) => !unable.has(errorClass));
  if (able.some((errorClass) => errorClass !== 'rate_limit')) return false;
  const couldServe = end.skipped.filter(({ reason }) => isPassing(reason));
  if (couldServe.some(({ reason }) => reason !== 'cooling')) return false;
  return able.length + couldServe.length > 0;
}

/** Skip reasons of targets that can serve such a request at another moment. */
function isPassing(reason: string): boolean {
  return reason === 'cooling' || reason === 'open' || reason === 'full' || reason === 'deadline';
}

/** Longer than any repeat is encouraged for (60 s): nothing is known to come back. */
const unknownReturnMs = 600_000;
/** The longest open period. */
const obstacleReturnMs = 15_000;

function retryAfterOf(failureClass: FailureClass, end: RequestEnd): number | null {
  const { obstacle } = end;
  if (failureClass !== 'rate_limited' && failureClass !== 'no_target_available') return null;
  if (obstacle === null) return unknownReturnMs;
  return Math.max(1, Math.ceil(obstacle.backInMs ?? obstacleReturnMs));
}

type EndClass =
  | 'invalid_request'
  | 'rate_limited'
  | 'client_gone'
  | 'internal'
  | 'upstream_quota'
  | 'upstream_auth'
  | 'upstream_failed'
  | 'no_target_available'
  | 'deadline_exceeded';

function failure(end: RequestEnd, failureClass: EndClass): RequestFailure {
  const retryAfterMs = retryAfterOf(failureClass, end);
  return {
    failureClass,
    status: statusOfFailure[failureClass],
    message: messageOf(failureClass, end, retryAfterMs),
    param: null,
    retryAfterMs,
    attempts: end.attempts.map(publicAttempt),
    requestId: end.requestId,
    clientRequestId: end.clientRequestId,
    tokens: null,
    regenerate: false,
  };
}

function requestFault(end: RequestEnd, target: string, fault: AttemptFailure): RequestFailure {
  const base = { ...failure(end, 'invalid_request'), param: fault.param };
  const said = publicMessage(fault);
  switch (fault.errorClass) {
    case 'context_length': {
      const tokens = {
        requested: fault.tokens?.requested ?? null,
        limit: end.largestWindow ?? fault.tokens?.limit ?? null,
      };
      // Agents read the opening of this message, so nothing stands before the provider's own.
      return { ...base, failureClass: 'context_length', message: said, tokens };
    }
    case 'content_policy':
      return {
        ...base,
        failureClass: 'content_policy',
        message: `${target} refused the prompt: ${said}`,
      };
    default:
      return { ...base, message: `${target} does not accept the request: ${said}` };
  }
}

function messageOf(failureClass: EndClass, end: RequestEnd, retryAfterMs: number | null): string {
  const tier = `tier "${end.tier}"`;
  const tried = whatWasTried(end.attempts, end.skipped);
  const later = retryAfterMs === null ? '' : repeatAdvice(retryAfterMs);
  const join = (...parts: readonly string[]): string =>
    parts.filter((part) => part !== '').join(' ');
  switch (failureClass) {
    case 'invalid_request':
      return join('The request cannot be carried out as it is.', tried);
    case 'rate_limited':
      return join(`Every target of ${tier} that could answer is rate-limited.`, tried, later);
    case 'no_target_available':
      return join(
        `No target of ${tier} ${end.attempts.length === 0 ? 'can be asked now' : 'could answer'}.`,
        tried,
        later,
      );
    case 'deadline_exceeded':
      return join(
        `The deadline ran out before a target of ${tier} had answered.`,
        tried,
        'Allow more time, or ask for a shorter answer.',
      );
    case 'upstream_quota':
      return join(
        `The gateway's accounts behind ${tier} have no quota left. Its operator has been alerted.`,
        tried,
      );
    case 'upstream_auth':
      return join(
        `The providers behind ${tier} refuse the gateway's credentials. Its operator has been alerted.`,
        tried,
      );
    case 'upstream_failed':
      return join(
        `No target of ${tier} could answer.`,
        tried,
        'The gateway has already repeated what a repeat can cure.',
      );
    case 'internal':
      return 'A fault inside the gateway stopped the request. Its operator has been alerted.';
    case 'client_gone':
      return 'The client left before the answer was complete.';
    default:
      return unreachable(failureClass);
  }
}

/** The sentence with which the message of a failure ends that has a `retryAfterMs`. */
export function repeatAdvice(retryAfterMs: number): string {
  return `Repeat the request in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s.`;
}

/**
 * The failure of a stream that broke after the client had seen some of it: it stands in the stream,
 * whose status was 200. `attempts` ends with the one that broke.
 */
export function failureOfBrokenStream(broken: {
  readonly requestId: string;
  readonly clientRequestId: string;
  readonly attempts: readonly FailedAttempt[];
}): RequestFailure {
  const last = broken.attempts.at(-1);
  const who = last === undefined ? 'The target' : last.target;
  const why = last === undefined ? '' : `: ${publicMessage(last.failure)}`;
  return {
    failureClass: 'stream_interrupted',
    status: statusOfFailure.stream_interrupted,
    message: `${who} broke off in the middle of its answer${why}. What was sent stands; ask again to have it written anew.`,
    param: null,
    retryAfterMs: null,
    attempts: broken.attempts.map(publicAttempt),
    requestId: broken.requestId,
    clientRequestId: broken.clientRequestId,
    tokens: null,
    regenerate: true,
  };
}
