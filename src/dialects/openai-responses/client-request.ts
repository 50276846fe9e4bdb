/** A client's body, read into the canonical request. Checks by hand: a schema library would cost more than all the rest. */
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { readClientBody, type ScannedBody } from '../client-body.ts';
import type { DecodedRequest, RequestFault } from '../dialect.ts';
import { FirstFault } from '../first-fault.ts';
import { TypedFields } from '../typed-fields.ts';
import { noteUnknown, toldNames } from '../unknown-fields.ts';
import { type ItemReading, readMessages } from './client-items.ts';
import { keepOpaque } from './client-media.ts';
import { knownFormats, readParameters } from './client-parameters.ts';
import { readAccountState } from './client-state.ts';
import { readToolChoice, readTools } from './client-tools.ts';
import { dialectName, knownRequestFields } from './wire.ts';

/** `messageCount`: how many canonical messages the body itself holds; later ones the gateway has added. */
export type DecodedBody = ScannedBody & { readonly messageCount: number };

/** Fields of items, beside the usual ones, that may hold long texts. */
const contentFields = ['image_url', 'output'];

export function decodeRequest(body: Buffer): Result<DecodedRequest, RequestFault> {
  const faults = new FirstFault();
  const read = readClientBody(body, 'input', faults, contentFields);
  if (read === null || faults.fault !== null) return fail(faultOf(faults));
  const { json, extension, fields, texts } = read;
  const typed = new TypedFields(json, faults);
  const model = typed.string('model') ?? '';
  const isStream = typed.boolean('stream') ?? false;
  const state = readAccountState(json, faults);
  const reading: ItemReading = {
    faults,
    texts,
    isBound: state.isBound,
    opaqueItems: [],
    itemIds: new Set(),
    notes: new Set(),
  };
  const tools = readTools(json['tools'], reading);
  bindPrompt(json, reading);
  bindUnknownFormat(json, reading);
  requireInput(json, state.isBound, faults);
  const messages = readMessages(json, reading);
  const toolChoice = readToolChoice(json['tool_choice'], reading);
  const parameters = readParameters(json, faults);
  if (faults.fault !== null) return fail(faults.fault);
  const original: DecodedBody = {
    dialect: dialectName,
    bytes: body,
    json,
    fields,
    messageCount: messages.length,
  };
  return success({
    extension,
    request: {
      model,
      messages,
      tools,
      providerTools: reading.opaqueItems,
      toolChoice,
      parameters,
      isStream,
      // It comes with the last event, asked for or not.
      includeUsage: true,
      otherFields: otherFields(json, reading.notes),
      original,
      accountState: { ...state, itemIds: [...reading.itemIds] },
    },
  });
}

function faultOf(faults: FirstFault): RequestFault {
  return faults.fault ?? { message: 'the body cannot be read', param: null };
}

/** A template that lies with the provider says what is asked: no other dialect has it. */
function bindPrompt(json: JsonObject, reading: ItemReading): void {
  const { prompt } = json;
  if (isJsonObject(prompt)) {
    reading.opaqueItems.push({ dialect: dialectName, kind: 'prompt', raw: prompt });
  }
}

/** What a format not known here asks for is known to this dialect alone. */
function bindUnknownFormat(json: JsonObject, reading: ItemReading): void {
  const format = objectAt(objectAt(json, 'text'), 'format');
  const type = stringAt(format, 'type');
  if (format === null || type === null || knownFormats.includes(type)) return;
  keepOpaque('response_format', format, reading);
}

/** What is kept elsewhere, or a template, may be all there is to say. */
function requireInput(json: JsonObject, isBound: boolean, faults: FirstFault): void {
  const { input, prompt } = json;
  if (isBound || isJsonObject(prompt)) return;
  if (input === undefined || input === null) {
    faults.reportType('input', 'a string or an array of items', input);
  } else if (Array.isArray(input) && input.length === 0) {
    faults.report('input', 'input must hold at least one item');
  }
}

/** How it thinks, beyond how much: only services of this dialect know these. */
const thinkingDefaults = { mode: 'standard', context: 'auto' } as const;

function otherFields(json: JsonObject, notes: ReadonlySet<string>): readonly string[] {
  const names = new Set<string>();
  for (const [name, usual] of Object.entries(thinkingDefaults)) {
    const told = stringAt(objectAt(json, 'reasoning'), name);
    if (told !== null && told !== usual) names.add(`reasoning.${name}`);
  }
  const { truncation, ...others } = json;
  noteUnknown(truncation === 'disabled' ? others : json, knownRequestFields, names);
  return toldNames(notes, [...names]);
}
