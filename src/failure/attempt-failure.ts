/** How one attempt failed: a value from one closed list, with what the provider said. */

export const errorClasses = [
  'connection',
  'transient_infra',
  'malformed_response',
  'timeout',
  'overload',
  'rate_limit',
  'quota_exhausted',
  'auth',
  'permission',
  'not_found',
  'context_length',
  'invalid_request',
  'content_policy',
  'poisoned',
  'stream_interrupted',
  'client_gone',
  'internal',
] as const;
export type ErrorClass = (typeof errorClasses)[number];

/** What the provider said about when to come back. `waitMs` >= 0, without jitter. */
export type Hint = { readonly waitMs: number; readonly source: string };

export type AttemptFailure = {
  readonly errorClass: ErrorClass;
  /** For `connection`: whether a connection ever stood. Null for every other class. */
  readonly connection: 'refused' | 'reset' | null;
  /** The HTTP status, or what an error inside a 200 said of itself; null without an answer. */
  readonly status: number | null;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
  /** The provider's words, redacted and cut to 500 characters; ours when it said nothing. */
  readonly message: string;
  readonly hint: Hint | null;
  /** How many of its hints could not be read, or cannot be meant; absent = none. */
  readonly oddHints?: number;
  /** `x-should-retry` or an operator rule's `retry`: overrides the table for the same target. */
  readonly shouldRetry: boolean | null;
  readonly upstreamRequestId: string | null;
  /** The name of the rule that chose the class. */
  readonly rule: string;
  /** For `context_length`, where the message tells them. */
  readonly tokens: { readonly requested: number | null; readonly limit: number | null } | null;
};
