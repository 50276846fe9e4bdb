/** What parts of a client's contents hold, as its text in the client's bytes: numbers keep their spelling. */

import { encodeJson, parseExactJson } from '../exact-json.ts';
import { type JsonMember, memberAt, scanContainer } from '../json-spans.ts';
import { snakeCase } from './proto-names.ts';

const openBrace = 0x7b;

/** One per request. Nothing is looked up before it is asked for: a target of this dialect never asks. */
export class PartBytes {
  readonly #bytes: Buffer;
  readonly #contents: JsonMember | null;
  #elements: readonly number[] | null = null;
  readonly #parts = new Map<number, readonly number[]>();

  /** `contents` is the member that holds them. */
  constructor(bytes: Buffer, contents: JsonMember | null) {
    this.#bytes = bytes;
    this.#contents = contents;
  }

  /** The value that `path` (in camelCase) leads to inside a part, as compact JSON; null when there is none. */
  textAt(content: number, part: number, path: readonly string[]): string | null {
    let at: number | null = this.#partsOf(content)[part] ?? null;
    let found: JsonMember | null = null;
    for (const name of path) {
      found = at === null ? null : memberNamed(this.#bytes, at, name);
      at = found?.valueStart ?? null;
    }
    if (found === null) return null;
    const text = this.#bytes.toString('utf8', found.valueStart, found.end);
    const value = parseExactJson(text);
    const compact = value.ok ? encodeJson(value.value) : value;
    return compact.ok ? compact.value : text;
  }

  #partsOf(content: number): readonly number[] {
    const known = this.#parts.get(content);
    if (known !== undefined) return known;
    this.#elements ??=
      this.#contents === null ? [] : elementsAt(this.#bytes, this.#contents.valueStart);
    const at = this.#elements[content];
    const member = at === undefined ? null : memberNamed(this.#bytes, at, 'parts');
    const parts = member === null ? [] : elementsAt(this.#bytes, member.valueStart);
    this.#parts.set(content, parts);
    return parts;
  }
}

/** Where the values of a list begin; a single object stands for a list of one. */
export function elementsAt(bytes: Buffer, openAt: number): readonly number[] {
  if (bytes[openAt] === openBrace) return [openAt];
  return scanContainer(bytes, openAt)?.members.map(({ valueStart }) => valueStart) ?? [];
}

/** The JSON texts of the values of a list, or of the single object in its place. */
export function elementTexts(bytes: Buffer, openAt: number): readonly string[] {
  const list = scanContainer(bytes, openAt);
  if (list === null) return [];
  if (bytes[openAt] === openBrace) return [bytes.toString('utf8', openAt, list.closeAt + 1)];
  return list.members.map(({ valueStart, end }) => bytes.toString('utf8', valueStart, end));
}

/** The member of the object at `openAt`, in either spelling of its name. */
export function memberNamed(bytes: Buffer, openAt: number, name: string): JsonMember | null {
  const fields = scanContainer(bytes, openAt);
  return memberAt(fields, name) ?? memberAt(fields, snakeCase(name));
}
