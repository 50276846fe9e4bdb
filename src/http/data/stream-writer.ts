/** Writes a stream of chunks to a client: coalesced per tick, slowed by the client, kept alive while nothing comes. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { Watchdog } from '../../base/watchdog.ts';
import type { KeepAlive } from '../../pipeline/answer.ts';
import { waitingBytes } from './socket-progress.ts';

/** What is handed to the socket at once: keeps the bytes that wait for one client below 256 kB. */
const sliceBytesMax = 64 * 1024;

/**
 * Chunks pushed in one tick leave as one write, at the end of that tick: nothing is delayed, and a burst
 * costs one frame. The head is sent at the end of the tick that made the writer, chunk or not. While no
 * chunk comes the keep-alive is written, unless bytes still wait for the client.
 */
export class StreamWriter {
  readonly #outgoing: ServerResponse;
  readonly #clock: Clock;
  readonly #keepAlive: KeepAlive;
  readonly #quiet: Watchdog;
  #pending: (Buffer | string)[] = [];
  #pendingBytes = 0;
  #isScheduled = false;
  #isGone = false;

  constructor(outgoing: ServerResponse, clock: Clock, keepAlive: KeepAlive) {
    this.#outgoing = outgoing;
    this.#clock = clock;
    this.#keepAlive = keepAlive;
    this.#quiet = new Watchdog(clock, () => this.#onQuiet());
    if (keepAlive.isEarly) outgoing.write(keepAlive.bytes);
    this.#watchQuiet();
    this.#schedule();
  }

  /** The client gets nothing more. */
  get isGone(): boolean {
    return this.#isGone || this.#outgoing.destroyed;
  }

  /** Takes `chunk`; wait for the result, when it is a promise, before the next one. */
  push(chunk: Buffer | string): Promise<void> | null {
    if (chunk.length === 0) return null;
    if (chunk.length > sliceBytesMax) return this.#writeLarge(chunk);
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#pendingBytes >= sliceBytesMax) this.#flush();
    else this.#schedule();
    return this.#outgoing.writableNeedDrain ? this.#drained() : null;
  }

  /** Hands over what is pending; nothing may be pushed afterwards. */
  close(): void {
    this.#flush();
    this.#quiet.close();
  }

  #flush(): void {
    if (this.isGone || this.#outgoing.writableEnded || this.#pending.length === 0) return;
    const joined = join(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#outgoing.write(joined);
    this.#watchQuiet();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      if (this.#pending.length > 0) this.#flush();
      else this.#sendHead();
    });
  }

  #sendHead(): void {
    if (!this.isGone && !this.#outgoing.writableEnded) this.#outgoing.flushHeaders();
  }

  async #writeLarge(chunk: Buffer | string): Promise<void> {
    this.#flush();
    const outgoing = this.#outgoing;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    for (let offset = 0; offset < bytes.length; offset += sliceBytesMax) {
      if (outgoing.writableNeedDrain) await this.#drained();
      if (this.isGone) return;
      outgoing.write(bytes.subarray(offset, offset + sliceBytesMax));
    }
    this.#watchQuiet();
    if (outgoing.writableNeedDrain) await this.#drained();
  }

  /** Until the socket has taken what waits, or the client is gone. */
  #drained(): Promise<void> {
    if (this.isGone) return Promise.resolve();
    const outgoing = this.#outgoing;
    const { socket } = outgoing;
    return new Promise((resolve) => {
      const settle = (): void => {
        outgoing.off('drain', settle);
        outgoing.off('close', onGone);
        socket?.off('end', onGone);
        resolve();
      };
      const onGone = (): void => {
        this.#isGone = true;
        settle();
      };
      outgoing.on('drain', settle);
      outgoing.on('close', onGone);
      // A half-closed client gets nothing more, yet its socket closes only once it has read.
      socket?.on('end', onGone);
    });
  }

  #watchQuiet(): void {
    this.#quiet.arm(this.#clock.monotonicMs() + this.#keepAlive.everyMs);
  }

  /** Between two chunks: one that is on its way in slices waits for the client, and so does this. */
  #onQuiet(): void {
    const outgoing = this.#outgoing;
    if (this.isGone || outgoing.writableEnded) return;
    const isBlocked = outgoing.writableNeedDrain || waitingBytes(outgoing.socket) > 0;
    if (!isBlocked) outgoing.write(this.#keepAlive.bytes);
    this.#watchQuiet();
  }
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
