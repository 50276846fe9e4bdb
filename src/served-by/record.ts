/** Makes the rows of the served-by log out of what happened to a request. Pure; holds no text of a prompt or answer. */
import type { AttemptTrace, RequestTrace } from '../engine/trace.ts';
import type { AttemptRow, RequestRow, ServedRows } from './row.ts';

/** Characters: names come from clients and providers, and a row must stay small whatever they send. */
const nameCharactersMax = 256;
const messageCharactersMax = 500;
const listItemsMax = 64;

/** The request's row and one row per attempt, every text cut to its bound and every duration in whole ms. */
export function rowsOf(trace: RequestTrace): ServedRows {
  return { request: requestRowOf(trace), attempts: trace.attempts.map(attemptRowOf) };
}

function requestRowOf(trace: RequestTrace): RequestRow {
  const { serving, usage } = trace;
  return {
    id: trace.id,
    client_request_id: cut(trace.clientRequestId),
    started_at: Math.round(trace.startedAtMs),
    tier: trace.tier,
    config_version: trace.configVersion,
    client_protocol: trace.clientProtocol,
    requested_model: cut(trace.requestedModel),
    stream: trace.isStream,
    target: serving === null ? null : serving.target,
    provider: serving === null ? null : serving.provider,
    model: serving === null ? null : serving.model,
    reported_model: cut(trace.reportedModel),
    variant: serving === null ? null : serving.variant,
    outcome: trace.outcome,
    error_class: trace.failure === null ? null : trace.failure.failureClass,
    status: trace.status,
    attempt_count: trace.attempts.length,
    retry_count: countOf(trace.attempts, 'retry'),
    failover_count: trace.failoverCount,
    hedged: countOf(trace.attempts, 'hedge') > 0,
    skipped:
      trace.skipped.length > listItemsMax ? trace.skipped.slice(0, listItemsMax) : trace.skipped,
    recovery: trace.recovery,
    seams: trace.seams,
    malformed_events: trace.malformedEvents,
    deadline_ms: whole(trace.deadlineMs),
    backoff_ms: Math.round(trace.backoffMs),
    ttft_ms: whole(trace.ttftMs),
    latency_ms: whole(trace.latencyMs),
    upstream_ms: whole(trace.upstreamMs),
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
    cost_usd: null,
    total_cost_usd: null,
    price_date: null,
    finish_reason: finishReasonOf(trace),
    client_retry_count: trace.clientRetryCount,
    dropped: namesOf(trace.dropped),
    failed_over: trace.isFailedOver,
    output_valid: null,
    eval_run: cut(trace.evalRun),
    run_id: cut(trace.runId),
    session: cut(trace.session),
    tags: trace.tags,
    key_id: trace.keyId,
    guardrail: null,
    repaired: false,
    escalated_from: null,
    idempotent_replay: false,
    body_hash: null,
  };
}

function attemptRowOf(attempt: AttemptTrace): AttemptRow {
  const { failure, usage } = attempt;
  return {
    n: attempt.n,
    kind: attempt.kind,
    target: attempt.target,
    provider: attempt.provider,
    model: attempt.model,
    variant: attempt.variant,
    key_alias: attempt.keyAlias,
    started_at: Math.round(attempt.startedAtMs),
    delay_before_ms: Math.round(attempt.delayBeforeMs),
    delay_reason: attempt.delayReason,
    status: attempt.status ?? (failure === null ? null : failure.status),
    error_class: failure === null ? null : failure.errorClass,
    message: failure === null ? null : cutTo(failure.message, messageCharactersMax),
    retry_after_ms: failure === null || failure.hint === null ? null : whole(failure.hint.waitMs),
    ttfb_ms: whole(attempt.ttfbMs),
    ttft_ms: whole(attempt.ttftMs),
    duration_ms: Math.round(attempt.durationMs),
    upstream_request_id: cut(
      attempt.upstreamRequestId ?? (failure === null ? null : failure.upstreamRequestId),
    ),
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    reasoning_tokens: usage.reasoningTokens,
    cost_usd: null,
    outcome: attempt.outcome,
    breaker_before: attempt.breakerBefore,
    breaker_after: attempt.breakerAfter,
    retry_budget: attempt.retryBudget,
  };
}

function countOf(attempts: readonly AttemptTrace[], kind: AttemptTrace['kind']): number {
  let count = 0;
  for (const attempt of attempts) if (attempt.kind === kind) count += 1;
  return count;
}

/** A word we have no name for is kept as the provider said it: `other` alone would tell nothing. */
function finishReasonOf(trace: RequestTrace): string | null {
  return trace.finishReason === 'other'
    ? cut(trace.rawFinishReason ?? 'other')
    : trace.finishReason;
}

function namesOf(names: readonly string[]): readonly string[] {
  return names.length === 0
    ? names
    : names.slice(0, listItemsMax).map((name) => cutTo(name, nameCharactersMax));
}

function whole(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}

function cut(text: string | null): string | null {
  return text === null ? null : cutTo(text, nameCharactersMax);
}

function cutTo(text: string, charactersMax: number): string {
  return text.length > charactersMax ? text.slice(0, charactersMax) : text;
}
