/**
 * A large body read without its large texts: they stay in the bytes until somebody asks. What a
 * same-dialect target gets are the bytes, so most of a conversation is never decoded at all.
 */
import { isJsonObject, parseJson } from '../base/json.ts';
import type { JsonMember } from './json-spans.ts';

/** Fields whose texts are content, of which nothing needs to be known to route a request. */
const usualFields: readonly string[] = [
  'content',
  'text',
  'arguments',
  'url',
  'data',
  'file_data',
  'reasoning_content',
];
const usualKeys = usualFields.map(keyOf);

const quote = 0x22;
const colon = 0x3a;
const space = 0x20;

export class DeferredTexts {
  readonly #bytes: Buffer;
  /** Start and end of each text put off, quotes included. */
  readonly #places: number[] = [];

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * `bytes`, a JSON text in UTF-8, as a text in which each long string of `longPlaces` that is the
   * value of a content field (`contentFields` are some more) inside `within` has given way to a mark (an object that `read` knows).
   * A string put off is not checked until it is read; one that is no JSON is then read as it stands.
   */
  static takeFrom(
    bytes: Buffer,
    longPlaces: readonly number[],
    within: JsonMember,
    contentFields: readonly string[] = [],
  ): { readonly text: string; readonly texts: DeferredTexts } {
    const texts = new DeferredTexts(bytes);
    const keys = [...usualKeys, ...contentFields.map(keyOf)];
    let text = '';
    let from = 0;
    for (let at = 0; at < longPlaces.length; at += 2) {
      const start = longPlaces[at] ?? 0;
      const end = longPlaces[at + 1] ?? 0;
      if (start < within.valueStart || end > within.end || !isContent(bytes, start, keys)) continue;
      text += `${bytes.toString('utf8', from, start)}{"":${texts.#places.length}}`;
      texts.#places.push(start, end);
      from = end;
    }
    return { text: text + bytes.toString('utf8', from), texts };
  }

  /** What reads the text that `mark` stands for, or null when it is no mark. */
  read(mark: unknown): (() => string) | null {
    const place = this.#placeOf(mark);
    if (place === null) return null;
    let text: string | null = null;
    return () => {
      text ??= this.#decode(place.start, place.end);
      return text;
    };
  }

  /** The first bytes of the text as they were written, at most `bytesMax`; '' when it is no mark. */
  headOf(mark: unknown, bytesMax: number): string {
    const place = this.#placeOf(mark);
    if (place === null) return '';
    const end = Math.min(place.start + 1 + bytesMax, place.end - 1);
    return this.#bytes.toString('latin1', place.start + 1, end);
  }

  #placeOf(mark: unknown): { readonly start: number; readonly end: number } | null {
    if (!isJsonObject(mark)) return null;
    const index = mark[''];
    if (typeof index !== 'number') return null;
    const start = this.#places[index];
    const end = this.#places[index + 1];
    if (index % 2 !== 0 || start === undefined || end === undefined) return null;
    return { start, end };
  }

  #decode(start: number, end: number): string {
    const written = this.#bytes.toString('utf8', start, end);
    const read = parseJson(written);
    return read.ok && typeof read.value === 'string' ? read.value : written.slice(1, -1);
  }
}

/** A field's name as it stands in JSON, but for its closing quote. */
function keyOf(field: string): Buffer {
  return Buffer.from(`"${field}`);
}

/** Whether the string that opens at `start` is the value of a content field. */
function isContent(bytes: Buffer, start: number, contentKeys: readonly Buffer[]): boolean {
  const colonAt = lastOther(bytes, start - 1);
  if (bytes[colonAt] !== colon) return false;
  const keyEnd = lastOther(bytes, colonAt - 1);
  if (bytes[keyEnd] !== quote) return false;
  return contentKeys.some((key) => endsWith(bytes, keyEnd, key));
}

/** Whether the bytes before `end` are those of `key`, its opening quote included. */
function endsWith(bytes: Buffer, end: number, key: Buffer): boolean {
  const start = end - key.length;
  if (start < 0) return false;
  for (let at = key.length - 1; at >= 0; at -= 1) {
    if (bytes[start + at] !== key[at]) return false;
  }
  return true;
}

/** The last place at or before `at` that holds no white space. */
function lastOther(bytes: Buffer, at: number): number {
  let place = at;
  while (place > 0 && (bytes[place] ?? 0) <= space) place -= 1;
  return place;
}

/** A text, or what reads it. */
export type Text = string | (() => string);

/** The text that `value` is or stands for; null when it is neither. */
export function textIn(value: unknown, texts: DeferredTexts | null): Text | null {
  return typeof value === 'string' ? value : (texts?.read(value) ?? null);
}

export function readText(text: Text): string {
  return typeof text === 'string' ? text : text();
}
