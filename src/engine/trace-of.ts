/** The record of a request, as of now, from its state. */
import { type Usage, unknownUsage } from '../chat/usage.ts';
import type { RequestRun } from './request-run.ts';
import type { RequestTrace } from './trace.ts';

/** `nowMs`: when the request ended, or now (monotonic ms). */
export function traceOf(run: RequestRun, nowMs: number): RequestTrace {
  const { request, serving } = run;
  const attempts = run.records.map((record) => record.trace());
  const servingTrace = attempts.at(serving === null ? -1 : run.records.indexOf(serving.record));
  return {
    id: request.id,
    clientRequestId: request.clientRequestId,
    startedAtMs: request.startedAtMs,
    tier: request.tier.name,
    configVersion: request.configVersion,
    clientProtocol: request.clientDialect,
    requestedModel: request.chat.model,
    isStream: request.chat.isStream,
    serving: servingTrace ?? null,
    reportedModel: serving?.tally.model ?? null,
    outcome: run.outcome,
    failure: run.failure,
    status: run.status,
    attempts,
    failoverCount: run.failovers,
    isFailedOver: serving !== null && serving.candidate.target.id !== request.tier.targets[0]?.id,
    skipped: run.skips,
    recovery: run.recovery,
    seams: run.continuation?.sent.seams ?? [],
    malformedEvents: run.continuation?.malformedEvents ?? serving?.tally.malformedEvents ?? 0,
    deadlineMs: request.deadlineAtMs - request.arrivedAtMs,
    backoffMs: run.backoffMs,
    ttftMs: run.ttftMs,
    latencyMs: nowMs - request.arrivedAtMs,
    upstreamMs: attempts.reduce((sum, { durationMs }) => sum + durationMs, 0),
    usage: usageOf(run) ?? servingTrace?.usage ?? unknownUsage,
    finishReason: serving?.tally.finish ?? null,
    rawFinishReason: serving?.tally.rawFinish ?? null,
    dropped: serving?.candidate.encoded?.dropped ?? [],
    clientRetryCount: request.clientRetryCount,
    refusedRetries: run.refusedRetries,
    evalRun: request.evalRun,
    runId: request.runId,
    session: request.session,
    tags: request.tags,
    keyId: request.keyId,
  };
}

function usageOf({ continuation, serving }: RequestRun): Usage | null {
  return continuation?.usage() ?? serving?.tally.usage ?? null;
}
