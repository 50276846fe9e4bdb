/** A client's end of a stream without a socket: what it was sent and when, and whether it takes any. */
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import type { Clock } from '../../src/base/clock.ts';

export type Piece = { readonly atMs: number; readonly text: string };

export class FakeResponse extends Writable {
  status: number | null = null;
  headers: Readonly<Record<string, string>> = {};
  readonly pieces: Piece[] = [];
  readonly socket = null;
  readonly #clock: Clock;
  #taken: (() => void) | null = null;
  /** While false, what is written waits. */
  #isReading = true;

  constructor(clock: Clock) {
    super({ highWaterMark: 64 * 1024, decodeStrings: false });
    this.#clock = clock;
  }

  /** What code that writes to a client takes. */
  get asServerResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  get text(): string {
    return this.pieces.map(({ text }) => text).join('');
  }

  get headersSent(): boolean {
    return this.status !== null;
  }

  writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.status = status;
    this.headers = headers;
  }

  flushHeaders(): void {}

  stopReading(): void {
    this.#isReading = false;
  }

  readAgain(): void {
    this.#isReading = true;
    this.#taken?.();
  }

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    const take = (): void => {
      this.#taken = null;
      this.pieces.push({ atMs: this.#clock.monotonicMs(), text: chunk.toString() });
      done();
    };
    if (this.#isReading) take();
    else this.#taken = take;
  }
}
