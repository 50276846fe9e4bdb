/** Where each part of a candidate begins in its text: what a segment counts within. */

export type PartKind = 'text' | 'thought' | 'other';

/** Segments point into few parts. */
const partsMax = 4096;

export class PartPlaces {
  /** As the one chunk of a whole answer has them. */
  readonly #written: number[] = [];
  /** As clients put the chunks of a stream together: pieces of one kind in a row are one part. */
  readonly #joined: number[] = [];
  #lastKind: PartKind | null = null;
  #chunks = 0;

  beginChunk(): void {
    this.#chunks += 1;
  }

  /** `start`: the length of the text before it. */
  add(kind: PartKind, start: number): void {
    if (this.#chunks <= 1 && this.#written.length < partsMax) this.#written.push(start);
    if (kind === this.#lastKind && kind !== 'other') return;
    this.#lastKind = kind;
    if (this.#joined.length < partsMax) this.#joined.push(start);
  }

  /** Null: there is no such part. */
  startOf(part: number): number | null {
    // Without a part's number it is the text, whatever was thought before it.
    if (part === 0) return 0;
    return (this.#chunks > 1 ? this.#joined[part] : this.#written[part]) ?? null;
  }
}
