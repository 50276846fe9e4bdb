/** Citations of a dialect that gives them with a block of text: their span is the block's text. */
import type { Citation } from '../chat/citation.ts';
import type { ChatEvent } from '../chat/stream-event.ts';

export type BlockCitation = Omit<Citation, 'span'>;

/** More in one block wait for no end. */
const waitingMax = 4096;

export class BlockCitations {
  #length = 0;
  #start = 0;
  #waiting: BlockCitation[] = [];

  /** Another block begins. */
  begin(): readonly ChatEvent[] {
    const ended = this.end();
    this.#start = this.#length;
    return ended;
  }

  addText(text: string): void {
    this.#length += text.length;
  }

  /** Null = one that cannot be read. */
  add(citation: BlockCitation | null): readonly ChatEvent[] {
    if (citation === null) return [{ type: 'omitted', choice: 0, name: 'citations' }];
    this.#waiting.push(citation);
    return this.#waiting.length < waitingMax ? [] : this.end();
  }

  /** The block is over, as far as it is known: its text may come before or after its citations. */
  end(): readonly ChatEvent[] {
    if (this.#waiting.length === 0) return [];
    const [start, end] = [this.#start, this.#length];
    const span = end > start ? { start, end } : null;
    const events = this.#waiting.map(
      (told): ChatEvent => ({ type: 'citation', choice: 0, citation: { ...told, span } }),
    );
    this.#waiting = [];
    return events;
  }
}
