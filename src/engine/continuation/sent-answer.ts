/** What the client has been sent of an answer, as far as the rest depends on it, and who wrote which part. */
import type { ChatEvent, StreamPart } from '../../chat/stream-event.ts';
import type { Seam } from '../trace.ts';

/** UTF-16 units of text that are kept to be continued. */
const keptLengthMax = 1024 * 1024;
/** Joined by so many: a text made by adding token to token takes ten times its size. */
const piecesMax = 128;

/** Why what was sent cannot be continued, whoever is asked. */
export type SentBar = 'tool_call' | 'refusal' | 'choices' | 'provider_tool' | 'too_long';

type Part = {
  readonly attempt: number;
  readonly target: string;
  readonly start: number;
  end: number;
  isUncertain: boolean;
};

export class SentAnswer {
  readonly #parts: Part[] = [];
  #text = '';
  /** What came after `#text`. */
  readonly #pieces: string[] = [];
  #length = 0;
  #bar: SentBar | null = null;
  /** A provider's own tool is at work, or has shown what is no text; text after it takes it back. */
  #isWorking = false;
  hasReasoning = false;
  isReasoningOpen = false;

  /** The text so far; no longer whole once `bar` is `too_long`. */
  get text(): string {
    this.#joinPieces();
    return this.#text;
  }

  get bar(): SentBar | null {
    return this.#bar ?? (this.#isWorking && this.#length > 0 ? 'provider_tool' : null);
  }

  /** Who wrote which part; empty while all of it is by one hand. */
  get seams(): readonly Seam[] {
    if (this.#parts.length < 2) return [];
    return this.#parts.map(({ isUncertain, ...part }) => ({ ...part, uncertain: isUncertain }));
  }

  /** Another attempt writes from here on. */
  begin(attempt: number, target: string): void {
    const start = this.#length;
    this.#parts.push({ attempt, target, start, end: start, isUncertain: false });
  }

  /** The joint before the present part may not be right. */
  doubt(): void {
    const part = this.#parts.at(-1);
    if (part !== undefined) part.isUncertain = true;
  }

  note(parts: readonly StreamPart[]): void {
    for (const { events } of parts) for (const event of events) this.#note(event);
  }

  #note(event: ChatEvent): void {
    switch (event.type) {
      case 'text':
        this.#addText(event.choice, event.text);
        return;
      case 'reasoning':
        this.hasReasoning = true;
        this.isReasoningOpen = true;
        return;
      case 'reasoning_end':
        this.hasReasoning = true;
        this.isReasoningOpen = false;
        return;
      case 'refusal':
        this.#bar = 'refusal';
        return;
      case 'tool_call_start':
        this.#bar = 'tool_call';
        return;
      case 'omitted':
        this.#isWorking = true;
        return;
      case 'activity':
        // Within its thinking a provider works at nothing but that.
        if (event.isProgress && !this.isReasoningOpen) this.#isWorking = true;
        return;
      default:
        return;
    }
  }

  #addText(choice: number, text: string): void {
    if (text === '') return;
    if (choice !== 0) this.#bar ??= 'choices';
    this.#isWorking = false;
    this.#length += text.length;
    const part = this.#parts.at(-1);
    if (part !== undefined) part.end = this.#length;
    if (this.#length <= keptLengthMax) {
      this.#pieces.push(text);
      if (this.#pieces.length === piecesMax) this.#joinPieces();
      return;
    }
    this.#text = '';
    this.#pieces.length = 0;
    this.#bar ??= 'too_long';
  }

  #joinPieces(): void {
    if (this.#pieces.length === 0) return;
    this.#text += this.#pieces.join('');
    this.#pieces.length = 0;
  }
}
