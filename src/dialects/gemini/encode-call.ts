/** One call as a generateContent body. The same request gives the same bytes. */
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { encodeJson } from '../exact-json.ts';
import { withExtraFields } from '../extra-fields.ts';
import { limitFault } from '../foreign-request.ts';
import { arrangeTurns, type Conversation } from '../turns.ts';
import { editBody } from './edit-body.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeParameters } from './encode-parameters.ts';
import { encodeTools } from './encode-tools.ts';
import { familyOf } from './model-family.ts';
import { dialectName } from './wire.ts';

export function encodeCall(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const { request } = call;
  if (request.original.dialect === dialectName) return editBody(call);
  const fault = limitFault(call);
  if (fault !== null) return fail(fault);
  const conversation = arrangeTurns(request.messages, dialectName);
  if (!conversation.ok) return conversation;
  const dropped = new Set<string>();
  const contents = encodeMessages(conversation.value.turns, familyOf(call.model), dropped);
  if (!contents.ok) return contents;
  const tools = encodeTools(call, dropped);
  if (!tools.ok) return tools;
  const offersTools = tools.value.tools !== undefined;
  const parameters = encodeParameters(call, offersTools, dropped);
  const { generationConfig, serviceTier } = parameters;
  const system = systemText(call, conversation.value, parameters.instruction, dropped);
  if (conversation.value.hasNames) dropped.add('name');
  // It stands there as a turn that was ended, not as one to go on with.
  if (request.messages.at(-1)?.role === 'assistant') dropped.add('prefill');
  if (conversation.value.lostReasoning) dropped.add('reasoning');
  for (const field of request.otherFields) dropped.add(field);
  const body: JsonObject = {
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: contents.value,
    ...tools.value,
    ...(Object.keys(generationConfig).length > 0 ? { generationConfig } : {}),
    ...(serviceTier === null ? {} : { serviceTier }),
  };
  const text = encodeJson(withExtraFields(body, call.extraFields));
  if (!text.ok) return fail({ message: `The request is ${text.fault}.`, param: null });
  return success({ body: text.value, dropped: [...dropped] });
}

function systemText(
  { system: splice }: UpstreamCall,
  { system }: Conversation,
  instruction: string | null,
  dropped: Set<string>,
): string {
  if (system.some((part) => part.cacheControl !== undefined)) dropped.add('cache_control');
  const texts = [
    splice?.before ?? '',
    ...system.map((part) => part.text),
    splice?.after ?? '',
    instruction ?? '',
  ];
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}
