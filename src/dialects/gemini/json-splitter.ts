/** Objects out of a JSON text that grows: the array that a stream without `alt=sse` is, or bare documents. */

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export type JsonPiece =
  | { readonly kind: 'object'; readonly text: string }
  /** An object grew beyond the bound; nothing follows. */
  | { readonly kind: 'too_large' };

/** Any cut of the same bytes gives the same pieces. What stands between objects is passed over. */
export class JsonSplitter {
  readonly #bytesMax: number;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isOver = false;
  /** What came of the open object before the present read. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor({ eventBytesMax }: { readonly eventBytesMax: number }) {
    this.#bytesMax = eventBytesMax;
  }

  push(bytes: Buffer): readonly JsonPiece[] {
    const pieces: JsonPiece[] = [];
    let start = 0;
    for (let at = 0; at < bytes.length && !this.#isOver; at += 1) {
      const wasOpen = this.#depth > 0;
      this.#step(bytes[at] ?? 0);
      if (!wasOpen && this.#depth > 0) start = at;
      if (wasOpen && this.#depth === 0) {
        this.#hold(bytes.subarray(start, at + 1));
        pieces.push(this.#take());
        start = at + 1;
      }
    }
    if (this.#depth > 0 && !this.#isOver) {
      this.#hold(bytes.subarray(start));
      if (this.#heldBytes > this.#bytesMax) pieces.push(this.#stop());
    }
    return pieces;
  }

  #step(byte: number): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === backslash) this.#isEscaped = true;
      else if (byte === quote) this.#isInString = false;
      return;
    }
    if (byte === openBrace) this.#depth += 1;
    else if (byte === closeBrace && this.#depth > 0) this.#depth -= 1;
    else if (byte === quote && this.#depth > 0) this.#isInString = true;
  }

  #hold(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
  }

  #take(): JsonPiece {
    if (this.#heldBytes > this.#bytesMax) return this.#stop();
    const text = Buffer.concat(this.#held).toString('utf8');
    this.#held = [];
    this.#heldBytes = 0;
    return { kind: 'object', text };
  }

  #stop(): JsonPiece {
    this.#isOver = true;
    this.#held = [];
    this.#heldBytes = 0;
    return { kind: 'too_large' };
  }
}
