/** How a whole request failed, as the client is told. */
import type { JsonObject } from '../base/json.ts';
import type { ErrorClass } from './attempt-failure.ts';

export const failureClasses = [
  'invalid_request',
  'context_length',
  'content_policy',
  'unauthenticated',
  'forbidden',
  'unknown_tier',
  'idempotency_in_progress',
  'body_too_large',
  'idempotency_conflict',
  'guardrail_tripped',
  'output_invalid',
  'rate_limited',
  'client_gone',
  'internal',
  'upstream_quota',
  'upstream_auth',
  'upstream_failed',
  'no_target_available',
  'deadline_exceeded',
  'stream_interrupted',
] as const;
export type FailureClass = (typeof failureClasses)[number];

/** One attempt as the client may see it: no secret, no internal address. Times in ms since arrival. */
export type PublicAttempt = {
  readonly target: string;
  readonly status: number | null;
  readonly class: ErrorClass;
  readonly message: string;
  readonly upstream_request_id: string | null;
  readonly started_ms: number;
  readonly duration_ms: number;
};

export type RequestFailure = {
  readonly failureClass: FailureClass;
  /** The HTTP status of 2-api, Errors. */
  readonly status: number;
  /** What failed, what was tried, what to do; without the `(request ID)` that encoders append. */
  readonly message: string;
  /** The field at fault, where one is known (`param` in openai-chat). */
  readonly param: string | null;
  /** What the SDKs of the client's dialect act on, in the dialect's own place. */
  readonly details?: JsonObject;
  /** For 429, 503 and 409: whole milliseconds, > 0. Null for every other status. */
  readonly retryAfterMs: number | null;
  readonly attempts: readonly PublicAttempt[];
  readonly requestId: string;
  readonly clientRequestId: string;
  /** For `context_length`: the prompt's size and the largest window of the tier, where known. */
  readonly tokens: { readonly requested: number | null; readonly limit: number | null } | null;
  /** A stream broke after content: the user interface may offer to ask again. */
  readonly regenerate: boolean;
  /** A tool that the provider itself runs may have written before the answer was lost. */
  readonly maybeExecuted?: boolean;
};

/** Whether a repeat of the request can help: true exactly when `x-should-retry` is. */
export function isRetryable(failure: RequestFailure): boolean {
  return failure.retryAfterMs !== null && failure.retryAfterMs <= 60_000;
}
