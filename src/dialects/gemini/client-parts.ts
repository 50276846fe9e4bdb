/** Parts of an answer for a client of this dialect. */
import type { JsonObject } from '../../base/json.ts';
import type { ToolCall } from '../../chat/reply.ts';
import type { FinishReason } from '../../chat/stream-event.ts';
import { encodeJson, parseToolArguments } from '../exact-json.ts';
import { writeFinish } from './finish-reasons.ts';
import { familyOf } from './model-family.ts';
import { decodeCallId } from './tool-call-ids.ts';

/**
 * A call as its part, `args` with its numbers as they were spelled. Null where the arguments are no
 * JSON object: the dialect has no form for such a call.
 */
export function callPart(call: ToolCall, model: string | null): JsonObject | null {
  const args = parseToolArguments(call.arguments);
  if (!args.ok || !encodeJson(args.value).ok) return null;
  const carried = decodeCallId(call.id, familyOf(model ?? ''));
  const id = carried === null ? call.id : carried.providerId;
  const signature = carried?.signature ?? null;
  return {
    functionCall: { ...(id === null ? {} : { id }), name: call.name, args: args.value },
    ...(signature === null ? {} : { thoughtSignature: signature }),
  };
}

export type CandidateEnd = {
  readonly reason: FinishReason;
  readonly raw: string | null;
  /** The choice held a refusal. */
  readonly isRefused: boolean;
  /** The name of a call that could not be written, or null. */
  readonly brokenCall: string | null;
};

/** The fields that end a candidate. A call cut off by the limit ended by the limit. */
export function finishFields(end: CandidateEnd): JsonObject {
  const { reason, raw, isRefused, brokenCall } = end;
  if (brokenCall !== null && reason !== 'length') {
    const name = brokenCall.length <= 80 ? brokenCall : `${brokenCall.slice(0, 79)}…`;
    return {
      finishReason: 'MALFORMED_FUNCTION_CALL',
      finishMessage: `Malformed function call: the arguments of ${name} are no JSON object.`,
    };
  }
  const told = isRefused && reason === 'stop' ? 'content_filter' : reason;
  return { finishReason: writeFinish(told, raw) };
}
