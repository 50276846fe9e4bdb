/** One upstream stream, read under its clocks: parts as they come, then how it ended. */
import type { Clock } from '../base/clock.ts';
import type { StreamPart } from '../chat/stream-event.ts';
import type { UpstreamStreamDecoder } from '../dialects/dialect.ts';
import type { TransportFailure, UpstreamResponse } from '../transport/transport.ts';
import { endPart, withoutEnd } from './answer-end.ts';
import { BodyReader, type ClockName, type Due } from './body-reader.ts';
import { StreamTally } from './stream-tally.ts';

/** How long usage and the terminal marker are waited for after the finish. */
const tailMs = 2000;
/** How long the rest of a body is read after its terminal marker, so that the connection can be used again. */
const drainMs = 1000;
/** What passes between two reads when nobody is waited for. */
const unreadMsUsual = 1000;
/** A stream larger than this has no end; its events may say next to nothing. */
const streamBytesMax = 512 * 1024 * 1024;
/** What may come before anything is shown, and waits here: no answer says so little in so much. */
const heldBytesMax = 16 * 1024 * 1024;

export type StreamClocks = {
  /** Monotonic ms; may move later while the stream is read. */
  readonly firstContentAtMs: number;
  readonly idleMs: number;
  /** In place of `idleMs` while pings or server-tool events still come. */
  readonly idleWithSignsMs: number;
};

export type Break =
  | { readonly why: 'transport'; readonly failure: TransportFailure }
  | { readonly why: 'clock'; readonly clock: ClockName }
  | { readonly why: 'error_event'; readonly status: number | null; readonly body: unknown }
  | { readonly why: 'no_finish' }
  /** Bytes came, and not one event of the dialect: a page, or another protocol. */
  | { readonly why: 'no_stream' }
  | { readonly why: 'malformed' }
  | { readonly why: 'too_large' }
  /** The stream's time is over, and what has come of it by then still waits for the client. */
  | { readonly why: 'slow_client' }
  /** A bug of ours. */
  | { readonly why: 'thrown'; readonly error: unknown }
  /** A continuation that cannot be joined to what was sent. */
  | { readonly why: 'unjoinable' };

export type StreamStep =
  | { readonly kind: 'parts'; readonly parts: readonly StreamPart[] }
  /** The `hold` clock asked for at `next` ran out; the stream goes on. */
  | { readonly kind: 'held' }
  /** Complete: the last parts, with an `end` event that was added when the provider sent none. */
  | { readonly kind: 'ended'; readonly parts: readonly StreamPart[] }
  | { readonly kind: 'broken'; readonly parts: readonly StreamPart[]; readonly cause: Break };

export class AttemptStream {
  readonly tally: StreamTally;
  readonly #clock: Clock;
  readonly #reader: BodyReader;
  readonly #decoder: UpstreamStreamDecoder;
  readonly #clocks: StreamClocks;
  readonly #allowsMissingFinish: boolean;
  readonly #eventBytesMax: number;
  readonly #choices: number;
  #bytes = 0;
  /** Set at the commit: from then on the stream lives at most until here. */
  #wholeAtMs: number | null = null;
  #finishedAtMs: number | null = null;
  #readEndedMs: number | null = null;
  #isDone = false;

  constructor(input: {
    readonly response: UpstreamResponse;
    readonly decoder: UpstreamStreamDecoder;
    /** Of one event. */
    readonly eventBytesMax: number;
    readonly clock: Clock;
    readonly clocks: StreamClocks;
    readonly allowsMissingFinish: boolean;
    /** How many answers were asked for. */
    readonly choices: number;
    /** Aborts when the client has gone. */
    readonly signal: AbortSignal;
  }) {
    this.#clock = input.clock;
    this.#decoder = input.decoder;
    this.#clocks = input.clocks;
    this.#allowsMissingFinish = input.allowsMissingFinish;
    this.#eventBytesMax = input.eventBytesMax;
    this.#choices = input.choices;
    this.#reader = new BodyReader(input.response, input.clock, input.signal);
    this.tally = new StreamTally(input.clock.monotonicMs());
  }

  commit(wholeAtMs: number): void {
    this.#wholeAtMs = wholeAtMs;
  }

  /** Reads until something can be said. `holdUntilMs` bounds the wait while parts are held back. */
  async next(holdUntilMs: number | null): Promise<StreamStep> {
    const unreadMs = this.#skipUnreadTime();
    // A clock that runs out while nobody reads loses against bytes that are there already.
    if (this.#wholeAtMs !== null && this.#clock.monotonicMs() >= this.#wholeAtMs) {
      this.cancel();
      const isSlow = unreadMs > unreadMsUsual;
      return this.#onFailed(isSlow ? { why: 'slow_client' } : { why: 'clock', clock: 'whole' });
    }
    for (;;) {
      const result = await this.#reader.read(this.#due(holdUntilMs));
      this.#readEndedMs = this.#clock.monotonicMs();
      const step = this.#safely(() => this.#stepOf(result));
      if (step !== null) return step;
    }
  }

  /** Whatever a decoder throws at odd bytes ends this stream, and holds up nobody. */
  #safely(take: () => StreamStep | null): StreamStep | null {
    try {
      return take();
    } catch (error) {
      this.cancel();
      return this.#onFailed({ why: 'thrown', error });
    }
  }

  /** Closes the connection to the provider, unless the stream has ended: then it is of use again. */
  cancel(): void {
    if (!this.#isDone) this.#reader.cancel();
    this.#isDone = true;
  }

  #stepOf(result: Awaited<ReturnType<BodyReader['read']>>): StreamStep | null {
    switch (result.kind) {
      case 'bytes':
        return this.#isTooLarge(result.bytes)
          ? this.#onTooLarge()
          : this.#onParts(this.#decoder.push(result.bytes));
      case 'end':
        this.#close();
        return this.#onEnd(this.#take(this.#decoder.end()));
      case 'failed':
        this.#close();
        return this.#onFailed({ why: 'transport', failure: result.failure });
      case 'clock':
        return this.#isMoved(result.clock) ? null : this.#onClock(result.clock);
    }
  }

  /** The clock that ran out has been set later in the meantime. */
  #isMoved(clock: ClockName): boolean {
    return clock === 'first_content' && this.#clock.monotonicMs() < this.#clocks.firstContentAtMs;
  }

  #isTooLarge(bytes: Buffer): boolean {
    this.#bytes += bytes.length;
    const isHeld = this.#wholeAtMs === null;
    return this.#bytes > (isHeld ? heldBytesMax + this.#eventBytesMax : streamBytesMax);
  }

  #onTooLarge(): StreamStep {
    this.cancel();
    return this.#onFailed({ why: 'too_large' });
  }

  #onParts(read: readonly StreamPart[]): StreamStep | null {
    if (read.length === 0) return null;
    const parts = this.#take(read);
    const { tally } = this;
    if (tally.error !== null) {
      this.cancel();
      return {
        kind: 'broken',
        parts: beforeError(parts),
        cause: { why: 'error_event', ...tally.error },
      };
    }
    if (tally.malformedEvents > 1) {
      this.cancel();
      return { kind: 'broken', parts: [], cause: { why: 'malformed' } };
    }
    if (tally.hasEnded) {
      this.#drain();
      return this.#onEnd(parts);
    }
    if (tally.isFinished && tally.finishedChoices >= this.#choices) {
      this.#finishedAtMs ??= this.#clock.monotonicMs();
    }
    return { kind: 'parts', parts };
  }

  #onEnd(parts: readonly StreamPart[]): StreamStep {
    const { tally } = this;
    if (tally.error !== null) {
      return {
        kind: 'broken',
        parts: beforeError(parts),
        cause: { why: 'error_event', ...tally.error },
      };
    }
    if (tally.isFinished) {
      return { kind: 'ended', parts: tally.hasEnded ? parts : [...parts, endPart] };
    }
    const said = parts.map(withoutEnd);
    if (this.#allowsMissingFinish && tally.hasContent) {
      return { kind: 'ended', parts: [...said, ...tally.inferFinishes(), endPart] };
    }
    return { kind: 'broken', parts: said, cause: { why: this.#whyUnfinished() } };
  }

  #whyUnfinished(): 'malformed' | 'no_stream' | 'no_finish' {
    const { malformedEvents, hasSpoken } = this.tally;
    if (malformedEvents > 1) return 'malformed';
    return this.#bytes > 0 && !hasSpoken ? 'no_stream' : 'no_finish';
  }

  /** A finish had come: whatever broke after it took nothing from the answer. */
  #onFailed(cause: Break): StreamStep {
    if (this.tally.isFinished) return { kind: 'ended', parts: [endPart] };
    return { kind: 'broken', parts: [], cause };
  }

  #onClock(clock: ClockName): StreamStep {
    if (clock === 'hold') return { kind: 'held' };
    this.cancel();
    return this.#onFailed({ why: 'clock', clock });
  }

  /** What comes after the end belongs to no answer. */
  #take(parts: readonly StreamPart[]): readonly StreamPart[] {
    const nowMs = this.#clock.monotonicMs();
    for (const [at, part] of parts.entries()) {
      for (const event of part.events) this.tally.push(event, nowMs);
      if (this.tally.hasEnded) return parts.slice(0, at + 1);
    }
    return parts;
  }

  #due(holdUntilMs: number | null): Due {
    const due = this.#ownDue();
    if (holdUntilMs === null || due.atMs <= holdUntilMs) return due;
    return { atMs: holdUntilMs, clock: 'hold' };
  }

  #ownDue(): Due {
    if (this.#finishedAtMs !== null) return { atMs: this.#finishedAtMs + tailMs, clock: 'tail' };
    if (!this.tally.hasContent && this.#wholeAtMs === null) {
      return { atMs: this.#clocks.firstContentAtMs, clock: 'first_content' };
    }
    const idle: Due = { atMs: this.#idleAtMs(), clock: 'idle' };
    if (this.#wholeAtMs === null || idle.atMs <= this.#wholeAtMs) return idle;
    return { atMs: this.#wholeAtMs, clock: 'whole' };
  }

  #idleAtMs(): number {
    const { idleMs, idleWithSignsMs } = this.#clocks;
    const { lastProgressMs, lastActivityMs } = this.tally;
    return Math.min(lastProgressMs + idleWithSignsMs, lastActivityMs + idleMs);
  }

  /** The clock stands still while we do not read because the client is slow. */
  #skipUnreadTime(): number {
    if (this.#readEndedMs === null) return 0;
    const unreadMs = this.#clock.monotonicMs() - this.#readEndedMs;
    this.#readEndedMs = null;
    this.tally.skip(unreadMs);
    return unreadMs;
  }

  #close(): void {
    this.#isDone = true;
    this.#reader.close();
  }

  /** After the terminal marker only the end of the body is due: read it, so that the socket lives on. */
  #drain(): void {
    this.#isDone = true;
    const due: Due = { atMs: this.#clock.monotonicMs() + drainMs, clock: 'tail' };
    const readOn = (): Promise<void> =>
      this.#reader.read(due).then((result) => {
        const isTimeLeft = this.#clock.monotonicMs() < due.atMs;
        if (result.kind === 'bytes' && isTimeLeft) return readOn();
        if (result.kind === 'bytes' || result.kind === 'clock') this.#reader.cancel();
        else this.#reader.close();
        return undefined;
      });
    void readOn();
  }
}

/** What the provider said before its error still counts as said. */
function beforeError(parts: readonly StreamPart[]): readonly StreamPart[] {
  const index = parts.findIndex((part) => part.events.some((event) => event.type === 'error'));
  return index === -1 ? parts : parts.slice(0, index);
}
