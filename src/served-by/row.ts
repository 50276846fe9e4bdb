/** The served-by log's rows: one per request, one per attempt. The keys are the column names. */
import type {
  AttemptKind,
  AttemptOutcome,
  BreakerStanding,
  Recovery,
  RequestOutcome,
  Seam,
  Skip,
} from '../engine/trace.ts';
import type { ErrorClass } from '../failure/attempt-failure.ts';
import type { FailureClass } from '../failure/request-failure.ts';

/** Instants are epoch ms, durations whole ms, money US dollars. Null = not known or not the case. */
export type RequestRow = {
  readonly id: string;
  readonly client_request_id: string | null;
  readonly started_at: number;
  readonly tier: string;
  readonly config_version: number | null;
  readonly client_protocol: string | null;
  readonly requested_model: string | null;
  readonly stream: boolean;
  readonly target: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly reported_model: string | null;
  readonly variant: string | null;
  readonly outcome: RequestOutcome;
  readonly error_class: FailureClass | null;
  readonly status: number | null;
  readonly attempt_count: number;
  readonly retry_count: number;
  readonly failover_count: number;
  readonly hedged: boolean;
  readonly skipped: readonly Skip[];
  readonly recovery: Recovery;
  readonly seams: readonly Seam[];
  readonly malformed_events: number;
  readonly deadline_ms: number | null;
  readonly backoff_ms: number;
  readonly ttft_ms: number | null;
  readonly latency_ms: number | null;
  readonly upstream_ms: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cost_usd: number | null;
  /** Of all attempts, not of the serving one alone. */
  readonly total_cost_usd: number | null;
  readonly price_date: string | null;
  readonly finish_reason: string | null;
  readonly client_retry_count: number;
  readonly dropped: readonly string[];
  readonly failed_over: boolean;
  readonly output_valid: boolean | null;
  readonly eval_run: string | null;
  readonly run_id: string | null;
  readonly session: string | null;
  readonly tags: { readonly [name: string]: string };
  readonly key_id: string | null;
  readonly guardrail: string | null;
  readonly repaired: boolean;
  readonly escalated_from: string | null;
  readonly idempotent_replay: boolean;
  readonly body_hash: string | null;
};

export type AttemptRow = {
  readonly n: number;
  readonly kind: AttemptKind;
  readonly target: string;
  readonly provider: string;
  readonly model: string;
  readonly variant: string | null;
  readonly key_alias: string | null;
  readonly started_at: number;
  readonly delay_before_ms: number;
  readonly delay_reason: 'backoff' | 'hint' | 'queue' | null;
  readonly status: number | null;
  readonly error_class: ErrorClass | null;
  readonly message: string | null;
  readonly retry_after_ms: number | null;
  readonly ttfb_ms: number | null;
  readonly ttft_ms: number | null;
  readonly duration_ms: number;
  readonly upstream_request_id: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cost_usd: number | null;
  readonly outcome: AttemptOutcome;
  readonly breaker_before: BreakerStanding;
  readonly breaker_after: BreakerStanding;
  /** Tokens left in the target's retry budget when the attempt began. */
  readonly retry_budget: number | null;
};

export type ServedRows = {
  readonly request: RequestRow;
  /** In the order they were started. */
  readonly attempts: readonly AttemptRow[];
};
