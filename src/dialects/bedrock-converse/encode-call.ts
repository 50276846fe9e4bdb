/** One call as a Converse body. The same request gives the same bytes. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { thinkingLimits } from '../claude-thinking.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { encodeJson } from '../exact-json.ts';
import { withExtraFields } from '../extra-fields.ts';
import { limitFault } from '../foreign-request.ts';
import { arrangeTurns, type Conversation } from '../turns.ts';
import { requestMark, withRequestPoint } from './cache-points.ts';
import { DocumentNames } from './document-names.ts';
import { type MediaContext, textBlocks } from './encode-media.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeParameters } from './encode-parameters.ts';
import { encodeTools } from './encode-tools.ts';
import { traitsOf } from './model-traits.ts';
import { ownReasoning } from './reasoning-origin.ts';
import { dialectName, type WireBlock } from './wire.ts';

export function encodeCall(given: UpstreamCall): Result<EncodedCall, RequestFault> {
  const fault = limitFault(given);
  if (fault !== null) return fail(fault);
  const own = ownReasoning(given);
  const conversation = arrangeTurns(own, dialectName);
  if (!conversation.ok) return conversation;
  const { turns } = conversation.value;
  const dropped = new Set<string>();
  const traits = traitsOf(given.model);
  const limits = thinkingLimits(given, conversation.value);
  const isThinkingRefused = limits.isForced || limits.isInToolLoop || limits.isPrefilled;
  const call = isThinkingRefused ? withoutThinking(given, dropped) : given;
  if (!traits.takesStop && (call.parameters.stop ?? []).length > 0) return fail(noStops);
  const context: MediaContext = { traits, names: new DocumentNames(), dropped };
  const messages = encodeMessages(turns, context);
  if (!messages.ok) return messages;
  const tools = encodeTools(call, turns, traits, dropped);
  if (!tools.ok) return tools;
  const { fields, instruction } = encodeParameters(call, { traits, limits }, dropped);
  const system = systemBlocks(call, conversation.value, instruction, context);
  if (conversation.value.hasNames) dropped.add('name');
  const isReasoningLost = conversation.value.lostReasoning || own !== given.request.messages;
  if (isReasoningLost) dropped.add('reasoning');
  if (limits.isPrefilled && !traits.takesPrefill) dropped.add('prefill');
  // A mark that finds no place is named where it stands.
  const mark = requestMark(call.request);
  const { otherFields, original } = call.request;
  const isUnread = mark === null && Object.hasOwn(original.json, 'cache_control');
  for (const field of otherFields) {
    if (field !== 'cache_control' || isUnread) dropped.add(field);
  }
  const others = [...system, ...arrayAt(objectAt(tools.value, 'toolConfig'), 'tools')];
  const marking = { others, traits, dropped };
  const body: JsonObject = {
    ...(system.length > 0 ? { system } : {}),
    messages: mark === null ? messages.value : withRequestPoint(messages.value, mark, marking),
    ...tools.value,
    ...fields,
  };
  const text = encodeJson(withExtraFields(body, call.extraFields));
  if (!text.ok) return fail({ message: `The request is ${text.fault}.`, param: null });
  return success({ body: text.value, dropped: [...dropped] });
}

const noStops: RequestFault = {
  message: "This target's model takes no stop sequences.",
  param: 'stop',
};

function systemBlocks(
  { system: splice }: UpstreamCall,
  { system }: Conversation,
  instruction: string | null,
  context: MediaContext,
): readonly WireBlock[] {
  const own = (text: string | null): readonly WireBlock[] =>
    text === null || text.trim() === '' ? [] : [{ text }];
  return [
    ...own(splice?.before ?? null),
    ...system.flatMap((part) => textBlocks(part, context)),
    ...own(splice?.after ?? null),
    ...own(instruction),
  ];
}

const modelFields = 'additionalModelRequestFields';

/** Thinking that a target's own settings ask for gives way where the service would refuse the call for it. */
function withoutThinking(call: UpstreamCall, dropped: Set<string>): UpstreamCall {
  const set = call.extraFields[modelFields];
  if (!isJsonObject(set) || stringAt(set['thinking'], 'type') !== 'enabled') return call;
  const { thinking: _, ...rest } = set;
  dropped.add('thinking');
  return { ...call, extraFields: { ...call.extraFields, [modelFields]: rest } };
}
