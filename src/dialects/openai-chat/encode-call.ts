/** One call in this dialect: the client's own bytes edited when it spoke the dialect, else built from the canonical request. */
import { fail, type Result, success } from '../../base/result.ts';
import type { ChatParameters, Message } from '../../chat/request.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { encodeJson } from '../exact-json.ts';
import { limitFault } from '../foreign-request.ts';
import { outputLimit } from '../output-limit.ts';
import { isStrictSchema } from '../strict-schema.ts';
import { isThinkingOpen, openEffort } from '../thinking-budget.ts';
import { openingText } from '../turns.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { editBody } from './edit-body.ts';
import { encodeMessages } from './encode-messages.ts';
import { fieldOf, type ParameterName, refusedSampling, wireValueOf } from './encode-parameters.ts';
import { encodeTools } from './encode-tools.ts';
import { fitBody, needsFitting } from './fit-body.ts';
import { isEchoed } from './reasoning-echo.ts';
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
  const fault = limitFault(call);
  if (fault !== null) return fail(fault);
  const dropped = new Set(request.otherFields);
  const messages = encodeMessages(request.messages, quirks);
  if (!messages.ok) return messages;
  const tools = encodeTools(call, quirks, dropped);
  if (!tools.ok) return tools;
  const body = {
    ...call.extraFields,
    model: call.model,
    messages: withSystem(withJsonWord(opened(messages.value), call), call),
    ...tools.value,
    ...parameterFields(call, quirks, dropped),
    ...(call.isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
  const text = encodeJson(body);
  if (!text.ok) return fail({ param: null, message: `the request is ${text.fault}` });
  if (request.messages.some((message) => losesReasoning(message, quirks))) dropped.add('reasoning');
  if (request.messages.at(-1)?.role === 'assistant') dropped.add('prefill');
  return success({ body: text.value, dropped: [...dropped] });
}

const jsonWord = 'Answer with a single valid JSON object.';

/** A JSON answer without a schema is refused unless the messages speak of JSON. */
function withJsonWord(
  messages: readonly WireMessage[],
  { parameters }: UpstreamCall,
): readonly WireMessage[] {
  if (parameters.response_format?.type !== 'json_object') return messages;
  const written = encodeJson(messages);
  if (written.ok && /json/i.test(written.value)) return messages;
  return [{ role: 'system', content: jsonWord }, ...messages];
}

/** Which no other vendor is shown. */
function losesReasoning(message: Message, quirks: ChatQuirks): boolean {
  if (message.role !== 'assistant') return false;
  return message.content.some(
    (part) => part.type === 'reasoning' && !isEchoed(part, message, quirks),
  );
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
  dropped: Set<string>,
): { readonly [name: string]: unknown } {
  const fields: Record<string, unknown> = {};
  const max_tokens = outputLimit(call, dropped);
  const given = { ...call.parameters, max_tokens };
  const parameters = withEffort(withFittingStrictness(given, dropped), call, dropped);
  for (const name of Object.keys(parameters) as ParameterName[]) {
    const value = wireValueOf(name, parameters);
    if (value === undefined) continue;
    if (call.ownedParameters.includes(name) || isCarried(name, value, call, quirks)) {
      fields[fieldOf(name, call.isReasoningModel)] = value;
    } else dropped.add(name);
  }
  return fields;
}

/** A schema that is not one of strict mode would be refused. */
function withFittingStrictness(parameters: ChatParameters, dropped: Set<string>): ChatParameters {
  const format = parameters.response_format;
  if (format?.type !== 'json_schema' || format.strict !== true) return parameters;
  if (isStrictSchema(format.schema)) return parameters;
  dropped.add('response_format.strict');
  return { ...parameters, response_format: { ...format, strict: null } };
}

function withEffort(
  parameters: ChatParameters,
  call: UpstreamCall,
  dropped: Set<string>,
): ChatParameters {
  if (!isThinkingOpen(call, dialectName)) return parameters;
  dropped.add('reasoning_effort');
  return { ...parameters, reasoning_effort: openEffort };
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
    case 'top_logprobs':
      return call.parameters.logprobs === true;
    default:
      return !call.isReasoningModel || !refusedSampling(quirks).has(name);
  }
}
