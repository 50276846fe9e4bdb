/** Splices inside the `messages` of a client's own body. */
import { append } from '../../base/append.ts';
import { arrayAt, isJsonObject, type JsonObject, stringAt } from '../../base/json.ts';
import { type Result, success } from '../../base/result.ts';
import type { RequestFault, UpstreamCall } from '../dialect.ts';
import {
  type JsonContainer,
  type JsonMember,
  memberAt,
  removeMembers,
  type Splice,
  scanContainer,
  stringIn,
} from '../json-spans.ts';
import { encodeMessages } from './encode-messages.ts';
import { isForeignToolCallId, sendableToolCallId } from './tool-call-ids.ts';
import { reasoningFields, thinkingPart } from './wire.ts';

type Place = { readonly bytes: Buffer; readonly valueStart: number };

/**
 * The variant's system text, ids that may not be sent as they are, reasoning that any vendor may have
 * made (but for the `echoed` field or kind of part, which the server wants back), and the messages that
 * the gateway has added at the end of the client's own.
 */
export function editMessages(
  call: UpstreamCall,
  at: Place | null,
  echoed: string | null,
): Result<readonly Splice[], RequestFault> {
  if (at === null) return success([]);
  const messages = arrayAt(call.request.original.json, 'messages');
  const splices: Splice[] = [];
  addSystem(call, messages, at, splices);
  const changed = messages.flatMap((message, index) =>
    mustChange(message, echoed) ? [index] : [],
  );
  const addedMessages = call.request.messages.slice(messages.length);
  if (changed.length === 0 && addedMessages.length === 0) return success(splices);
  const elements = scanContainer(at.bytes, at.valueStart)?.members ?? [];
  for (const index of changed) {
    const element = elements[index];
    if (element !== undefined) changeMessage(at.bytes, element.valueStart, echoed, splices);
  }
  const last = elements.at(-1);
  if (addedMessages.length > 0 && last !== undefined) {
    const encoded = encodeMessages(addedMessages, {});
    if (!encoded.ok) return encoded;
    const text = encoded.value.map((message) => `,${JSON.stringify(message)}`).join('');
    splices.push({ start: last.end, end: last.end, text });
  }
  return success(splices);
}

function addSystem(
  { system }: UpstreamCall,
  messages: readonly unknown[],
  { bytes, valueStart }: Place,
  splices: Splice[],
): void {
  if (system === null) return;
  const found = messages.findIndex((message) => !isSystem(message));
  const leading = found === -1 ? messages.length : found;
  const first = valueStart + 1;
  if (system.before !== '') {
    splices.push({ start: first, end: first, text: `${systemText(system.before)},` });
  }
  if (system.after === '') return;
  const last = leading === 0 ? null : scanContainer(bytes, valueStart, leading)?.members.at(-1);
  if (last === null || last === undefined) {
    splices.push({ start: first, end: first, text: `${systemText(system.after)},` });
  } else splices.push({ start: last.end, end: last.end, text: `,${systemText(system.after)}` });
}

function isSystem(message: unknown): boolean {
  const role = stringAt(message, 'role');
  return role === 'system' || role === 'developer';
}

function systemText(text: string): string {
  return JSON.stringify({ role: 'system', content: text });
}

function mustChange(message: unknown, echoed: string | null): boolean {
  if (!isJsonObject(message)) return false;
  if (message['role'] === 'tool') {
    const id = message['tool_call_id'];
    return typeof id === 'string' && isForeignToolCallId(id);
  }
  if (message['role'] !== 'assistant') return false;
  if (holdsReasoning(message, echoed)) return true;
  return arrayAt(message, 'tool_calls').some((each) =>
    isForeignToolCallId(stringAt(each, 'id') ?? ''),
  );
}

function holdsReasoning(message: JsonObject, echoed: string | null): boolean {
  const isThere = (name: string): boolean => name !== echoed && Object.hasOwn(message, name);
  if (reasoningFields.some(isThere)) return true;
  if (echoed === thinkingPart) return false;
  return arrayAt(message, 'content').some((part) => stringAt(part, 'type') === thinkingPart);
}

function changeMessage(
  bytes: Buffer,
  openAt: number,
  echoed: string | null,
  splices: Splice[],
): void {
  const fields = scanContainer(bytes, openAt);
  if (fields === null) return;
  replaceId(bytes, fields, 'tool_call_id', splices);
  for (const toolCall of elementsOf(bytes, fields, 'tool_calls')) {
    const callFields = scanContainer(bytes, toolCall);
    if (callFields !== null) replaceId(bytes, callFields, 'id', splices);
  }
  const isOther = ({ key }: JsonMember): boolean => key !== echoed && reasoningFields.includes(key);
  append(splices, removeMembers(fields, isOther));
  if (echoed !== thinkingPart) removeThinking(bytes, fields, splices);
}

function elementsOf(bytes: Buffer, fields: JsonContainer, name: string): readonly number[] {
  const member = memberAt(fields, name);
  const list = member === null ? null : scanContainer(bytes, member.valueStart);
  return list?.members.map((element) => element.valueStart) ?? [];
}

function replaceId(bytes: Buffer, fields: JsonContainer, name: string, splices: Splice[]): void {
  const member = memberAt(fields, name);
  const id = stringIn(bytes, member);
  if (member === null || id === null || !isForeignToolCallId(id)) return;
  const text = JSON.stringify(sendableToolCallId(id));
  splices.push({ start: member.valueStart, end: member.end, text });
}

function removeThinking(bytes: Buffer, fields: JsonContainer, splices: Splice[]): void {
  const content = memberAt(fields, 'content');
  const parts = content === null ? null : scanContainer(bytes, content.valueStart);
  if (parts === null) return;
  splices.push(
    ...removeMembers(parts, (part) => {
      const type = memberAt(scanContainer(bytes, part.valueStart), 'type');
      return stringIn(bytes, type) === thinkingPart;
    }),
  );
}
