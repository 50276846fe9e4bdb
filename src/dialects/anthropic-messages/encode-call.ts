/** One call as a Messages body. The same request gives the same bytes. */
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { thinkingLimits } from '../claude-thinking.ts';
import { traitsOf } from '../claude-traits.ts';
import type { EncodedCall, RequestFault, SystemSplice, UpstreamCall } from '../dialect.ts';
import { encodeJson } from '../exact-json.ts';
import { withExtraFields } from '../extra-fields.ts';
import { limitFault } from '../foreign-request.ts';
import { arrangeTurns, type Conversation } from '../turns.ts';
import { editBody } from './edit-body.ts';
import { encodeMessages, textBlock } from './encode-messages.ts';
import { encodeParameters } from './encode-parameters.ts';
import { encodeTools, toolName } from './encode-tools.ts';
import { withoutRefusedThinking } from './refused-thinking.ts';
import { withoutOthersThoughts } from './thinking-origin.ts';
import { dialectName, type WireTextBlock } from './wire.ts';

export function encodeCall(given: UpstreamCall): Result<EncodedCall, RequestFault> {
  const { request } = given;
  if (request.original.dialect === dialectName) return editBody(given);
  const fault = limitFault(given);
  if (fault !== null) return fail(fault);
  const conversation = arrangeTurns(
    withoutOthersThoughts(request.messages, given.model),
    dialectName,
  );
  if (!conversation.ok) return conversation;
  const dropped = new Set<string>();
  const limits = thinkingLimits(given, conversation.value);
  const call = withoutRefusedThinking(given, limits, dropped);
  const traits = traitsOf(call.model);
  const takesPrefill = traits.takesPrefill || call.isToBeContinued === true;
  const messages = encodeMessages(conversation.value.turns, { takesPrefill, toolName }, dropped);
  if (!messages.ok) return messages;
  const tools = encodeTools(call, traits.takesOutputSchema, dropped);
  if (!tools.ok) return tools;
  const { fields, instruction } = encodeParameters(call, limits, dropped);
  const system = systemBlocks(call.system, conversation.value, instruction, dropped);
  if (conversation.value.hasNames) dropped.add('name');
  if (conversation.value.lostReasoning) dropped.add('reasoning');
  for (const field of request.otherFields) dropped.add(field);
  const body: JsonObject = {
    model: call.model,
    ...fields,
    ...(system.length > 0 ? { system } : {}),
    messages: messages.value,
    ...tools.value,
    ...(call.isStream ? { stream: true } : {}),
  };
  const text = encodeJson(withExtraFields(body, call.extraFields));
  if (!text.ok) return fail({ message: `The request is ${text.fault}.`, param: null });
  return success({ body: text.value, dropped: [...dropped] });
}

function systemBlocks(
  splice: SystemSplice | null,
  { system }: Conversation,
  instruction: string | null,
  dropped: Set<string>,
): readonly WireTextBlock[] {
  const own = (text: string | null): WireTextBlock[] =>
    text === null || text.trim() === '' ? [] : [{ type: 'text', text }];
  return [
    ...own(splice?.before ?? null),
    ...system.map((part) => textBlock(part, dropped)),
    ...own(splice?.after ?? null),
    ...own(instruction),
  ];
}
