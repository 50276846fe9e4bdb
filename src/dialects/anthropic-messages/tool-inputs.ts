/** The inputs of earlier calls as their text in the client's bytes: numbers, key order and escapes as they came. */
import { type JsonMember, memberAt, scanContainer } from '../json-spans.ts';

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;

/** One per request. Nothing is looked up before it is asked for: a target of this dialect never asks. */
export class ToolInputs {
  readonly #bytes: Buffer;
  readonly #conversation: JsonMember | null;
  #messages: readonly JsonMember[] | null = null;
  readonly #blocks = new Map<number, readonly JsonMember[]>();

  /** `conversation` is the member that holds the messages. */
  constructor(bytes: Buffer, conversation: JsonMember | null) {
    this.#bytes = bytes;
    this.#conversation = conversation;
  }

  /** The `input` of one content block, without white space between its parts. */
  textOf(message: number, block: number): string {
    const element = this.#blocksOf(message)[block];
    const fields = element === undefined ? null : scanContainer(this.#bytes, element.valueStart);
    const input = memberAt(fields, 'input');
    if (input === null) return '{}';
    return compact(this.#bytes.toString('utf8', input.valueStart, input.end));
  }

  #blocksOf(message: number): readonly JsonMember[] {
    const known = this.#blocks.get(message);
    if (known !== undefined) return known;
    this.#messages ??= this.#elementsOf(this.#conversation);
    const element = this.#messages[message];
    const fields = element === undefined ? null : scanContainer(this.#bytes, element.valueStart);
    const blocks = this.#elementsOf(memberAt(fields, 'content'));
    this.#blocks.set(message, blocks);
    return blocks;
  }

  #elementsOf(member: JsonMember | null): readonly JsonMember[] {
    const list = member === null ? null : scanContainer(this.#bytes, member.valueStart);
    return list?.members ?? [];
  }
}

function compact(json: string): string {
  let text = '';
  let from = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) at = closingQuote(json, at);
    else if (code <= space) {
      text += json.slice(from, at);
      from = at + 1;
    }
  }
  return text + json.slice(from);
}

function closingQuote(json: string, openAt: number): number {
  let at = openAt + 1;
  while (at < json.length && json.charCodeAt(at) !== quote) {
    at += json.charCodeAt(at) === backslash ? 2 : 1;
  }
  return at;
}
