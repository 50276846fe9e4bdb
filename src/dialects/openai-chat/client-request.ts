/** A client's body, read into the canonical request. Checks by hand: a schema library would cost more than all the rest. */
import { isUtf8 } from 'node:buffer';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { OriginalBody, ProviderTool } from '../../chat/request.ts';
import { DeferredTexts } from '../deferred-texts.ts';
import type { DecodedRequest, RequestFault } from '../dialect.ts';
import { FirstFault } from '../first-fault.ts';
import {
  isNestedTooDeeply,
  type JsonContainer,
  type JsonMember,
  jsonDepthMax,
  type LongStrings,
  memberAt,
  scanJson,
} from '../json-spans.ts';
import { readMessages } from './client-messages.ts';
import { readParameters } from './client-parameters.ts';
import { readToolChoice, readTools } from './client-tools.ts';
import {
  bindingRequestFields,
  dialectName,
  forbiddenRequestFields,
  knownRequestFields,
} from './wire.ts';

/** The original body with the places of its top-level fields, found while its depth was checked. */
export type ScannedBody = OriginalBody & { readonly fields: JsonContainer };

/** Smaller bodies are parsed whole: that is cheap, and every string in them is checked. */
const deferringBytesMin = 4096;
const otherFieldsMax = 64;
const plainFieldName = /^[\w.-]{1,64}$/;

export function decodeRequest(body: Buffer): Result<DecodedRequest, RequestFault> {
  const faults = new FirstFault();
  const scanned = parseBody(body, faults);
  if (scanned === null) return fail(faultOf(faults));
  const { json, fields, texts } = scanned;
  for (const name of forbiddenRequestFields) {
    if (Object.hasOwn(json, name)) {
      faults.report(
        name,
        `${name} is not taken from a request: the gateway's configuration sets it`,
      );
    }
  }
  const extension = readExtension(json, faults);
  const model = readModel(json, faults);
  const read = readMessages(json['messages'], faults, texts);
  const tools = readTools(json['tools'], faults);
  const toolChoice = readToolChoice(json['tool_choice'], faults);
  const parameters = readParameters(json, faults);
  const isStream = readFlag(json, 'stream', faults);
  const includeUsage = readIncludeUsage(json['stream_options'], isStream, faults);
  if (faults.fault !== null) return fail(faults.fault);
  const original: ScannedBody = {
    dialect: dialectName,
    bytes: body,
    json: withoutExtension(json),
    fields,
  };
  return success({
    extension,
    request: {
      model,
      messages: read.messages,
      tools: tools.tools,
      providerTools: [...tools.providerTools, ...read.opaqueParts, ...bindingFields(json)],
      toolChoice,
      parameters,
      isStream,
      includeUsage,
      otherFields: otherFields(json),
      original,
    },
  });
}

type ParsedBody = {
  readonly json: JsonObject;
  readonly fields: JsonContainer;
  readonly texts: DeferredTexts | null;
};

function parseBody(body: Buffer, faults: FirstFault): ParsedBody | null {
  if (!isUtf8(body)) {
    faults.report(null, 'the body is not valid UTF-8');
    return null;
  }
  const longStrings: LongStrings = { places: [] };
  const fields = scanJson(body, longStrings);
  if (fields === null && isNestedTooDeeply(body)) {
    faults.report(null, `the body is nested deeper than ${jsonDepthMax} levels`);
    return null;
  }
  const { text, texts } = textToParse(body, longStrings, memberAt(fields, 'messages'));
  const parsed = parseJson(text);
  if (!parsed.ok) {
    // Without the texts put off the place of the fault would be another one.
    const told = texts === null ? parsed : parseJson(body.toString('utf8'));
    faults.report(null, `the body is no JSON: ${told.ok ? parsed.fault : told.fault}`);
    return null;
  }
  if (!isJsonObject(parsed.value) || fields === null) {
    faults.report(null, 'the body must be a JSON object');
    return null;
  }
  return { json: parsed.value, fields, texts };
}

function textToParse(
  body: Buffer,
  { places }: LongStrings,
  messages: JsonMember | null,
): { readonly text: string; readonly texts: DeferredTexts | null } {
  if (body.length < deferringBytesMin || messages === null || places.length === 0) {
    return { text: body.toString('utf8'), texts: null };
  }
  return DeferredTexts.takeFrom(body, places, messages);
}

function faultOf(faults: FirstFault): RequestFault {
  return faults.fault ?? { message: 'the body cannot be read', param: null };
}

function readExtension(json: JsonObject, faults: FirstFault): JsonObject | null {
  const extension = json['tiergate'];
  if (extension === undefined || extension === null) return null;
  if (isJsonObject(extension)) return extension;
  faults.reportType('tiergate', 'an object', extension);
  return null;
}

function withoutExtension(json: JsonObject): JsonObject {
  if (!Object.hasOwn(json, 'tiergate')) return json;
  const { tiergate: _, ...rest } = json;
  return rest;
}

function readModel(json: JsonObject, faults: FirstFault): string {
  const model = json['model'];
  if (typeof model === 'string') return model;
  if (model !== undefined && model !== null) faults.reportType('model', 'a string', model);
  return '';
}

function readFlag(json: JsonObject, name: string, faults: FirstFault): boolean {
  const value = json[name];
  if (value === true) return true;
  if (value !== false && value !== undefined && value !== null) {
    faults.reportType(name, 'true or false', value);
  }
  return false;
}

function readIncludeUsage(options: unknown, isStream: boolean, faults: FirstFault): boolean {
  if (options === undefined || options === null) return false;
  if (!isJsonObject(options)) {
    faults.reportType('stream_options', 'an object', options);
    return false;
  }
  if (!isStream) {
    faults.report('stream_options', 'stream_options is only allowed when stream is true');
  }
  const wanted = options['include_usage'];
  if (wanted !== undefined && wanted !== null && typeof wanted !== 'boolean') {
    faults.reportType('stream_options.include_usage', 'true or false', wanted);
  }
  return wanted === true;
}

/** What another dialect cannot carry and may not leave out: kept as an opaque tool of this one. */
function bindingFields(json: JsonObject): readonly ProviderTool[] {
  const found: ProviderTool[] = [];
  for (const kind of bindingRequestFields) {
    const value = json[kind];
    if (value === undefined || value === null) continue;
    if (kind === 'modalities' && Array.isArray(value) && value.every((name) => name === 'text')) {
      continue;
    }
    found.push({ dialect: dialectName, kind, raw: { [kind]: value } });
  }
  return found;
}

const bindingNames: ReadonlySet<string> = new Set(bindingRequestFields);

/** Names go into a header when dropped: only plain ones are told as they are. */
function otherFields(json: JsonObject): readonly string[] {
  const names: string[] = [];
  for (const name of Object.keys(json)) {
    if (knownRequestFields.has(name) || bindingNames.has(name)) continue;
    if (names.length >= otherFieldsMax) break;
    names.push(plainFieldName.test(name) ? name : 'other');
  }
  return names;
}
