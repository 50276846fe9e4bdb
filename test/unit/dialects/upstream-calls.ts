/** Calls made of the bodies that clients of openai-chat send, as the engine makes them. */
import type { ChatParameters } from '../../../src/chat/request.ts';
import type {
  ClientDialect,
  UpstreamCall,
  UpstreamDialect,
} from '../../../src/dialects/dialect.ts';
import { openaiChatClient } from '../../../src/dialects/openai-chat/client.ts';

export type Json = { readonly [key: string]: unknown };

export function callOf(body: Json, overrides: Partial<UpstreamCall> = {}): UpstreamCall {
  return callIn(openaiChatClient, JSON.stringify({ model: 'fast', ...body }), overrides);
}

/** The same of the very text that a client of `dialect` sends. */
export function callIn(
  dialect: ClientDialect,
  text: string,
  overrides: Partial<UpstreamCall> = {},
): UpstreamCall {
  const decoded = dialect.decodeRequest(Buffer.from(text));
  if (!decoded.ok) throw new Error(`${decoded.fault.param}: ${decoded.fault.message}`);
  const { request } = decoded.value;
  return {
    request,
    model: 'claude-sonnet-4-5',
    isStream: request.isStream,
    system: null,
    parameters: request.parameters,
    ownedParameters: [],
    extraFields: {},
    toolDescriptions: {},
    maxOutputTokens: null,
    isReasoningModel: false,
    ...overrides,
  };
}

/** The same call with parameters that the gateway set. */
export function owning(call: UpstreamCall, owned: Partial<ChatParameters>): UpstreamCall {
  return {
    ...call,
    parameters: { ...call.parameters, ...owned },
    ownedParameters: Object.keys(owned) as (keyof ChatParameters)[],
  };
}

export type Sent = {
  readonly body: Json;
  readonly text: string;
  readonly dropped: readonly string[];
  /** The value at a path into the body, such as `messages.0.content`. */
  readonly at: (path: string) => unknown;
};

export function sent(dialect: UpstreamDialect, call: UpstreamCall): Sent {
  const encoded = dialect.encodeCall(call);
  if (!encoded.ok) throw new Error(`${encoded.fault.param}: ${encoded.fault.message}`);
  const text = encoded.value.body.toString();
  const body: Json = JSON.parse(text);
  return { body, text, dropped: encoded.value.dropped, at: (path) => valueAt(body, path) };
}

export function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((found, key) => (found as Json | undefined)?.[key], value);
}

export function faultOf(
  dialect: UpstreamDialect,
  call: UpstreamCall,
): { message: string; param: string | null } {
  const encoded = dialect.encodeCall(call);
  if (encoded.ok) throw new Error('encoded');
  return encoded.fault;
}

export function user(content: unknown): Json {
  return { role: 'user', content };
}

export function toolCall(id: string, name: string, text: string): Json {
  return { id, type: 'function', function: { name, arguments: text } };
}

export function calls(...all: readonly Json[]): Json {
  return { role: 'assistant', content: null, tool_calls: all };
}

export function result(id: string, content: unknown): Json {
  return { role: 'tool', tool_call_id: id, content };
}

export function tool(name: string, parameters?: Json, rest: Json = {}): Json {
  const schema = parameters === undefined ? {} : { parameters };
  return { type: 'function', function: { name, description: `${name}.`, ...schema, ...rest } };
}
