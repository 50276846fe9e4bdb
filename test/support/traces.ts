/** Traces of requests, as short as a test wants them. */
import { unknownUsage } from '../../src/chat/usage.ts';
import type { AttemptTrace, RequestTrace } from '../../src/engine/trace.ts';
import type { AttemptFailure } from '../../src/failure/attempt-failure.ts';
import type { RequestFailure } from '../../src/failure/request-failure.ts';

export const traceStartMs = Date.UTC(2026, 0, 1, 12);

export function attemptTrace(parts: Partial<AttemptTrace> = {}): AttemptTrace {
  return {
    n: 1,
    kind: 'first',
    target: 'p1/large',
    provider: 'p1',
    model: 'large',
    variant: 'fast.p1@0a1b2c3d',
    keyAlias: 'P1_KEY',
    startedAtMs: traceStartMs + 2,
    startedAfterMs: 2,
    delayBeforeMs: 0,
    delayReason: null,
    status: 200,
    failure: null,
    upstreamRequestId: 'req-1',
    ttfbMs: 8.4,
    ttftMs: null,
    durationMs: 12.6,
    usage: { ...unknownUsage, inputTokens: 15, outputTokens: 20 },
    outcome: 'served',
    breakerBefore: 'closed',
    breakerAfter: 'closed',
    retryBudget: 10.2,
    ...parts,
  };
}

export function attemptFailure(parts: Partial<AttemptFailure> = {}): AttemptFailure {
  return {
    errorClass: 'overload',
    connection: null,
    status: 529,
    code: null,
    type: 'overloaded_error',
    param: null,
    message: 'Overloaded',
    hint: null,
    shouldRetry: null,
    upstreamRequestId: null,
    rule: 'overloaded',
    tokens: null,
    ...parts,
  };
}

export function requestFailure(parts: Partial<RequestFailure> = {}): RequestFailure {
  return {
    failureClass: 'upstream_failed',
    status: 502,
    message: 'No target of the tier answered.',
    param: null,
    retryAfterMs: null,
    attempts: [],
    requestId: 'id',
    clientRequestId: 'client',
    tokens: null,
    regenerate: false,
    ...parts,
  };
}

/** A request that the first target served, unless `parts` say otherwise. */
export function requestTrace(parts: Partial<RequestTrace> = {}): RequestTrace {
  const served = attemptTrace();
  return {
    id: '019b7600-0000-7000-8000-000000000001',
    clientRequestId: 'client-1',
    startedAtMs: traceStartMs,
    tier: 'fast',
    configVersion: 3,
    clientProtocol: 'openai-chat',
    requestedModel: 'fast',
    isStream: false,
    serving: served,
    reportedModel: 'large-2025-08-07',
    outcome: 'served',
    failure: null,
    status: 200,
    attempts: [served],
    failoverCount: 0,
    isFailedOver: false,
    skipped: [],
    recovery: 'none',
    seams: [],
    malformedEvents: 0,
    deadlineMs: 120_000,
    backoffMs: 0,
    ttftMs: null,
    latencyMs: 14.2,
    upstreamMs: 12.6,
    usage: served.usage,
    finishReason: 'stop',
    rawFinishReason: 'stop',
    dropped: [],
    clientRetryCount: 0,
    evalRun: null,
    runId: null,
    session: null,
    tags: {},
    keyId: null,
    ...parts,
  };
}
