/**
 * Chunks of text in one stream differ in their text alone. Once one was parsed, the next are read by
 * comparing: parsing each anew would be most of what a stream costs.
 */
const contentMark = '"content":"';
const paddingMark = '"obfuscation":"';

export class TextTemplate {
  #choice = 0;
  /** All before the text; '' until a chunk was learned. */
  #head = '';
  /** From the text's closing quote on, up to the padding that some servers add, whose length varies. */
  #tail = '';
  /** What stands behind the padding; null = there is none, and `#tail` is all. */
  #afterPadding: string | null = null;

  /** Keeps the form of `data`, a chunk that said nothing but `text` in `choice`. */
  learn(data: string, choice: number, text: string): void {
    this.#head = '';
    const at = data.indexOf(contentMark);
    if (at === -1 || data.indexOf(contentMark, at + 1) !== -1) return;
    const start = at + contentMark.length;
    const end = start + text.length;
    if (!data.startsWith(text, start) || data[end] !== '"' || text.includes('\\')) return;
    this.#choice = choice;
    this.#head = data.slice(0, start);
    const tail = data.slice(end);
    const paddingAt = tail.indexOf(paddingMark);
    if (paddingAt === -1) {
      this.#tail = tail;
      this.#afterPadding = null;
      return;
    }
    const padded = paddingAt + paddingMark.length;
    this.#tail = tail.slice(0, padded);
    this.#afterPadding = tail.slice(tail.indexOf('"', padded));
  }

  /** The text of `data` when it has the form learned and its text is written without escapes, else null. */
  read(data: string): { readonly choice: number; readonly text: string } | null {
    const head = this.#head;
    // Slices are compared as blocks, which `startsWith` does not do.
    if (head === '' || data.slice(0, head.length) !== head) return null;
    const end = data.indexOf('"', head.length);
    if (end === -1 || data.slice(end, end + this.#tail.length) !== this.#tail) return null;
    if (!this.#endsAsLearned(data, end + this.#tail.length)) return null;
    const text = data.slice(head.length, end);
    return text === '' || text.includes('\\') ? null : { choice: this.#choice, text };
  }

  #endsAsLearned(data: string, at: number): boolean {
    if (this.#afterPadding === null) return at === data.length;
    const paddingEnd = data.indexOf('"', at);
    if (paddingEnd === -1 || data.length - paddingEnd !== this.#afterPadding.length) return false;
    return data.slice(paddingEnd) === this.#afterPadding;
  }
}
