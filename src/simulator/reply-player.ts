/** Plays a reply plan on a response: waits, back pressure, cuts and resets, until done or the peer is gone. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { createBrotliCompress, createDeflate, createGzip } from 'node:zlib';
import { type Clock, sleep } from '../base/clock.ts';
import { unreachable } from '../base/unreachable.ts';
import type { Beat, ContentEncoding, ReplyPlan } from './reply-plan.ts';

/** What the plan itself did; the server adds who closed. `gone`: the connection closed before the end. */
export type Played = 'completed' | 'cut' | 'reset' | 'gone';

export type Stage = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly clock: Clock;
  /** Aborts when the connection closes or the server stops. */
  readonly signal: AbortSignal;
};

/** Resolves when the plan is through; never rejects. */
export async function playReply(plan: ReplyPlan, stage: Stage): Promise<Played> {
  if (plan.delayMs > 0 && (await sleep(stage.clock, plan.delayMs, stage.signal)) === 'aborted') {
    return 'gone';
  }
  if (stage.signal.aborted) return 'gone';
  if (plan.kind === 'whole') {
    writeWhole(plan, stage.response);
    return 'completed';
  }
  const sink = openSink(plan, stage);
  for (const beat of split(plan.beats, plan.splitBytes)) {
    const played = await playBeat(beat, sink, stage);
    if (played !== null) return played;
  }
  sink.end();
  return 'completed';
}

/** Writes a whole reply in one go. */
export function writeWhole(
  plan: Extract<ReplyPlan, { kind: 'whole' }>,
  response: ServerResponse,
): void {
  const body = typeof plan.body === 'string' ? Buffer.from(plan.body) : plan.body;
  response.writeHead(plan.status, { 'content-length': body.length, ...copied(plan.headers) });
  response.end(body);
}

async function playBeat(beat: Beat, sink: Sink, stage: Stage): Promise<Played | null> {
  switch (beat.kind) {
    case 'bytes':
      return (await sink.write(beat.bytes)) ? null : 'gone';
    case 'wait':
      return (await sleep(stage.clock, beat.ms, stage.signal)) === 'elapsed' ? null : 'gone';
    case 'hang':
      await aborted(stage.signal);
      return 'gone';
    case 'end':
      sink.end();
      return 'completed';
    case 'cut':
      if (!(await sink.flushed())) return 'gone';
      stage.request.socket.destroy();
      return 'cut';
    case 'reset':
      if (!(await sink.flushed())) return 'gone';
      stage.request.socket.resetAndDestroy();
      return 'reset';
    default:
      return unreachable(beat);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}

type Sink = {
  /** False when the connection is gone. Waits for a full socket to drain. */
  readonly write: (bytes: string | Buffer) => Promise<boolean>;
  /** Waits until everything written was handed to the kernel. */
  readonly flushed: () => Promise<boolean>;
  readonly end: () => void;
};

function openSink(plan: Extract<ReplyPlan, { kind: 'beats' }>, stage: Stage): Sink {
  const { response, request, signal } = stage;
  if (plan.head === null) {
    const { socket } = request;
    return writableSink(socket, { signal, isPaced: plan.splitBytes > 0, end: () => socket.end() });
  }
  response.writeHead(plan.head.status, copied(plan.head.headers));
  response.flushHeaders();
  if (plan.encoding !== null) return encodedSink(plan.encoding, stage);
  return writableSink(response, {
    signal,
    isPaced: plan.splitBytes > 0,
    end: () => response.end(),
  });
}

type SinkOptions = {
  readonly signal: AbortSignal;
  /** One turn of the event loop between writes, so that each leaves on its own. */
  readonly isPaced: boolean;
  readonly end: () => void;
};

function writableSink(out: Writable, { signal, isPaced, end }: SinkOptions): Sink {
  let unflushed = 0;
  let onFlushed: (() => void) | null = null;
  const settle = (): void => {
    unflushed -= 1;
    if (unflushed === 0) onFlushed?.();
  };
  const flushed = async (): Promise<boolean> => {
    if (unflushed > 0) {
      await orAborted(signal, (done) => {
        onFlushed = done;
      });
    }
    return !signal.aborted;
  };
  return {
    end,
    flushed,
    write: async (bytes) => {
      if (signal.aborted) return false;
      unflushed += 1;
      const hasRoom = out.write(bytes, settle);
      if (isPaced) {
        await flushed();
        await new Promise((resolve) => setImmediate(resolve));
      } else if (!hasRoom) {
        await orAborted(signal, (done) => out.once('drain', done));
      }
      return !signal.aborted;
    },
  };
}

/** Compressed and flushed after each beat, so that a reader sees each as it is written. */
function encodedSink(encoding: ContentEncoding, { response, signal }: Stage): Sink {
  const compressor =
    encoding === 'br'
      ? createBrotliCompress()
      : encoding === 'gzip'
        ? createGzip()
        : createDeflate();
  compressor.on('error', () => response.destroy());
  signal.addEventListener('abort', () => compressor.destroy(), { once: true });
  compressor.pipe(response);
  return {
    end: () => compressor.end(),
    flushed: () => Promise.resolve(!signal.aborted),
    write: async (bytes) => {
      if (signal.aborted) return false;
      compressor.write(bytes);
      await orAborted(signal, (done) => compressor.flush(done));
      return !signal.aborted;
    },
  };
}

/** Resolves when `start` calls back or the signal aborts; leaves no listener behind. */
function orAborted(signal: AbortSignal, start: (done: () => void) => void): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done, { once: true });
    start(done);
  });
}

/** The same beats with their bytes cut to `size`; a remainder is carried on until something else happens. */
export function* split(beats: Iterable<Beat>, size: number): Iterable<Beat> {
  if (size <= 0) {
    yield* beats;
    return;
  }
  let carried = Buffer.alloc(0);
  for (const beat of beats) {
    if (beat.kind !== 'bytes') {
      if (carried.length > 0) yield { kind: 'bytes', bytes: carried };
      carried = Buffer.alloc(0);
      yield beat;
      continue;
    }
    const bytes = Buffer.concat([carried, Buffer.from(beat.bytes)]);
    const whole = bytes.length - (bytes.length % size);
    for (let at = 0; at < whole; at += size) {
      yield { kind: 'bytes', bytes: bytes.subarray(at, at + size) };
    }
    carried = bytes.subarray(whole);
  }
  if (carried.length > 0) yield { kind: 'bytes', bytes: carried };
}

function copied(headers: { readonly [name: string]: string | readonly string[] }) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]),
  );
}
