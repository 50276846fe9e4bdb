/** The parts of a continuation as parts of the stream that it goes on with. */
import { type Citation, movedCitation } from '../../chat/citation.ts';
import type { ChatEvent, StreamPart } from '../../chat/stream-event.ts';
import { addUsage, type Usage } from '../../chat/usage.ts';
import { Seam } from '../seam/seam.ts';
import type { RestMode } from './rest-request.ts';
import type { SentAnswer } from './sent-answer.ts';

export class Joiner {
  readonly #sent: SentAnswer;
  readonly #mode: RestMode;
  readonly #model: string;
  /** What the parts before took. */
  readonly #usage: Usage;
  readonly #seam: Seam;
  #hasBegun = false;
  /** UTF-16 units of this part's text: what its model wrote, and where that leads in all that the client has. */
  #written = 0;
  #told: number;
  /** Until it is known where the text begins, so is not what they are of. */
  #citations: Citation[] = [];

  /** `model` is what the provider was asked for; it may call it otherwise. */
  constructor(input: {
    readonly sent: SentAnswer;
    readonly mode: RestMode;
    readonly model: string;
    readonly usage: Usage;
  }) {
    this.#sent = input.sent;
    this.#mode = input.mode;
    this.#model = input.model;
    this.#usage = input.usage;
    this.#told = input.sent.text.length;
    this.#seam = new Seam({ sent: input.sent.text, isInstructed: input.mode === 'instruction' });
  }

  /** The model began anew instead of going on: nothing of what it says can be shown. */
  get isUnjoinable(): boolean {
    return this.#seam.isUnjoinable;
  }

  get isUncertain(): boolean {
    return this.#seam.isUncertain;
  }

  take(parts: readonly StreamPart[]): readonly StreamPart[] {
    const events = this.#opening();
    for (const part of parts) for (const event of part.events) this.#add(event, events);
    return events.length === 0 ? [] : [{ events, frame: null }];
  }

  #opening(): ChatEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    const start: ChatEvent = { type: 'start', id: null, model: this.#model };
    if (!this.#sent.isReasoningOpen) return [start];
    return [start, { type: 'reasoning_end', choice: 0, signature: null, redacted: null }];
  }

  #add(event: ChatEvent, events: ChatEvent[]): void {
    if (this.isUnjoinable || ('choice' in event && event.choice !== 0)) return;
    switch (event.type) {
      case 'start':
        events.push({ ...event, id: null });
        return;
      case 'text':
        this.#written += event.text.length;
        this.#addText(events, this.#seam.push(event.text));
        return;
      case 'citation':
        this.#citations.push(event.citation);
        this.#addCitations(events);
        return;
      case 'reasoning':
      case 'reasoning_end':
        // In the middle of an answer nobody reads thoughts.
        if (this.#mode === 'fresh') events.push(event);
        return;
      case 'usage':
        events.push({ type: 'usage', usage: addUsage(this.#usage, event.usage) });
        return;
      case 'refusal':
      case 'tool_call_start':
      case 'finish':
      case 'end':
        this.#addText(events, this.#seam.end());
        if (!this.isUnjoinable) events.push(event);
        return;
      case 'tool_call_arguments':
      case 'tool_call_end':
      case 'omitted':
      case 'activity':
      case 'malformed':
      case 'error':
        events.push(event);
        return;
    }
  }

  #addText(events: ChatEvent[], text: string): void {
    this.#told += text.length;
    if (text !== '') events.push({ type: 'text', choice: 0, text });
    this.#addCitations(events);
  }

  /** Words that were repeated and taken away stand where they were said first: the same distance leads there. */
  #addCitations(events: ChatEvent[]): void {
    if (!this.#seam.isOpen) return;
    const moved = this.#told - this.#written;
    for (const citation of this.#citations) {
      events.push({ type: 'citation', choice: 0, citation: movedCitation(citation, moved) });
    }
    this.#citations = [];
  }
}
