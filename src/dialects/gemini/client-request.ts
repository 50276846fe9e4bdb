/** A client's body, read into the canonical request. Checks by hand: a schema library would cost more than all the rest. */
import type { JsonObject } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import { readClientBody, type ScannedBody } from '../client-body.ts';
import type { DecodedRequest, RequestFault } from '../dialect.ts';
import { FirstFault } from '../first-fault.ts';
import { memberAt } from '../json-spans.ts';
import { noteUnknown, toldNames } from '../unknown-fields.ts';
import type { ContentsReading } from './client-calls.ts';
import { ClientFields } from './client-fields.ts';
import { detailWord } from './client-media.ts';
import { readMessages } from './client-messages.ts';
import { readParameters } from './client-parameters.ts';
import { readThinking } from './client-thinking.ts';
import { readToolChoice, readTools } from './client-tools.ts';
import { PartBytes } from './part-bytes.ts';
import { camelCase } from './proto-names.ts';
import { dialectName } from './wire.ts';

/** `messageCount`: how many canonical messages the body itself holds; later ones the gateway has added. */
export type DecodedBody = ScannedBody & { readonly messageCount: number };

/** What the path says. `model` null: the body names it. */
export type AskedCall = { readonly model: string | null; readonly isStream: boolean };

/** Fields with a canonical place. */
const knownFields: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'serviceTier',
]);

/** As this dialect spells what would let a caller choose where we connect, or with whose key. */
const forbiddenFields = ['apiBase', 'baseUrl', 'apiKey', 'extraHeaders', 'httpOptions'] as const;

export function decodeRequest(
  bytes: Buffer,
  { model, isStream }: AskedCall,
): Result<DecodedRequest, RequestFault> {
  const faults = new FirstFault();
  const read = readClientBody(bytes, 'contents', faults);
  if (read === null) return fail(faultOf(faults));
  const { json, extension, fields, texts } = read;
  refuseForbidden(json, faults);
  const body = new ClientFields(json, faults, () => '');
  const notes = new Set<string>();
  const resolution = body.fieldsOf('generationConfig').value('mediaResolution');
  const reading: ContentsReading = {
    faults,
    texts,
    notes,
    opaqueParts: [],
    detail: detailWord(resolution, notes),
    bytes: new PartBytes(bytes, memberAt(fields, 'contents')),
  };
  const messages = readMessages(body, reading);
  const tools = readTools(body, reading);
  const toolChoice = readToolChoice(body, reading);
  const thinking = readThinking(body, notes);
  const parameters = readParameters(body, thinking, reading);
  const named = body.string('model') ?? '';
  if (faults.fault !== null) return fail(faults.fault);
  const original: DecodedBody = {
    dialect: dialectName,
    bytes,
    // In one spelling, so that whoever asks for a field finds it.
    json: inCamelCase(json),
    fields,
    messageCount: messages.length,
  };
  return success({
    extension,
    request: {
      model: model ?? named.replace(/^models\//, ''),
      messages,
      tools,
      providerTools: reading.opaqueParts,
      toolChoice,
      parameters,
      ...thinking.fields,
      isStream,
      includeUsage: true,
      otherFields: otherFields(json, notes),
      original,
    },
  });
}

function faultOf(faults: FirstFault): RequestFault {
  return faults.fault ?? { message: 'the body cannot be read', param: null };
}

function refuseForbidden(json: JsonObject, faults: FirstFault): void {
  for (const name of forbiddenFields) {
    if (!Object.hasOwn(json, name)) continue;
    faults.report(name, `${name} is not taken from a request: the gateway's configuration sets it`);
  }
}

function inCamelCase(json: JsonObject): JsonObject {
  const names = Object.keys(json);
  if (!names.some((name) => name.includes('_'))) return json;
  return Object.fromEntries(names.map((name) => [camelCase(name), json[name]] as const));
}

function otherFields(json: JsonObject, notes: ReadonlySet<string>): readonly string[] {
  const names = new Set<string>();
  noteUnknown(inCamelCase(json), knownFields, names);
  return toldNames(notes, [...names]);
}
