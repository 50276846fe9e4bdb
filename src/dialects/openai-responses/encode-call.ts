/** One call in this dialect: the client's own bytes edited when it spoke the dialect, else built from the canonical request. */
import { isJsonObject, type JsonObject, property } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { ChatRequest, Message } from '../../chat/request.ts';
import type { EncodedCall, RequestFault, UpstreamCall } from '../dialect.ts';
import { encodeJson } from '../exact-json.ts';
import { withExtraFields } from '../extra-fields.ts';
import { limitFault } from '../foreign-request.ts';
import { openingText } from '../turns.ts';
import { editBody } from './edit-body.ts';
import { encodeMessages, systemItem } from './encode-messages.ts';
import { encodeParameters } from './encode-parameters.ts';
import { encodeTools } from './encode-tools.ts';
import { dialectName, type WireInputItem } from './wire.ts';

export function encodeCall(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  if (call.request.original.dialect === dialectName) return editBody(call);
  return buildBody(call);
}

function buildBody(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const { request } = call;
  const fault = limitFault(call);
  if (fault !== null) return fail(fault);
  const dropped = new Set<string>();
  const items = encodeMessages(request.messages, call, dropped);
  if (!items.ok) return items;
  const tools = encodeTools(call, dropped);
  if (!tools.ok) return tools;
  const leading = leadingSystem(request.messages);
  const fields = encodeParameters(call, dropped);
  const shared = sharedFields(request, dropped);
  // It stands there as a turn that was ended, not as one to go on with.
  if (request.messages.at(-1)?.role === 'assistant') dropped.add('prefill');
  const instructions = instructionsOf(call, request.messages.slice(0, leading));
  const body: JsonObject = {
    model: call.model,
    ...(instructions === '' ? {} : { instructions }),
    input: withJsonWord(someItems(items.value.slice(leading)), call),
    ...tools.value,
    ...withoutParallel(fields, request),
    ...shared,
    // Nothing here can refer to a stored answer later.
    store: false,
    ...(call.isStream ? { stream: true } : {}),
  };
  const text = encodeJson(withExtraFields(body, call.extraFields));
  if (!text.ok) return fail({ param: null, message: `the request is ${text.fault}` });
  return success({ body: text.value, dropped: [...dropped] });
}

/** How many system messages are told as instructions; some input there must be. Each is one item. */
function leadingSystem(messages: readonly Message[]): number {
  return Math.max(
    0,
    messages.findIndex(({ role }) => role !== 'system'),
  );
}

/** The variant's text around the leading system messages. */
function instructionsOf({ system }: UpstreamCall, leading: readonly Message[]): string {
  const own = leading.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  );
  const texts = [system?.before ?? '', ...own, system?.after ?? ''];
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}

/** A conversation in which nothing was said. */
function someItems(items: readonly WireInputItem[]): readonly WireInputItem[] {
  if (items.length > 0) return items;
  const content = [{ type: 'input_text', text: openingText }] as const;
  return [{ type: 'message', role: 'user', content }];
}

const jsonWord = 'Answer with a single valid JSON object.';

/** A JSON answer without a schema is refused unless the input speaks of JSON. */
function withJsonWord(
  items: readonly WireInputItem[],
  { parameters }: UpstreamCall,
): readonly WireInputItem[] {
  if (parameters.response_format?.type !== 'json_object') return items;
  const written = encodeJson(items);
  if (written.ok && /json/i.test(written.value)) return items;
  return [systemItem(jsonWord), ...items];
}

/** The field is refused where there are no tools. */
function withoutParallel(fields: JsonObject, { tools }: ChatRequest): JsonObject {
  if (tools.length > 0) return fields;
  const { parallel_tool_calls: _, ...rest } = fields;
  return rest;
}

/** Fields that only tune and that the vendor's other API gives the same name and form. */
const sharedNames: { readonly [name: string]: (value: unknown) => boolean } = {
  metadata: isMetadata,
  prompt_cache_key: (value) => typeof value === 'string',
  prompt_cache_retention: (value) => typeof value === 'string',
};

function isMetadata(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** What of the client's other fields goes on; the names of the rest are dropped. */
function sharedFields({ otherFields, original }: ChatRequest, dropped: Set<string>): JsonObject {
  const shared: Record<string, unknown> = {};
  for (const name of otherFields) {
    const value = property(original.json, name);
    const isShared = Object.hasOwn(sharedNames, name) && sharedNames[name]?.(value) === true;
    if (isShared) shared[name] = value;
    else if (name !== 'store' || value !== false) dropped.add(name);
  }
  return shared;
}
