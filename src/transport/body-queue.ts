/** A body that arrives by itself and is read by pulling: what waits is bounded by pausing the source. */
import type { BodyChunk, TransportFailure } from './transport.ts';

/** Bytes that may wait before the source is paused: one read of a socket, so that a reader that keeps up never pauses it. */
const waitingBytesMax = 64 * 1024;

export type BodySource = { readonly pause: () => void; readonly resume: () => void };

export class BodyQueue {
  readonly #source: BodySource;
  readonly #chunks: Buffer[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #last: BodyChunk | null = null;
  #reader: ((chunk: BodyChunk) => void) | null = null;

  constructor(source: BodySource) {
    this.#source = source;
  }

  push(bytes: Buffer): void {
    if (this.#last !== null || bytes.length === 0) return;
    if (this.#reader !== null) {
      this.#deliver({ kind: 'bytes', bytes });
      return;
    }
    this.#chunks.push(bytes);
    this.#waitingBytes += bytes.length;
    if (!this.#isPaused && this.#waitingBytes >= waitingBytesMax) {
      this.#isPaused = true;
      this.#source.pause();
    }
  }

  end(): void {
    this.#close({ kind: 'end' });
  }

  /** What has already arrived is still read first, unless the reader was waiting. */
  fail(failure: TransportFailure): void {
    this.#close({ kind: 'failed', failure });
  }

  /** One reader at a time. All that waits comes at once. */
  read(): Promise<BodyChunk> {
    const waiting = this.#take();
    if (waiting !== null) return Promise.resolve({ kind: 'bytes', bytes: waiting });
    if (this.#last !== null) return Promise.resolve(this.#last);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  #take(): Buffer | null {
    const [first] = this.#chunks;
    if (first === undefined) return null;
    const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    this.#waitingBytes = 0;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    return bytes;
  }

  #close(last: BodyChunk): void {
    if (this.#last !== null) return;
    this.#last = last;
    this.#deliver(last);
  }

  #deliver(chunk: BodyChunk): void {
    const reader = this.#reader;
    this.#reader = null;
    reader?.(chunk);
  }
}
