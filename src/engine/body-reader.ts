/** Reads an upstream body under a clock: what came, that it ended or broke, or which clock ran out. */
import type { Clock } from '../base/clock.ts';
import { Watchdog } from '../base/watchdog.ts';
import type { BodyChunk, UpstreamResponse } from '../transport/transport.ts';

export type ClockName =
  | 'headers'
  | 'first_content'
  | 'idle'
  | 'whole'
  | 'deadline'
  | 'hold'
  | 'tail';

export type Due = { readonly atMs: number; readonly clock: ClockName };

export type ReadResult = BodyChunk | { readonly kind: 'clock'; readonly clock: ClockName };

export class BodyReader {
  readonly #response: UpstreamResponse;
  readonly #watchdog: Watchdog;
  #pending: Promise<void> | null = null;
  #arrived: BodyChunk | null = null;
  #due: Due | null = null;
  #resolve: ((result: ReadResult) => void) | null = null;
  readonly #signal: AbortSignal;
  readonly #onGone = (): void => this.#response.cancel();
  readonly #onRead = (chunk: BodyChunk): void => this.#onChunk(chunk);

  /** `signal`: its abort closes the connection to the provider for as long as the body is read. */
  constructor(response: UpstreamResponse, clock: Clock, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
    if (signal.aborted) response.cancel();
    else signal.addEventListener('abort', this.#onGone, { once: true });
    this.#watchdog = new Watchdog(clock, () => {
      if (this.#due !== null) this.#finish({ kind: 'clock', clock: this.#due.clock });
    });
  }

  /** The next chunk, or the clock that ran out first. After a clock the body may be read on. */
  read(due: Due | null): Promise<ReadResult> {
    const arrived = this.#arrived;
    if (arrived !== null) {
      this.#arrived = null;
      return Promise.resolve(arrived);
    }
    this.#due = due;
    if (due === null) this.#watchdog.disarm();
    else this.#watchdog.arm(due.atMs);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#pending ??= this.#response.read().then(this.#onRead);
    });
  }

  /** Closes the connection to the provider; safe to call at any time, more than once. */
  cancel(): void {
    this.close();
    this.#response.cancel();
  }

  /** The body was read to its end: only the timer and the listener are left to free. */
  close(): void {
    this.#watchdog.close();
    this.#signal.removeEventListener('abort', this.#onGone);
  }

  #onChunk(chunk: BodyChunk): void {
    this.#pending = null;
    if (this.#resolve === null) this.#arrived = chunk;
    else this.#finish(chunk);
  }

  #finish(result: ReadResult): void {
    const resolve = this.#resolve;
    this.#resolve = null;
    this.#watchdog.disarm();
    resolve?.(result);
  }
}
