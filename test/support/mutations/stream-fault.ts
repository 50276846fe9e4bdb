/** A stream of any bytes from a provider to a client of each dialect: what is wrong with what came of it. */
import type { ChatEvent, StreamPart } from '../../../src/chat/stream-event.ts';
import type { ClientDialect, UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import { AttemptStream, type Break } from '../../../src/engine/attempt-stream.ts';
import { failureOfBreak } from '../../../src/engine/failure-of.ts';
import type { RequestFailure } from '../../../src/failure/request-failure.ts';
import type { BodyChunk, UpstreamResponse } from '../../../src/transport/transport.ts';
import { cutForms } from '../cuts/cut-forms.ts';
import { orderFaults } from '../decoder-properties.ts';
import { VirtualClock } from '../virtual-clock.ts';
import { contentFault, encoderOptions } from './content-fault.ts';
import { lastWordOf } from './last-word.ts';

const eventBytesMax = 1 << 20;
const clocks = { firstContentAtMs: 60_000, idleMs: 60_000, idleWithSignsMs: 60_000 };

const failure: RequestFailure = {
  failureClass: 'stream_interrupted',
  status: 502,
  message: 'the stream broke',
  param: null,
  retryAfterMs: null,
  attempts: [],
  requestId: 'own',
  clientRequestId: 'theirs',
  tokens: null,
  regenerate: true,
};

/** What the engine read. */
type ReadStream = {
  readonly parts: readonly StreamPart[];
  /** Null: it came to its end. */
  readonly cause: Break | null;
  /** Content had come before it broke: a client may have been shown it. */
  readonly isShown: boolean;
};

/** Null: nothing is wrong. */
export async function streamFault(
  name: string,
  bytes: Buffer,
  pieces: readonly Buffer[],
): Promise<string | null> {
  try {
    return await faultOf(name, bytes, pieces);
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

async function faultOf(
  name: string,
  bytes: Buffer,
  pieces: readonly Buffer[],
): Promise<string | null> {
  const dialect = upstreamDialects.get(name);
  if (dialect === undefined) throw new Error(`no ${name}`);
  const events = eventsOf(dialect, [bytes]);
  const [disorder] = orderFaults(events);
  if (disorder !== undefined) return disorder;
  if (events.length > bytes.length + 64) return `${events.length} events of ${bytes.length} bytes`;
  if (writtenOf(eventsOf(dialect, pieces)) !== writtenOf(events)) {
    return 'other events when the bytes are cut';
  }
  const read = await readStream(dialect, pieces);
  if (read.cause?.why === 'thrown') throw read.cause.error;
  if (read.cause !== null) classifyBreak(dialect, read.cause);
  if (read.cause !== null && !read.isShown) return null;
  for (const form of cutForms) {
    const fault = toldFault(form.dialect, form.name, read, bytes.length);
    if (fault !== null) return `to ${form.name}: ${fault}`;
  }
  return null;
}

/** Signs of life say when, not what: a line end cut in two may give one more. */
function eventsOf(dialect: UpstreamDialect, pieces: readonly Buffer[]): readonly ChatEvent[] {
  const decoder = dialect.streamDecoder({ eventBytesMax });
  const parts = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
  return parts.flatMap(({ events }) => events).filter(({ type }) => type !== 'activity');
}

/** Of an error only that it came: its body may be of any depth. */
function writtenOf(events: readonly ChatEvent[]): string {
  return JSON.stringify(events.map((event) => (event.type === 'error' ? event.type : event)));
}

async function readStream(
  dialect: UpstreamDialect,
  pieces: readonly Buffer[],
): Promise<ReadStream> {
  const clock = new VirtualClock();
  const stream = new AttemptStream({
    response: responseOf(pieces),
    decoder: dialect.streamDecoder({ eventBytesMax }),
    eventBytesMax,
    clock,
    clocks,
    allowsMissingFinish: false,
    choices: 1,
    signal: new AbortController().signal,
  });
  const parts: StreamPart[] = [];
  for (let steps = 0; steps <= pieces.length + 1; steps += 1) {
    const isShown = stream.tally.hasContent;
    const step = await stream.next(null);
    if (step.kind === 'held') continue;
    for (const part of step.parts) parts.push(part);
    if (step.kind === 'parts') continue;
    stream.cancel();
    const cause = step.kind === 'broken' ? step.cause : null;
    return { parts, cause, isShown };
  }
  throw new Error('no end');
}

function responseOf(pieces: readonly Buffer[]): UpstreamResponse {
  const left: BodyChunk[] = pieces.map((bytes) => ({ kind: 'bytes', bytes }));
  return {
    status: 200,
    headers: {},
    read: () => Promise.resolve(left.shift() ?? { kind: 'end' }),
    cancel: () => undefined,
  };
}

function classifyBreak(dialect: UpstreamDialect, cause: Break): void {
  const provider = { dialect, operatorRules: [] };
  const rest = { headers: {}, nowWallMs: 0, afterMs: 0, isCommitted: false };
  failureOfBreak({ provider, cause, ...rest });
}

/** What the client of `dialect` makes of it, in its provider's frames and, as others' clients, without. */
function toldFault(
  dialect: ClientDialect,
  form: string,
  read: ReadStream,
  bytesRead: number,
): string | null {
  const translated = read.parts.map(({ events }): StreamPart => ({ events, frame: null }));
  const inFrames = told(dialect, { ...read, parts: read.parts });
  const inOwnWords = told(dialect, { ...read, parts: translated });
  for (const raw of [inFrames, inOwnWords]) {
    const wanted = read.cause === null ? 'end' : 'error';
    const word = lastWordOf(form, raw);
    if (word !== wanted) return `${word} for ${wanted}`;
    if (raw.length > 60 * bytesRead + 20_000) return `${raw.length} bytes of ${bytesRead}`;
  }
  if (read.cause !== null) return null;
  const stream = form.endsWith('array') ? null : inOwnWords;
  return contentFault(dialect, { stream, parts: read.parts });
}

function told(dialect: ClientDialect, { parts, cause }: ReadStream): string {
  const encoder = dialect.streamEncoder(encoderOptions);
  const pieces = parts.map((part) => encoder.push(part).toString());
  if (cause !== null) pieces.push(encoder.fail(failure));
  return pieces.join('');
}
