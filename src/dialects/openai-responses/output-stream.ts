/** The output items of a stream: one open at a time, numbered without gaps, each ending with all it held. */
import { append } from '../../base/append.ts';
import { isJsonObject, type JsonObject, numberAt, objectAt, stringAt } from '../../base/json.ts';
import type { Citation } from '../../chat/citation.ts';
import type { ReasoningBlock } from '../../chat/reply.ts';
import { parseToolArguments } from '../exact-json.ts';
import { TextOffsets } from '../text-offsets.ts';
import { writeAnnotation } from './annotations.ts';
import { callItem, messageItem, reasoningItem, refusalPart, textPart } from './client-output.ts';
import type { WireItemStatus, WireOutputItem, WireOutputPart, WireStreamEvents } from './wire.ts';

/** The bytes of one event of the stream. */
export type WriteEvent = <Type extends keyof WireStreamEvents>(
  type: Type,
  fields: WireStreamEvents[Type],
) => string;

type PartKind = 'output_text' | 'refusal';

/** `isTold`: that it is done was said already, in the provider's own words. */
type OpenPart = {
  readonly kind: PartKind;
  text: string;
  /** Of the tokens of `text`, as they are written. */
  readonly logprobs: JsonObject[];
  isTold: boolean;
  /** Where it begins in all the text that was told. */
  readonly from: number;
  readonly annotations: JsonObject[];
};

type OpenItem =
  | {
      readonly kind: 'message';
      readonly id: string;
      readonly parts: WireOutputPart[];
      part: OpenPart | null;
    }
  | { readonly kind: 'reasoning'; readonly id: string; text: string }
  | {
      readonly kind: 'function_call';
      readonly id: string;
      readonly call: { readonly id: string; readonly name: string; arguments: string };
    }
  /** One that only the provider's own events tell of: cut off, it ends as it began. */
  | { readonly kind: 'other'; readonly item: JsonObject };

type ItemKind = 'message' | 'reasoning' | 'function_call';

/** Each method returns the events to send; '' = none. */
export class OutputStream {
  readonly #write: WriteEvent;
  readonly #newId: (type: ItemKind, index: number) => string;
  readonly #finished: (WireOutputItem | JsonObject)[] = [];
  readonly #offsets = new TextOffsets();
  #open: OpenItem | null = null;
  #index = 0;

  constructor(write: WriteEvent, newId: (type: ItemKind, index: number) => string) {
    this.#write = write;
    this.#newId = newId;
  }

  /** The items that have ended. */
  items(): readonly (WireOutputItem | JsonObject)[] {
    return this.#finished;
  }

  text(text: string, logprobs: readonly JsonObject[]): string {
    if (text === '' && logprobs.length === 0) return '';
    return this.#openPart('output_text') + this.#addText(text, logprobs);
  }

  /** What the open text rests on; '' where none is open, or no form tells of it. */
  cite(citation: Citation): string {
    const open = this.#open;
    if (open?.kind !== 'message' || open.part?.kind !== 'output_text' || open.part.isTold)
      return '';
    const { from, annotations } = open.part;
    const annotation = writeAnnotation(citation, { offsets: this.#offsets, from });
    if (annotation === null) return '';
    const at = this.#partAt(open.id, open.parts.length);
    const annotation_index = annotations.length;
    annotations.push(annotation);
    const fields = { ...at, annotation_index, annotation };
    return this.#write('response.output_text.annotation.added', fields);
  }

  refusal(text: string): string {
    return text === '' ? '' : this.#openPart('refusal') + this.#addText(text, []);
  }

  think(delta: string): string {
    if (delta === '') return '';
    let events = this.#open?.kind === 'reasoning' ? '' : this.close() + this.#startReasoning();
    const open = this.#open;
    if (open === null || open.kind !== 'reasoning') return events;
    const at = this.#summaryAt(open.id);
    if (open.text === '') {
      const part = { type: 'summary_text', text: '' } as const;
      events += this.#write('response.reasoning_summary_part.added', { ...at, part });
    }
    open.text += delta;
    return events + this.#write('response.reasoning_summary_text.delta', { ...at, delta });
  }

  /** Ends a thought; `encrypted` brings back what signs it, null = nothing does. */
  endThinking(encrypted: string | null): string {
    if (this.#open?.kind === 'reasoning') return this.#endReasoning(this.#open, encrypted);
    if (encrypted === null) return '';
    const opening = this.close() + this.#startReasoning();
    return opening + this.#endReasoning(this.#open, encrypted);
  }

  /** The text of the thought that is open. */
  get thought(): Pick<ReasoningBlock, 'text'> {
    return { text: this.#open?.kind === 'reasoning' ? this.#open.text : '' };
  }

  startCall(callId: string, name: string): string {
    const closing = this.close();
    const id = this.#newId('function_call', this.#index);
    const call = { id: callId, name, arguments: '' };
    this.#open = { kind: 'function_call', id, call };
    return closing + this.#added(callItem(id, call, 'in_progress'));
  }

  addArguments(delta: string): string {
    if (delta === '' || this.#open?.kind !== 'function_call') return '';
    const { id, call } = this.#open;
    call.arguments += delta;
    return this.#write('response.function_call_arguments.delta', { ...this.#at(id), delta });
  }

  endCall(): string {
    return this.#open?.kind === 'function_call' ? this.close() : '';
  }

  /** Ends the open item, if there is one. */
  close(status: WireItemStatus = 'completed'): string {
    const open = this.#open;
    switch (open?.kind) {
      case undefined:
        return '';
      case 'message': {
        const ending = this.#endPart(open);
        return ending + this.#done(messageItem(open.id, open.parts, status));
      }
      case 'reasoning':
        return this.#endReasoning(open, null);
      case 'function_call': {
        // What is no whole document was cut off, whatever is told of it later.
        const isWhole = parseToolArguments(open.call.arguments).ok;
        const item = callItem(open.id, open.call, isWhole ? status : 'incomplete');
        const { name, arguments: whole } = item;
        const at = this.#at(open.id);
        // A call without a word is told its arguments all the same.
        const missing =
          whole === open.call.arguments
            ? ''
            : this.#write('response.function_call_arguments.delta', { ...at, delta: whole });
        const fields = { ...at, name, arguments: whole };
        return (
          missing + this.#write('response.function_call_arguments.done', fields) + this.#done(item)
        );
      }
      case 'other':
        return this.#done(open.item);
    }
  }

  /** Reads along with an event that is sent as the provider wrote it. */
  note(event: JsonObject): void {
    const type = stringAt(event, 'type');
    const item = objectAt(event, 'item');
    if (type === 'response.output_item.added' && item !== null) {
      this.#index = numberAt(event, 'output_index') ?? this.#index;
      this.#open = openedBy(item);
    }
    if (type === 'response.output_item.done' && item !== null) {
      this.#finished.push(item);
      this.#index = (numberAt(event, 'output_index') ?? this.#index) + 1;
      this.#open = null;
    }
    if (this.#open?.kind !== 'message') return;
    const annotation = objectAt(event, 'annotation');
    if (annotation !== null) this.#open.part?.annotations.push(annotation);
    const isTold = type === 'response.output_text.done' || type === 'response.refusal.done';
    if (isTold && this.#open.part !== null) this.#open.part.isTold = true;
    const part = objectAt(event, 'part');
    if (part === null) return;
    if (type === 'response.content_part.done') {
      append(this.#open.parts, [doneBy(part)]);
      this.#open.part = null;
    }
    if (type === 'response.content_part.added') {
      const kind = stringAt(part, 'type') === 'refusal' ? 'refusal' : 'output_text';
      this.#open.part = this.#newPart(kind);
    }
  }

  /** What the client was told of the open item in the provider's own words. */
  noteText(text: string): void {
    const open = this.#open;
    if (open?.kind === 'message' && open.part !== null) this.#grow(open.part, text);
    if (open?.kind === 'function_call') open.call.arguments += text;
  }

  #openPart(kind: PartKind): string {
    let events = '';
    if (this.#open?.kind !== 'message') {
      events += this.close();
      const id = this.#newId('message', this.#index);
      this.#open = { kind: 'message', id, parts: [], part: null };
      events += this.#added(messageItem(id, [], 'in_progress'));
    }
    const open = this.#open;
    if (open?.kind !== 'message') return events;
    if (open.part?.kind === kind && !open.part.isTold) return events;
    events += this.#endPart(open);
    open.part = this.#newPart(kind);
    const fields = { ...this.#partAt(open.id, open.parts.length), part: partOf(open.part) };
    return events + this.#write('response.content_part.added', fields);
  }

  #addText(delta: string, logprobs: readonly JsonObject[]): string {
    const open = this.#open;
    if (open?.kind !== 'message' || open.part === null) return '';
    this.#grow(open.part, delta);
    append(open.part.logprobs, logprobs);
    const at = this.#partAt(open.id, open.parts.length);
    return open.part.kind === 'refusal'
      ? this.#write('response.refusal.delta', { ...at, delta })
      : this.#write('response.output_text.delta', { ...at, delta, logprobs });
  }

  #newPart(kind: PartKind): OpenPart {
    const from = this.#offsets.length;
    return { kind, text: '', isTold: false, from, annotations: [], logprobs: [] };
  }

  #grow(part: OpenPart, text: string): void {
    part.text += text;
    if (part.kind === 'output_text') this.#offsets.push(text);
  }

  #endPart(open: Extract<OpenItem, { kind: 'message' }>): string {
    if (open.part === null) return '';
    const at = this.#partAt(open.id, open.parts.length);
    const { isTold } = open.part;
    const part = partOf(open.part);
    open.parts.push(part);
    open.part = null;
    const ending = (): string => this.#write('response.content_part.done', { ...at, part });
    if (isTold) return ending();
    const told =
      part.type === 'refusal'
        ? this.#write('response.refusal.done', { ...at, refusal: part.refusal })
        : this.#write('response.output_text.done', {
            ...at,
            text: part.text,
            logprobs: part.logprobs ?? [],
          });
    return told + ending();
  }

  #startReasoning(): string {
    const id = this.#newId('reasoning', this.#index);
    this.#open = { kind: 'reasoning', id, text: '' };
    return this.#added(reasoningItem(id, { text: '' }, null));
  }

  #endReasoning(open: OpenItem | null, encrypted: string | null): string {
    if (open?.kind !== 'reasoning') return '';
    const { id, text } = open;
    const at = this.#summaryAt(id);
    let events = '';
    if (text !== '') {
      events += this.#write('response.reasoning_summary_text.done', { ...at, text });
      const part = { type: 'summary_text', text } as const;
      events += this.#write('response.reasoning_summary_part.done', { ...at, part });
    }
    return events + this.#done(reasoningItem(id, { text }, encrypted));
  }

  #added(item: WireOutputItem): string {
    return this.#write('response.output_item.added', { output_index: this.#index, item });
  }

  #done(item: WireOutputItem | JsonObject): string {
    const event = this.#write('response.output_item.done', { output_index: this.#index, item });
    this.#finished.push(item);
    this.#index += 1;
    this.#open = null;
    return event;
  }

  #at(itemId: string) {
    return { item_id: itemId, output_index: this.#index };
  }

  #partAt(itemId: string, contentIndex: number) {
    return { ...this.#at(itemId), content_index: contentIndex };
  }

  /** All that a thought says is one part of its summary. */
  #summaryAt(itemId: string) {
    return { ...this.#at(itemId), summary_index: 0 };
  }
}

function partOf({ kind, text, annotations, logprobs }: OpenPart): WireOutputPart {
  return kind === 'refusal' ? refusalPart(text) : textPart(text, [...annotations], [...logprobs]);
}

function openedBy(item: JsonObject): OpenItem {
  const id = stringAt(item, 'id') ?? '';
  switch (stringAt(item, 'type')) {
    case 'message':
      return { kind: 'message', id, parts: [], part: null };
    case 'function_call': {
      const call = {
        id: stringAt(item, 'call_id') ?? '',
        name: stringAt(item, 'name') ?? '',
        arguments: stringAt(item, 'arguments') ?? '',
      };
      return { kind: 'function_call', id, call };
    }
    default:
      return { kind: 'other', item };
  }
}

function doneBy(part: JsonObject): WireOutputPart {
  const refusal = stringAt(part, 'refusal');
  if (refusal !== null) return refusalPart(refusal);
  const annotations = objectsIn(part['annotations']);
  const logprobs = Array.isArray(part['logprobs']) ? { logprobs: objectsIn(part['logprobs']) } : {};
  return { type: 'output_text', text: stringAt(part, 'text') ?? '', annotations, ...logprobs };
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
