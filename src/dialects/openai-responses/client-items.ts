/** The conversation of a client's body: items, of which those of the model that stand together are one turn. */
import { append } from '../../base/append.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AssistantPart, Message, TextPart, ToolResultPart } from '../../chat/request.ts';
import { textIn } from '../deferred-texts.ts';
import { deferredTextPart } from '../media-source.ts';
import { noteUnknown } from '../unknown-fields.ts';
import { readAssistantContent, readCall, readReasoning } from './client-assistant.ts';
import {
  keepOpaque,
  type PartReading,
  type Place,
  partsOf,
  readInputPart,
} from './client-media.ts';
import { isOwnItemId, isReasoningId } from './item-ids.ts';

/** Each is looked up. Of what is behind them it is not known who made it. */
const itemIdsMax = 4096;

export type ItemReading = PartReading & {
  /** Items are kept for the client by the account that serves it, so that it may refer to them. */
  readonly isBound: boolean;
  readonly itemIds: Set<string>;
};

/** Of the items that have a canonical form. */
const knownItemFields: ReadonlySet<string> = new Set([
  'type',
  'id',
  'status',
  'role',
  'content',
  'call_id',
  'name',
  'arguments',
  'input',
  'output',
  'summary',
  'encrypted_content',
]);

/** `instructions` and a plain `input` among them. */
export function readMessages(json: JsonObject, reading: ItemReading): readonly Message[] {
  const turns = new TurnList();
  const { instructions, input } = json;
  if (typeof instructions === 'string') {
    if (instructions !== '') turns.add({ role: 'system', content: [textOf(instructions)] });
  } else if (instructions !== undefined && instructions !== null) {
    reading.faults.reportType('instructions', 'a string', instructions);
  }
  const text = textIn(input, reading.texts);
  if (text !== null) {
    turns.add({ role: 'user', content: [deferredTextPart(text)], name: null });
  } else if (Array.isArray(input)) {
    readItems(input, turns, reading);
  } else if (input !== undefined && input !== null) {
    reading.faults.reportType('input', 'a string or an array of items', input);
  }
  return turns.messages();
}

function textOf(text: string): TextPart {
  return { type: 'text', text };
}

function readItems(items: readonly unknown[], turns: TurnList, reading: ItemReading): void {
  const calls = new Map<string, string>();
  for (const [index, item] of items.entries()) {
    readItem(item, index, turns, reading);
    if (reading.faults.fault !== null) return;
    noteCall(item, index, calls);
  }
  // What is kept elsewhere may hold the results, or want them only now.
  const [first] = reading.isBound ? [] : calls;
  if (first === undefined) return;
  const [id, param] = first;
  const shown = id.length > 100 ? `${id.slice(0, 100)}...` : id;
  reading.faults.report(
    param,
    `No tool output found for function call ${shown}: a function_call_output with this call_id must follow it.`,
  );
}

/** `calls`: those without a result so far, with their places. */
function noteCall(item: unknown, index: number, calls: Map<string, string>): void {
  if (!isJsonObject(item) || typeof item['call_id'] !== 'string') return;
  const { type, call_id: id } = item;
  if (type === 'function_call' || type === 'custom_tool_call') calls.set(id, `input[${index}]`);
  if (type === 'function_call_output' || type === 'custom_tool_call_output') calls.delete(id);
}

function readItem(item: unknown, index: number, turns: TurnList, reading: ItemReading): void {
  const place = (): string => `input[${index}]`;
  if (!isJsonObject(item)) {
    reading.faults.reportType(place(), 'an object', item);
    return;
  }
  const type = item['type'] ?? (item['role'] === undefined ? 'item_reference' : 'message');
  noteId(item, type, reading);
  switch (type) {
    case 'message':
      noteUnknown(item, knownItemFields, reading.notes, 'input.');
      readMessage(item, place, turns, reading);
      return;
    case 'reasoning': {
      const read = readReasoning(item, place, reading);
      if (read !== null) turns.addAssistant([read]);
      return;
    }
    case 'function_call':
    case 'custom_tool_call': {
      noteUnknown(item, knownItemFields, reading.notes, 'input.');
      const read = readCall(item, type === 'function_call' ? 'arguments' : 'input', place, reading);
      if (read !== null) turns.addAssistant([read]);
      return;
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      noteUnknown(item, knownItemFields, reading.notes, 'input.');
      readOutput(item, place, turns, reading);
      return;
    case 'item_reference':
      readReference(item, place, reading);
      return;
    default:
      if (typeof type !== 'string') reading.faults.reportType(`${place()}.type`, 'a string', type);
      else keepOpaque(`item:${type}`, item, reading);
  }
}

/** Where nothing is kept only reasoning is bound to whom made it. */
function noteId({ id }: JsonObject, type: unknown, { isBound, itemIds }: ItemReading): void {
  const matters = isBound || type === 'reasoning' || type === 'item_reference';
  if (!matters || typeof id !== 'string' || isOwnItemId(id)) return;
  if (itemIds.size < itemIdsMax) itemIds.add(id);
}

function readMessage(item: JsonObject, place: Place, turns: TurnList, reading: ItemReading): void {
  const { role, content } = item;
  const at = (): string => `${place()}.content`;
  const parts = partsOf(content, at, reading);
  switch (role) {
    case 'user': {
      const read = parts.flatMap(
        (part, position) => readInputPart(part, () => `${at()}[${position}]`, reading) ?? [],
      );
      turns.add({ role, content: read, name: null });
      return;
    }
    case 'system':
    case 'developer':
      turns.add({ role: 'system', content: readTexts(parts, at, reading) });
      return;
    case 'assistant':
      turns.addSaid(readAssistantContent(parts, at, reading));
      return;
    default:
      if (typeof role !== 'string') reading.faults.reportType(`${place()}.role`, 'a string', role);
      else {
        const message = `${place()}.role must be user, assistant, system or developer`;
        reading.faults.report(`${place()}.role`, message);
      }
  }
}

/** Text alone: what a system message may hold. */
function readTexts(
  parts: readonly unknown[],
  place: Place,
  reading: ItemReading,
): readonly TextPart[] {
  const texts: TextPart[] = [];
  for (const [position, part] of parts.entries()) {
    const at = (): string => `${place()}[${position}]`;
    const read = readInputPart(part, at, reading);
    if (read?.type === 'text') texts.push(read);
    else if (read !== null) reading.faults.report(at(), `${at()} must be text in a system message`);
  }
  return texts;
}

function readOutput(item: JsonObject, place: Place, turns: TurnList, reading: ItemReading): void {
  const { call_id: toolCallId, output } = item;
  if (typeof toolCallId !== 'string' || toolCallId === '') {
    reading.faults.reportType(`${place()}.call_id`, 'a non-empty string', toolCallId);
    return;
  }
  const at = (): string => `${place()}.output`;
  const content: ToolResultPart[] = [];
  for (const [position, part] of partsOf(output, at, reading).entries()) {
    const read = readInputPart(part, () => `${at()}[${position}]`, reading);
    if (read?.type === 'audio') {
      reading.faults.report(at(), `${at()} may not hold audio`);
    } else if (read !== null) content.push(read);
  }
  turns.add({ role: 'tool', toolCallId, content, isError: false });
}

/** A thought may be left out where its maker is not asked; anything else must be there. */
function readReference(item: JsonObject, place: Place, reading: ItemReading): void {
  const { id } = item;
  if (typeof id !== 'string' || id === '') {
    reading.faults.reportType(`${place()}.id`, 'a non-empty string', id);
    return;
  }
  if (isReasoningId(id)) {
    reading.notes.add('item_reference');
    return;
  }
  if (reading.isBound && !isOwnItemId(id)) return;
  const message = isOwnItemId(id)
    ? 'refers to an item that no provider keeps: send the item itself'
    : 'refers to an item, and any target may serve this request: send the item itself, or set store: true';
  reading.faults.report(place(), `${place()} ${message}`);
}

/** Messages in order; what belongs to one turn of the model is one of them. */
class TurnList {
  readonly #messages: Message[] = [];
  #open: AssistantPart[] | null = null;

  add(message: Exclude<Message, { readonly role: 'assistant' }>): void {
    this.#messages.push(message);
    this.#open = null;
  }

  /** Two messages in a row are two elsewhere too, but for the sake of a call whose result is to come. */
  addSaid(parts: readonly AssistantPart[]): void {
    const open = this.#open ?? [];
    const hasSpoken = open.some(({ type }) => type === 'text' || type === 'refusal');
    if (hasSpoken && !open.some(({ type }) => type === 'tool_call')) this.#open = null;
    this.addAssistant(parts);
  }

  addAssistant(parts: readonly AssistantPart[]): void {
    if (this.#open === null) {
      this.#open = [];
      this.#messages.push({ role: 'assistant', content: this.#open });
    }
    append(this.#open, parts);
  }

  messages(): readonly Message[] {
    return this.#messages;
  }
}
