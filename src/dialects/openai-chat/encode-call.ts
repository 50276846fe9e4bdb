/** One call in this dialect: the client's own bytes edited when it spoke the dialect, else built from the canonical request. */
import { fail, type Result, success } from '../../base/result.ts';
import type { Message } from '../../chat/request.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { encodeJson } from '../exact-json.ts';
import { openingText } from '../turns.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { editBody } from './edit-body.ts';
import { encodeMessages } from './encode-messages.ts';
import { fieldOf, type ParameterName, refusedSampling, wireValueOf } from './encode-parameters.ts';
import { encodeToolChoice, encodeTools } from './encode-tools.ts';
import { fitBody, needsFitting } from './fit-body.ts';
import { dialectName, type WireMessage } from './wire.ts';

export function encodeCall(
  call: UpstreamCall,
  quirks: ChatQuirks = {},
): Result<EncodedCall, RequestFault> {
  const isOwn = call.request.original.dialect === dialectName;
  const encoded = isOwn ? editBody(call, quirks) : buildBody(call, quirks);
  if (!encoded.ok || !needsFitting(call, quirks)) return encoded;
  return success(fitBody(encoded.value, call, quirks));
}

function buildBody(call: UpstreamCall, quirks: ChatQuirks): Result<EncodedCall, RequestFault> {
  const { request } = call;
  const messages = encodeMessages(request.messages);
  if (!messages.ok) return messages;
  const { fields, dropped } = parameterFields(call, quirks);
  const body = {
    ...call.extraFields,
    model: call.model,
    messages: withSystem(opened(messages.value), call),
    ...(request.tools.length === 0
      ? {}
      : { tools: encodeTools(request.tools, call.toolDescriptions) }),
    ...(request.toolChoice === null || request.tools.length === 0
      ? {}
      : { tool_choice: encodeToolChoice(request.toolChoice) }),
    ...fields,
    ...(call.isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
  const text = encodeJson(body);
  if (!text.ok) return fail({ param: null, message: `the request is ${text.fault}` });
  const lost = [
    ...(request.messages.some(hasReasoning) ? ['reasoning'] : []),
    ...(request.messages.at(-1)?.role === 'assistant' ? ['prefill'] : []),
  ];
  return success({ body: text.value, dropped: [...request.otherFields, ...dropped, ...lost] });
}

/** Which no other vendor is shown. */
function hasReasoning({ role, content }: Message): boolean {
  return role === 'assistant' && content.some(({ type }) => type === 'reasoning');
}

/** The service refuses a conversation of nothing. */
function opened(messages: readonly WireMessage[]): readonly WireMessage[] {
  return messages.length > 0 ? messages : [{ role: 'user', content: openingText }];
}

/** The variant's text around the leading system messages. */
function withSystem(messages: readonly WireMessage[], call: UpstreamCall): readonly WireMessage[] {
  if (call.system === null) return messages;
  const { before, after } = call.system;
  const found = messages.findIndex((message) => message.role !== 'system');
  const leading = found === -1 ? messages.length : found;
  return [
    ...systemMessage(before),
    ...messages.slice(0, leading),
    ...systemMessage(after),
    ...messages.slice(leading),
  ];
}

function systemMessage(text: string): readonly WireMessage[] {
  return text === '' ? [] : [{ role: 'system', content: text }];
}

const ownServiceTiers: readonly string[] = ['auto', 'default', 'flex', 'scale', 'priority', 'fast'];

function parameterFields(
  call: UpstreamCall,
  quirks: ChatQuirks,
): {
  readonly fields: { readonly [name: string]: unknown };
  readonly dropped: readonly string[];
} {
  const fields: Record<string, unknown> = {};
  const dropped: string[] = [];
  for (const name of Object.keys(call.parameters) as ParameterName[]) {
    const value = wireValueOf(name, call.parameters);
    if (value === undefined) continue;
    if (call.ownedParameters.includes(name) || isCarried(name, value, call, quirks)) {
      fields[fieldOf(name, call.isReasoningModel)] = value;
    } else dropped.push(name);
  }
  return { fields, dropped };
}

/** Whether a field that the client set in another dialect means something to this target. */
function isCarried(
  name: ParameterName,
  value: unknown,
  call: UpstreamCall,
  quirks: ChatQuirks,
): boolean {
  if (quirks.carriedParameters?.includes(name)) return true;
  switch (name) {
    case 'top_k':
      return false;
    case 'service_tier':
      return (quirks.serviceTiers ?? ownServiceTiers).includes(String(value));
    case 'reasoning_effort':
      return call.isReasoningModel;
    case 'parallel_tool_calls':
      return call.request.tools.length > 0;
    default:
      return !call.isReasoningModel || !refusedSampling(quirks).has(name);
  }
}
