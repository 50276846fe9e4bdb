/** What happened to one request: what the served-by log, metrics and the client's error are made of. */
import type { FinishReason } from '../chat/stream-event.ts';
import type { Usage } from '../chat/usage.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { RequestFailure } from '../failure/request-failure.ts';
import type { BreakerState } from '../resilience/breaker/breaker.ts';

export type AttemptKind =
  | 'first'
  | 'retry'
  | 'failover'
  | 'hedge'
  | 'continuation'
  | 'repair'
  | 'probe';
export type AttemptOutcome = 'served' | 'failed' | 'cancelled' | 'client_gone';

/** How the breaker stood for an attempt; `forced`: an operator's word stood in its place. */
export type BreakerStanding = BreakerState | 'forced';

/** Instants are wall-clock ms since the epoch; durations are measured on the monotonic clock. */
export type AttemptTrace = {
  readonly n: number;
  readonly kind: AttemptKind;
  readonly target: string;
  readonly provider: string;
  readonly model: string;
  readonly variant: string | null;
  readonly keyAlias: string | null;
  readonly startedAtMs: number;
  /** Monotonic ms from the request's arrival to this attempt's start. */
  readonly startedAfterMs: number;
  readonly delayBeforeMs: number;
  readonly delayReason: 'backoff' | 'hint' | 'queue' | null;
  readonly status: number | null;
  readonly failure: AttemptFailure | null;
  readonly upstreamRequestId: string | null;
  readonly ttfbMs: number | null;
  readonly ttftMs: number | null;
  readonly durationMs: number;
  readonly usage: Usage;
  readonly outcome: AttemptOutcome;
  readonly breakerBefore: BreakerStanding;
  readonly breakerAfter: BreakerStanding;
  /** Retries that the target's budget allowed when the attempt began, its own draw already taken. */
  readonly retryBudget: number;
  /** Events of types that nobody knows, counted by type; absent = none came. */
  readonly unknownEvents?: ReadonlyMap<string, number>;
};

export type Skip = { readonly target: string; readonly reason: string };

export type Recovery = 'none' | 'restarted' | 'continued' | 'failed_forward';

/** Who wrote which part of a continued text. `start` and `end` count UTF-16 units. */
export type Seam = {
  readonly attempt: number;
  readonly target: string;
  readonly start: number;
  readonly end: number;
  /** The joint before the part may not be right. */
  readonly uncertain: boolean;
};

export type RequestOutcome = 'served' | 'failed' | 'rejected' | 'client_gone' | 'lost';

/** Everything known when the request ends. */
export type RequestTrace = {
  readonly id: string;
  readonly clientRequestId: string;
  readonly startedAtMs: number;
  readonly tier: string;
  readonly configVersion: number;
  readonly clientProtocol: string;
  readonly requestedModel: string;
  readonly isStream: boolean;
  /** The attempt whose answer was served, or that wrote last; null when none was made. */
  readonly serving: AttemptTrace | null;
  readonly reportedModel: string | null;
  readonly outcome: RequestOutcome;
  readonly failure: RequestFailure | null;
  readonly status: number;
  readonly attempts: readonly AttemptTrace[];
  readonly failoverCount: number;
  readonly isFailedOver: boolean;
  readonly skipped: readonly Skip[];
  readonly recovery: Recovery;
  /** In order; empty unless somebody went on with another's text. */
  readonly seams: readonly Seam[];
  readonly malformedEvents: number;
  readonly deadlineMs: number;
  readonly backoffMs: number;
  readonly ttftMs: number | null;
  readonly latencyMs: number;
  readonly upstreamMs: number;
  readonly usage: Usage;
  readonly finishReason: FinishReason | null;
  readonly rawFinishReason: string | null;
  readonly dropped: readonly string[];
  readonly clientRetryCount: number;
  /** Retries that the retry budget did not allow; absent = none. */
  readonly refusedRetries?: number;
  readonly evalRun: string | null;
  readonly runId: string | null;
  readonly session: string | null;
  readonly tags: { readonly [name: string]: string };
  readonly keyId: string | null;
};
