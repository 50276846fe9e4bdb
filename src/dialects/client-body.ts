/** A client's JSON body before its dialect reads it: parsed, bounded in depth, our own extension cut out. */
import { isUtf8 } from 'node:buffer';
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';
import type { OriginalBody } from '../chat/request.ts';
import { DeferredTexts } from './deferred-texts.ts';
import { withExactSchemas } from './exact-schemas.ts';
import type { FirstFault } from './first-fault.ts';
import {
  isNestedTooDeeply,
  type JsonContainer,
  type JsonMember,
  jsonDepthMax,
  memberAt,
  type ScanNotes,
  scanJson,
} from './json-spans.ts';

export type ClientBody = {
  /** Without `tiergate`. */
  readonly json: JsonObject;
  readonly extension: JsonObject | null;
  /** The places of the top-level fields in the bytes, `tiergate` among them. */
  readonly fields: JsonContainer;
  /** Texts that were put off; null = all are there. */
  readonly texts: DeferredTexts | null;
};

/** The original body with the places of its top-level fields, found while its depth was checked. */
export type ScannedBody = OriginalBody & { readonly fields: JsonContainer };

export function isScanned(original: OriginalBody): original is ScannedBody {
  return 'fields' in original;
}

/** Smaller bodies are parsed whole: that is cheap, and every string in them is checked. */
const deferringBytesMin = 4096;

/** Fields that would let a caller choose where we connect, or with whose key: refused. */
const forbiddenFields = ['api_base', 'base_url', 'api_key', 'extra_headers'] as const;

/**
 * Null when a fault was reported. Long texts inside the field `conversation` are put off: those of
 * the usual content fields, and of `contentFields`.
 */
export function readClientBody(
  body: Buffer,
  conversation: string,
  faults: FirstFault,
  contentFields: readonly string[] = [],
): ClientBody | null {
  if (!isUtf8(body)) {
    faults.report(null, 'the body is not valid UTF-8');
    return null;
  }
  const notes: ScanNotes = { longStrings: [], hasLongNumber: false };
  const fields = scanJson(body, notes);
  if (fields === null && isNestedTooDeeply(body)) {
    faults.report(null, `the body is nested deeper than ${jsonDepthMax} levels`);
    return null;
  }
  const { text, texts } = textToParse(body, notes, memberAt(fields, conversation), contentFields);
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
  const json = notes.hasLongNumber ? withExactSchemas(parsed.value, body, fields) : parsed.value;
  return { ...withoutExtension(json, faults), fields, texts };
}

function textToParse(
  body: Buffer,
  { longStrings: places }: ScanNotes,
  conversation: JsonMember | null,
  contentFields: readonly string[],
): { readonly text: string; readonly texts: DeferredTexts | null } {
  if (body.length < deferringBytesMin || conversation === null || places.length === 0) {
    return { text: body.toString('utf8'), texts: null };
  }
  return DeferredTexts.takeFrom(body, places, conversation, contentFields);
}

function withoutExtension(
  json: JsonObject,
  faults: FirstFault,
): { readonly json: JsonObject; readonly extension: JsonObject | null } {
  for (const name of forbiddenFields) {
    if (!Object.hasOwn(json, name)) continue;
    faults.report(name, `${name} is not taken from a request: the gateway's configuration sets it`);
  }
  if (!Object.hasOwn(json, 'tiergate')) return { json, extension: null };
  const { tiergate, ...rest } = json;
  if (isJsonObject(tiergate)) return { json: rest, extension: tiergate };
  if (tiergate !== null) faults.reportType('tiergate', 'an object', tiergate);
  return { json: rest, extension: null };
}

const plainFieldName = /^[\w.-]{1,64}$/;

/** Names go into a header when a field is dropped: only plain ones are told as they are. */
export function plainName(name: string): string {
  return plainFieldName.test(name) ? name : 'other';
}
