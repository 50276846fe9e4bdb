/** Calls and their results in a client's history: joined by id, else by name, else by their order. */
import { type JsonObject, parseJson } from '../../base/json.ts';
import type { ToolCallPart, ToolMessage, ToolResultPart } from '../../chat/request.ts';
import { noteUnknown } from '../unknown-fields.ts';
import type { ClientFields, Place } from './client-fields.ts';
import { keepOpaque, type PartReading, readMediaPart } from './client-media.ts';
import type { PartBytes } from './part-bytes.ts';

export type ContentsReading = PartReading & { readonly bytes: PartBytes };

/** The content's and the part's number. */
export type PartNumbers = readonly [content: number, part: number];

/** `givenId`: what the client calls it; null where it named none, as older models do. */
export type OpenCall = {
  readonly part: ToolCallPart;
  readonly givenId: string | null;
  readonly place: Place;
};

/** Calls that have no result yet, in their order: as many as a body can hold, and found at once. */
export class OpenCalls {
  readonly #inOrder = new Set<OpenCall>();
  readonly #byId = new Map<string, Set<OpenCall>>();
  readonly #byName = new Map<string, Set<OpenCall>>();

  get first(): OpenCall | null {
    return firstOf(this.#inOrder);
  }

  add(call: OpenCall): void {
    this.#inOrder.add(call);
    addTo(this.#byName, call.part.name, call);
    if (call.givenId !== null) addTo(this.#byId, call.givenId, call);
  }

  /** The call that a result answers, which is open no more: by id, else by name, else the first. */
  take(id: string | null, name: string): OpenCall | null {
    const call =
      (id === null ? null : firstOf(this.#byId.get(id))) ??
      firstOf(this.#byName.get(name)) ??
      this.first;
    if (call === null) return null;
    this.#inOrder.delete(call);
    this.#byName.get(call.part.name)?.delete(call);
    if (call.givenId !== null) this.#byId.get(call.givenId)?.delete(call);
    return call;
  }
}

function firstOf(calls: Set<OpenCall> | undefined): OpenCall | null {
  for (const call of calls ?? []) return call;
  return null;
}

function addTo(calls: Map<string, Set<OpenCall>>, key: string, call: OpenCall): void {
  const known = calls.get(key);
  if (known === undefined) calls.set(key, new Set([call]));
  else known.add(call);
}

/** Null when a fault was reported. */
export function readCall(
  part: ClientFields,
  [content, at]: PartNumbers,
  { bytes }: ContentsReading,
): OpenCall | null {
  const called = part.fieldsOf('functionCall');
  const name = called.string('name');
  if (name === null || name === '') return called.refuse('name', 'a non-empty string');
  called.object('args');
  const givenId = called.string('id') || null;
  return {
    givenId,
    place: () => part.placeOf('functionCall'),
    part: {
      type: 'tool_call',
      // Always the same for the same history, so that caches go on to hit.
      id: givenId ?? `call_${content}_${at}`,
      name,
      get arguments() {
        return bytes.textAt(content, at, ['functionCall', 'args']) ?? '{}';
      },
    },
  };
}

const knownResultFields: ReadonlySet<string> = new Set(['id', 'name', 'response', 'parts']);

/** Takes the call that it answers out of `open`. Null when a fault was reported. */
export function readResult(
  part: ClientFields,
  [content, at]: PartNumbers,
  open: OpenCalls,
  reading: ContentsReading,
): ToolMessage | null {
  const result = part.fieldsOf('functionResponse');
  noteUnknown(result.json, knownResultFields, reading.notes, 'functionResponse.');
  const response = result.object('response');
  if (response === null) return result.refuse('response', 'an object');
  const call = open.take(result.string('id') || null, result.string('name') ?? '');
  if (call === null) {
    const place = part.placeOf('functionResponse');
    reading.faults.report(place, `${place} answers no functionCall of the content before it`);
    return null;
  }
  const told = toldBy(response);
  const path = ['functionResponse', 'response', ...(told.field === null ? [] : [told.field])];
  const text: ToolResultPart = {
    type: 'text',
    get text() {
      return plainText(reading.bytes.textAt(content, at, path) ?? '');
    },
  };
  return {
    role: 'tool',
    toolCallId: call.part.id,
    content: [text, ...readMedia(result, reading)],
    isError: told.isError,
  };
}

/** An object that holds nothing but a result or an error is that; any other is a result as a whole. */
function toldBy(response: JsonObject): {
  readonly field: string | null;
  readonly isError: boolean;
} {
  const [only, ...others] = Object.keys(response);
  if (only === undefined || others.length > 0) return { field: null, isError: false };
  if (only === 'error') return { field: only, isError: true };
  return { field: only === 'output' || only === 'result' ? only : null, isError: false };
}

/** `json` as it is, or the string that it spells. */
function plainText(json: string): string {
  if (!json.startsWith('"')) return json;
  const value = parseJson(json);
  return value.ok ? String(value.value) : json.slice(1, -1);
}

function readMedia(result: ClientFields, reading: ContentsReading): readonly ToolResultPart[] {
  const found: ToolResultPart[] = [];
  for (const part of result.objects('parts')) {
    const read = readMediaPart(part, reading);
    if (read === null) continue;
    if (read.type === 'audio') keepOpaque(part.json, reading);
    else found.push(read);
  }
  return found;
}
