/**
 * The items of an answer, keyed by their place in it: ids change from event to event behind some
 * proxies. What a piece left out is filled in from the full form that follows.
 */
import { append } from '../../base/append.ts';
import { arrayAt, isJsonObject, type JsonObject, property, stringAt } from '../../base/json.ts';
import type { ChatEvent } from '../../chat/stream-event.ts';
import type { TokenLogprob } from '../../chat/token-logprob.ts';
import { lostEvents } from '../event-payload.ts';
import { readLogprobs } from '../openai-logprobs.ts';
import { TextOffsets } from '../text-offsets.ts';
import { ToolCallSequence } from '../tool-call-sequence.ts';
import { AnnotationReader } from './annotations.ts';
import { type ReasoningForm, ReasoningItems } from './reasoning-items.ts';
import { ToldText } from './told-text.ts';

/** Work that a client of another dialect does not see. */
export const working: ChatEvent = { type: 'activity', isProgress: true };

export type CallKind = 'function_call' | 'custom_tool_call';

export type TextPlace = {
  readonly index: number;
  readonly part: number;
  readonly kind: 'text' | 'refusal';
};

/** Calls that the client runs and that only this dialect can tell. */
const clientRunItems: readonly string[] = [
  'shell_call',
  'local_shell_call',
  'apply_patch_call',
  'computer_call',
  'mcp_approval_request',
];

export class OutputItems {
  readonly #texts = new Map<string, ToldText>();
  readonly #offsets = new TextOffsets();
  readonly #annotations = new AnnotationReader(this.#offsets);
  readonly #arguments = new Map<number, ToldText>();
  readonly #reasoning = new ReasoningItems();
  readonly #calls = new ToolCallSequence();
  /** The ids of calls that have ended, by their places. */
  readonly #endedCalls = new Map<number, string>();
  #hasSaid = false;
  #hasCalls = false;

  /** Whether nothing was told yet. */
  get isEmpty(): boolean {
    return !this.#hasSaid;
  }

  /** Whether the client is to run something. */
  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  /** An item begins; it is still empty. */
  begin(index: number, item: unknown): readonly ChatEvent[] {
    const type = stringAt(item, 'type');
    if (type === 'message' || type === 'reasoning') return [];
    this.#hasSaid = true;
    if (isCall(type)) return [...this.#reasoning.close(), ...this.#beginCall(index, item, type)];
    this.#noteType(type);
    return [...this.#reasoning.close(), working];
  }

  text(place: TextPlace, piece: string, logprobs: Logprobs = []): readonly ChatEvent[] {
    this.#told(place).add(piece, logprobs.length);
    return this.#textEvents(place.kind, piece, logprobs);
  }

  wholeText(place: TextPlace, full: string, logprobs: Logprobs = []): readonly ChatEvent[] {
    const told = this.#told(place);
    return this.#textEvents(place.kind, told.rest(full), told.restTokens(logprobs));
  }

  reasoning(index: number, form: ReasoningForm, part: number, piece: string): readonly ChatEvent[] {
    return this.#noted(this.#reasoning.add(index, form, part, piece));
  }

  wholeReasoning(
    index: number,
    form: ReasoningForm,
    part: number,
    full: string,
  ): readonly ChatEvent[] {
    return this.#noted(this.#reasoning.complete(index, form, part, full));
  }

  /** Arguments of a call that was begun; those of the provider's own tools are work. */
  arguments(index: number, piece: string): readonly ChatEvent[] {
    const told = this.#arguments.get(index);
    if (told === undefined) return [working];
    told.add(piece);
    return this.#calls.add(index, piece) ?? lostEvents;
  }

  wholeArguments(index: number, full: string): readonly ChatEvent[] {
    const rest = this.#arguments.get(index)?.rest(full) ?? '';
    return rest === '' ? [] : (this.#calls.add(index, rest) ?? lostEvents);
  }

  /** An item is complete, and may be told here for the first time. */
  end(index: number, item: unknown): readonly ChatEvent[] {
    const type = stringAt(item, 'type');
    if (type === 'message') return this.#endMessage(index, item);
    if (type === 'reasoning') return this.#noted(this.#endReasoning(index, item));
    if (isCall(type)) return this.#noted(this.#endCall(index, item, type));
    this.#noteType(type);
    const name = type === 'image_generation_call' ? 'images' : 'provider_tools';
    const isTool = type !== null && /_call$|^mcp_/.test(type);
    return this.#noted([isTool ? { type: 'omitted', choice: 0, name } : working]);
  }

  /** Of a part of a message; its full form may come again with the part's. */
  annotation(
    index: number,
    part: number,
    place: number | null,
    given: JsonObject,
  ): readonly ChatEvent[] {
    return this.#annotations.add(`${index}:${part}`, place, given);
  }

  /** Ends what is open, for an answer that stops. */
  endAll(): readonly ChatEvent[] {
    return [...this.#reasoning.close(), ...this.#calls.endAll()];
  }

  #endMessage(index: number, item: unknown): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    for (const [part, content] of arrayAt(item, 'content').entries()) {
      append(events, this.part(index, part, content));
    }
    return events;
  }

  /** A content part in its full form. */
  part(index: number, part: number, content: unknown): readonly ChatEvent[] {
    const text = stringAt(content, 'text');
    switch (stringAt(content, 'type')) {
      case 'refusal':
        return this.wholeText({ index, part, kind: 'refusal' }, stringAt(content, 'refusal') ?? '');
      case 'reasoning_text':
        return this.wholeReasoning(index, 'content', part, text ?? '');
      default:
        return text === null ? [] : this.#wholePart(index, part, text, content);
    }
  }

  #wholePart(index: number, part: number, text: string, content: unknown): readonly ChatEvent[] {
    const place = { index, part, kind: 'text' } as const;
    const events = [...this.wholeText(place, text, logprobsAt(content))];
    for (const [position, annotation] of arrayAt(content, 'annotations').entries()) {
      if (isJsonObject(annotation))
        append(events, this.annotation(index, part, position, annotation));
    }
    return events;
  }

  #endReasoning(index: number, item: unknown): readonly ChatEvent[] {
    const events: ChatEvent[] = [];
    for (const form of ['summary', 'content'] as const) {
      for (const [part, said] of arrayAt(item, form).entries()) {
        append(events, this.#reasoning.complete(index, form, part, stringAt(said, 'text') ?? ''));
      }
    }
    append(events, this.#reasoning.end(index, stringAt(item, 'encrypted_content') || null));
    return events;
  }

  #beginCall(index: number, item: unknown, kind: CallKind): readonly ChatEvent[] {
    const id = callIdOf(item);
    const name = stringAt(item, 'name') ?? '';
    // What its full form names is told then.
    if (id === '' || name === '') return [];
    this.#hasCalls = true;
    this.#arguments.set(index, new ToldText());
    return this.#calls.start(index, { id, name, whole: kind === 'function_call' ? '{}' : '' });
  }

  #endCall(index: number, item: unknown, kind: CallKind): readonly ChatEvent[] {
    const events: ChatEvent[] = [...this.#reasoning.close()];
    if (!this.#calls.isOpen(index)) {
      if (this.#endedCalls.get(index) === callIdOf(item)) return events;
      const begun = this.#beginCall(index, item, kind);
      if (begun.length === 0 && !this.#calls.isOpen(index)) return [...events, ...lostEvents];
      append(events, begun);
    }
    const full = stringAt(item, kind === 'function_call' ? 'arguments' : 'input') ?? '';
    append(events, this.wholeArguments(index, full));
    append(events, this.#calls.end(index));
    this.#arguments.delete(index);
    this.#endedCalls.set(index, callIdOf(item));
    return events;
  }

  #noted(events: readonly ChatEvent[]): readonly ChatEvent[] {
    if (events.length > 0) this.#hasSaid = true;
    return events;
  }

  #noteType(type: string | null): void {
    if (type !== null && clientRunItems.includes(type)) this.#hasCalls = true;
  }

  #told({ index, part }: TextPlace): ToldText {
    const key = `${index}:${part}`;
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const made = new ToldText();
    this.#annotations.begin(key);
    this.#texts.set(key, made);
    return made;
  }

  #textEvents(type: TextPlace['kind'], text: string, logprobs: Logprobs): readonly ChatEvent[] {
    if (text === '' && logprobs.length === 0) return [];
    this.#hasSaid = true;
    if (type === 'text') this.#offsets.push(text);
    const told = logprobs.length === 0 ? {} : { logprobs };
    return [...this.#reasoning.close(), { type, choice: 0, text, ...told }];
  }
}

type Logprobs = readonly TokenLogprob[];

/** Of a piece of text, or of all of it: the field is called so everywhere. */
export function logprobsAt(told: unknown): Logprobs {
  return readLogprobs(property(told, 'logprobs'));
}

function callIdOf(item: unknown): string {
  return stringAt(item, 'call_id') || stringAt(item, 'id') || '';
}

function isCall(type: string | null): type is CallKind {
  return type === 'function_call' || type === 'custom_tool_call';
}
