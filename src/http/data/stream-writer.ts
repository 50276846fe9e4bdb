/** Writes a stream of chunks to a client: coalesced per tick, slowed by the client, ended when it is gone. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { waitingMark } from './socket-progress.ts';

/** What is handed to the socket at once: keeps the bytes that wait for one client below 256 kB. */
const sliceBytesMax = 64 * 1024;

/** `gone`: the client closed. `stalled`: its socket took nothing for `stallMs` while bytes waited. */
export type WriteState = 'open' | 'gone' | 'stalled';

export type StreamWriterOptions = { readonly clock: Clock; readonly stallMs: number };

/**
 * Chunks pushed in one tick leave as one write, at the end of that tick: nothing is delayed, and a burst
 * costs one frame. The head is sent at the end of the tick that made the writer, chunk or not.
 */
export class StreamWriter {
  readonly #outgoing: ServerResponse;
  readonly #options: StreamWriterOptions;
  #pending: (Buffer | string)[] = [];
  #pendingBytes = 0;
  #isScheduled = false;
  #isFull = false;
  #state: WriteState = 'open';

  constructor(outgoing: ServerResponse, options: StreamWriterOptions) {
    this.#outgoing = outgoing;
    this.#options = options;
    this.#schedule();
  }

  get state(): WriteState {
    if (this.#state === 'open' && this.#outgoing.destroyed) this.#state = 'gone';
    return this.#state;
  }

  /** Takes `chunk`; wait for the result, when it is a promise, before the next one. */
  push(chunk: Buffer | string): Promise<void> | null {
    if (chunk.length === 0) return null;
    if (chunk.length > sliceBytesMax) return this.#writeLarge(chunk);
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes >= sliceBytesMax) this.flush();
    else this.#schedule();
    return this.#isFull ? this.#drained() : null;
  }

  /** Hands over what is pending, now. */
  flush(): void {
    if (this.state !== 'open' || this.#pending.length === 0) return;
    const joined = join(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    if (!this.#outgoing.write(joined)) this.#isFull = true;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      if (this.#pending.length > 0) this.flush();
      else this.#sendHead();
    });
  }

  #sendHead(): void {
    if (this.state === 'open' && !this.#outgoing.writableEnded) this.#outgoing.flushHeaders();
  }

  async #writeLarge(chunk: Buffer | string): Promise<void> {
    this.flush();
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    for (let offset = 0; offset < bytes.length; offset += sliceBytesMax) {
      if (this.#isFull) await this.#drained();
      if (this.state !== 'open') return;
      if (!this.#outgoing.write(bytes.subarray(offset, offset + sliceBytesMax))) {
        this.#isFull = true;
      }
    }
    if (this.#isFull) await this.#drained();
  }

  /** Until the socket has taken what waits, or the client is gone. */
  #drained(): Promise<void> {
    if (this.state !== 'open') return Promise.resolve();
    const outgoing = this.#outgoing;
    const { socket } = outgoing;
    return new Promise((resolve) => {
      const settle = (state: WriteState): void => {
        this.#state = state;
        this.#isFull = false;
        stopWatch();
        outgoing.off('drain', onDrain);
        outgoing.off('close', onGone);
        socket?.off('end', onGone);
        resolve();
      };
      const onDrain = (): void => settle('open');
      const onGone = (): void => settle('gone');
      outgoing.on('drain', onDrain);
      outgoing.on('close', onGone);
      // A half-closed client gets nothing more, yet its socket closes only once it has read.
      socket?.on('end', onGone);
      const stopWatch = watchStall(outgoing, this.#options, () => settle('stalled'));
    });
  }
}

/** Calls `onStall` once when the socket took nothing during a whole period; the result stops the watch. */
export function watchStall(
  outgoing: ServerResponse,
  options: StreamWriterOptions,
  onStall: () => void,
): () => void {
  const { clock, stallMs } = options;
  let mark = waitingMark(outgoing.socket);
  const check = (): void => {
    const now = waitingMark(outgoing.socket);
    if (now === mark) onStall();
    else cancel = clock.schedule(stallMs, check);
    mark = now;
  };
  let cancel = clock.schedule(stallMs, check);
  return () => cancel();
}

function join(chunks: readonly (Buffer | string)[]): Buffer | string {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const texts = chunks.filter((chunk) => typeof chunk === 'string');
  if (texts.length === chunks.length) return texts.join('');
  return Buffer.concat(
    chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)),
  );
}
