/** Changes of the top-level fields of a client's body, collected and then written as splices. */
import { isJsonObject } from '../base/json.ts';
import { encodeJson, parseExactJson } from './exact-json.ts';
import {
  type JsonContainer,
  type JsonMember,
  memberAt,
  removeMembers,
  type Splice,
} from './json-spans.ts';

export class FieldEdit {
  readonly bytes: Buffer;
  readonly #fields: JsonContainer;
  readonly #values = new Map<string, string>();
  readonly #removed = new Set<string>();

  constructor(bytes: Buffer, fields: JsonContainer) {
    this.bytes = bytes;
    this.#fields = fields;
  }

  /** Undefined removes the field. */
  set(name: string, value: unknown): void {
    if (value === undefined) this.remove(name);
    else this.setText(name, JSON.stringify(value));
  }

  /**
   * Of an object in both, the fields of both, `value`'s above. False: it nests too deeply to be written,
   * and nothing was set.
   */
  merge(name: string, value: unknown): boolean {
    const text = isJsonObject(value) ? this.text(name) : null;
    const present = text === null ? null : parseExactJson(text);
    const isBoth = present?.ok === true && isJsonObject(present.value) && isJsonObject(value);
    const written = encodeJson(isBoth ? { ...present.value, ...value } : value);
    if (written.ok) this.setText(name, written.value);
    return written.ok;
  }

  /** `text` is the JSON text of the value. */
  setText(name: string, text: string): void {
    this.#removed.delete(name);
    this.#values.set(name, text);
  }

  remove(name: string): void {
    this.#values.delete(name);
    this.#removed.add(name);
  }

  /** Where the client's value lies, whatever was changed since; null when the field is absent. */
  member(name: string): JsonMember | null {
    return memberAt(this.#fields, name);
  }

  /** Where the client's value begins, whatever was changed since; null when the field is absent. */
  placeOf(name: string): { readonly bytes: Buffer; readonly valueStart: number } | null {
    const member = this.member(name);
    return member === null ? null : { bytes: this.bytes, valueStart: member.valueStart };
  }

  /** The JSON text of the value as it now stands; null when there is none. */
  text(name: string): string | null {
    const set = this.#values.get(name);
    if (set !== undefined) return set;
    const member = this.#removed.has(name) ? null : this.member(name);
    return member === null ? null : this.bytes.toString('utf8', member.valueStart, member.end);
  }

  /** The fields as they now stand. */
  names(): readonly string[] {
    const given = this.#fields.members.map(({ key }) => key);
    const all = new Set([...given, ...this.#values.keys()]);
    return [...all].filter((name) => !this.#removed.has(name));
  }

  splices(): readonly Splice[] {
    const { members, closeAt } = this.#fields;
    // Of a field given twice parsers read the last: the earlier ones must not reach another parser.
    const last = new Map<string, JsonMember>();
    for (const member of members) last.set(member.key, member);
    const isRemoved = (member: JsonMember): boolean =>
      this.#removed.has(member.key) || last.get(member.key) !== member;
    const splices = [...removeMembers(this.#fields, isRemoved)];
    const added: string[] = [];
    for (const [name, text] of this.#values) {
      const member = last.get(name);
      if (member === undefined) added.push(`${JSON.stringify(name)}:${text}`);
      else splices.push({ start: member.valueStart, end: member.end, text });
    }
    if (added.length > 0) {
      const comma = members.some((member) => !isRemoved(member)) ? ',' : '';
      splices.push({ start: closeAt, end: closeAt, text: comma + added.join(',') });
    }
    return splices;
  }
}
