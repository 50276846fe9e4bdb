/** From a call's bytes and headers to what the engine is given: the stages that ask nobody, in order. */
import { fail, type Result, success } from '../base/result.ts';
import type { ChatRequest } from '../chat/request.ts';
import type { EngineRequest } from '../engine/engine-request.ts';
import type { Origins } from '../engine/origins.ts';
import { deadlineLengthMs } from '../resilience/deadline.ts';
import type { Tier } from '../routing/snapshot.ts';
import { bindToAccount } from './account-binding.ts';
import type { CallDraft } from './call-draft.ts';
import {
  invalidRequest,
  type Rejection,
  unknownPin,
  unknownTier,
  variablesMissing,
} from './rejection.ts';
import { type RequestOptions, readRequestOptions } from './request-options.ts';

/** Fills `draft` on the way, so that a rejection too is named by what was known. */
export function readRequest(draft: CallDraft, origins: Origins): Result<EngineRequest, Rejection> {
  const { call, snapshot } = draft;
  const decoded = call.dialect.decodeRequest(call.body);
  if (!decoded.ok) return fail(invalidRequest(decoded.fault));
  const chat = decoded.value.request;
  draft.adopt(chat);
  const read = readRequestOptions(call.headers, decoded.value.extension);
  if (!read.ok) return fail(invalidRequest(read.fault));
  const options = read.value;
  draft.adoptOptions(options);
  const name = call.tierInPath ?? chat.model;
  const tier = snapshot.resolveTier(name);
  if (tier === null) return fail(unknownTier(name, [...snapshot.tiers.keys()]));
  draft.tier = tier.name;
  const faults = tier.variableFaults(options.variables);
  if (faults.length > 0) return fail(variablesMissing(faults));
  if (options.pin !== null && !tier.targets.some(({ id }) => id === options.pin)) {
    return fail(
      unknownPin(
        options.pin,
        tier.targets.map(({ id }) => id),
      ),
    );
  }
  const bound = bindToAccount(chat.accountState, tier, origins);
  if (!bound.ok) return bound;
  return success({ ...engineRequestOf(draft, chat, options, tier), ...bound.value });
}

function engineRequestOf(
  draft: CallDraft,
  chat: ChatRequest,
  options: RequestOptions,
  tier: Tier,
): EngineRequest {
  const { call } = draft;
  const lengthMs = deadlineLengthMs({
    askedMs: options.deadlineMs,
    headers: call.headers,
    isStream: chat.isStream,
    tierDeadlineMs: tier.deadlineMs,
  });
  return {
    id: draft.id,
    clientRequestId: draft.clientRequestId,
    tier,
    configVersion: draft.snapshot.version,
    chat,
    clientDialect: call.dialect.name,
    operation: call.dialect.operation ?? null,
    variables: options.variables,
    pin: options.pin,
    isFailoverOff: options.isFailoverOff || options.isStrict,
    isStrict: options.isStrict,
    maxRetries: options.maxRetries,
    arrivedAtMs: call.arrivedAtMs,
    deadlineAtMs: call.arrivedAtMs + lengthMs,
    startedAtMs: draft.startedAtMs,
    headers: call.headers,
    clientRetryCount: draft.clientRetryCount,
    evalRun: options.evalRun,
    runId: options.runId,
    session: options.session,
    tags: options.tags,
    keyId: call.keyId,
    signal: call.signal,
  };
}
