/** A client's body, read into the canonical request. Checks by hand: a schema library would cost more than all the rest. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { readClientBody, type ScannedBody } from '../client-body.ts';
import type { DecodedRequest, RequestFault } from '../dialect.ts';
import { FirstFault } from '../first-fault.ts';
import { memberAt } from '../json-spans.ts';
import { TypedFields } from '../typed-fields.ts';
import { noteUnknown, toldNames } from '../unknown-fields.ts';
import { readMessages } from './client-messages.ts';
import { readBudget, readParameters } from './client-parameters.ts';
import { readToolChoice, readTools } from './client-tools.ts';
import type { TurnReading } from './client-turns.ts';
import { ToolInputs } from './tool-inputs.ts';
import { dialectName, knownRequestFields } from './wire.ts';

/** `messageCount`: how many canonical messages the body itself holds; later ones the gateway has added. */
export type DecodedBody = ScannedBody & { readonly messageCount: number };

export function decodeRequest(body: Buffer): Result<DecodedRequest, RequestFault> {
  const faults = new FirstFault();
  const read = readClientBody(body, 'messages', faults);
  if (read === null || faults.fault !== null) return fail(faultOf(faults));
  const { json, extension, fields, texts } = read;
  if (json['thread'] !== undefined && json['thread'] !== null) return fail(storedThread);
  const typed = new TypedFields(json, faults);
  const model = typed.string('model') ?? '';
  const isStream = typed.boolean('stream') ?? false;
  const inputs = new ToolInputs(body, memberAt(fields, 'messages'));
  const reading: TurnReading = { faults, texts, inputs, opaqueParts: [], notes: new Set() };
  const messages = readMessages(json, reading);
  const tools = readTools(json['tools'], reading);
  const { choice, isParallel } = readToolChoice(json['tool_choice'], faults);
  const parameters = readParameters(json, isParallel, faults);
  if (faults.fault !== null) return fail(faults.fault);
  const original: DecodedBody = {
    dialect: dialectName,
    bytes: body,
    json,
    fields,
    messageCount: messages.length,
  };
  const thinkingBudget = readBudget(json);
  return success({
    extension,
    request: {
      model,
      messages,
      tools,
      providerTools: reading.opaqueParts,
      toolChoice: choice,
      parameters,
      ...(thinkingBudget === null ? {} : { thinkingBudget }),
      isStream,
      includeUsage: true,
      otherFields: otherFields(json, reading.notes),
      original,
    },
  });
}

/**
 * A conversation that a provider keeps cannot go on at another one. The SDK knows the code
 * (@anthropic-ai/sdk 1.14, 2026-11): its tool runner then sends the whole conversation with each turn.
 */
const storedThread: RequestFault = {
  message:
    'thread: this gateway keeps no conversations, since the next turn may be answered elsewhere. Send all messages with each request, without `thread`.',
  param: 'thread',
  details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
};

function faultOf(faults: FirstFault): RequestFault {
  return faults.fault ?? { message: 'the body cannot be read', param: null };
}

const knownOutputFields: ReadonlySet<string> = new Set(['effort', 'format']);

function otherFields(json: JsonObject, notes: ReadonlySet<string>): readonly string[] {
  const names = new Set<string>();
  noteUnknown(json, knownRequestFields, names);
  noteUnknown(objectAt(json, 'output_config') ?? {}, knownOutputFields, names, 'output_config.');
  // Thoughts are shown that the client would not have been sent.
  if (stringAt(objectAt(json, 'thinking'), 'display') === 'omitted') names.add('thinking.display');
  const told = [...names].map((name) =>
    name === 'context_management' ? contextFieldName(json[name]) : name,
  );
  return toldNames(notes, told);
}

/** Edits that only clear old thoughts and results save tokens; others change what the answer is. */
function contextFieldName(value: unknown): string {
  const edits = isJsonObject(value) ? arrayAt(value, 'edits') : [];
  const isClearing = edits.every((edit) => (stringAt(edit, 'type') ?? '').startsWith('clear_'));
  return isClearing ? 'context_management.edits' : 'context_management';
}
