/** One HTTP request to one target, up to the point where its answer may be shown. Retries nothing. */
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { StreamPart } from '../chat/stream-event.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import { classifyTransport, malformedResponse } from '../failure/attempt-failures.ts';
import type { UnknownShapes } from '../failure/unknown-shapes.ts';
import type { Authorize } from '../providers/credential.ts';
import type { ProviderKey } from '../providers/provider.ts';
import type { Target } from '../routing/snapshot.ts';
import type { Transport, UpstreamRequest, UpstreamResponse } from '../transport/transport.ts';
import { endPart, withoutEnd } from './answer-end.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { AttemptStream, type Break } from './attempt-stream.ts';
import type { ClockName } from './body-reader.ts';
import { failureOfBreak, failureOfClock, failureOfResponse, foreignReply } from './failure-of.ts';
import { hold } from './hold.ts';
import { abortedFailure, type SentCall, sendCall } from './send-call.ts';
import { StreamTally } from './stream-tally.ts';
import { readWholeBody } from './whole-body.ts';

/** A whole reply larger than this is not trusted. */
const replyBytesMax = 64 * 1024 * 1024;
/** What is read of an error document. */
const errorBytesMax = 256 * 1024;
/** How long an error document is waited for. */
const errorBodyMs = 5000;

/**
 * Absolute times (monotonic ms) and durations that bound one attempt; null = off. `firstContentAtMs` may
 * move later while the attempt runs: once a hedge runs beside it, both race to the deadline.
 */
export type AttemptBounds = {
  readonly connectMs: number;
  readonly headersAtMs: number | null;
  firstContentAtMs: number;
  /** Where `firstContentAtMs` moves to then. */
  readonly racedFirstContentAtMs: number;
  /** When the next candidate may be asked as well; null = never. */
  readonly softAtMs: number | null;
  readonly idleMs: number;
  /** In place of `idleMs` while pings or server-tool events of a stream still come. */
  readonly idleWithSignsMs: number;
  readonly deadlineAtMs: number;
  /** What would have cut the attempt had no other candidate been left, ms from its start. */
  readonly ownLimitMs: number;
  /** Silence for less than this is no failure of the target, ms from the attempt's start. */
  readonly fairMs: number;
  readonly holdTokens: number;
  readonly holdMaxMs: number;
};

export type AttemptInput = {
  readonly target: Target;
  readonly upstream: UpstreamRequest;
  /** Completes `upstream` whenever it is sent; null = it is complete. */
  readonly authorize: Authorize | null;
  /** Whether a refused proof may be made anew; null = never. */
  readonly renew: ProviderKey['renew'] | null;
  readonly isStream: boolean;
  readonly bounds: AttemptBounds;
  /** How many answers are asked for. */
  readonly choices: number;
  /** What was sent may have written: it is not sent again, whatever the socket had done before. */
  readonly isOnceOnly: boolean;
  readonly record: AttemptRecord;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
};

export type AttemptPorts = {
  readonly clock: Clock;
  readonly transport: Transport;
  /** Where error answers of an unknown shape are counted. */
  readonly unknownShapes?: UnknownShapes;
};

export type AttemptResult =
  | { readonly kind: 'gone' }
  /** `hadContent`: some of the answer had come and was held back, so the client saw nothing of it. */
  | { readonly kind: 'failed'; readonly failure: AttemptFailure; readonly hadContent: boolean }
  | {
      readonly kind: 'whole';
      readonly parts: readonly StreamPart[];
      readonly body: Buffer;
      readonly tally: StreamTally;
    }
  /** Committed: what was held, and the rest to come (null = it has already ended). */
  | {
      readonly kind: 'stream';
      readonly parts: readonly StreamPart[];
      readonly isComplete: boolean;
      readonly stream: AttemptStream;
    };

/** An empty answer of a dialect that gives them by mistake is asked for once more, uncounted; then it counts. */
export async function attempt(input: AttemptInput, ports: AttemptPorts): Promise<AttemptResult> {
  const first = await attemptOnce(input, ports);
  const asksAgain = input.target.provider.dialect.asksAgainWhenEmpty === true;
  if (!asksAgain || input.isOnceOnly || !isEmptyAnswer(first)) return first;
  const second = await attemptOnce(input, ports);
  return second.kind === 'failed' ? first : second;
}

function isEmptyAnswer(result: AttemptResult): boolean {
  if (result.kind === 'whole') return isEmptyStop(result.tally);
  return result.kind === 'stream' && result.isComplete && isEmptyStop(result.stream.tally);
}

function isEmptyStop({ finish, hasContent, hasToolCall }: StreamTally): boolean {
  return finish === 'stop' && !hasContent && !hasToolCall;
}

async function attemptOnce(input: AttemptInput, ports: AttemptPorts): Promise<AttemptResult> {
  const sent = await sendUntilHeaders(input, ports);
  if (sent.kind === 'clock') return failed(failureOfClock(sent.clock, input.record.elapsedMs()));
  if (sent.kind === 'unauthorized') return failed(sent.failure);
  if (sent.kind === 'failed') {
    return sent.failure.kind === 'aborted'
      ? { kind: 'gone' }
      : failed(classifyTransport(sent.failure));
  }
  const { response } = sent;
  input.record.status = response.status;
  input.record.ttfbMs = input.record.elapsedMs();
  if (response.status < 200 || response.status >= 300) return readError(input, ports, response);
  const isWhole = !input.isStream || isJson(response);
  return isWhole ? readReply(input, ports, response) : readStream(input, ports, response);
}

function failed(failure: AttemptFailure, hadContent = false): AttemptResult {
  return { kind: 'failed', failure, hadContent };
}

type Sent = SentCall | { readonly kind: 'clock'; readonly clock: ClockName };

const refusedStatuses: readonly number[] = [401, 403];

/**
 * A reset on a reused socket before any answer, and a proof that held too long, are sent again once, at
 * once, uncounted: nothing was done for either.
 */
async function sendUntilHeaders(input: AttemptInput, ports: AttemptPorts): Promise<Sent> {
  const first = await sendOnce(input, ports);
  if (first.kind === 'response') {
    const { response, proof } = first;
    if (!refusedStatuses.includes(response.status) || proof === null) return first;
    if (input.renew?.(proof, response) !== true) return first;
    response.cancel();
    return sendOnce(input, ports);
  }
  if (first.kind !== 'failed' || !first.failure.isStaleSocket || input.isOnceOnly) return first;
  return sendOnce(input, ports);
}

async function sendOnce(input: AttemptInput, { clock, transport }: AttemptPorts): Promise<Sent> {
  const { bounds, signal } = input;
  if (signal.aborted) return { kind: 'failed', failure: abortedFailure };
  const abort = new AbortController();
  const onGone = (): void => abort.abort();
  signal.addEventListener('abort', onGone, { once: true });
  let expired: ClockName | null = null;
  const cancelTimer = watchHeaders(bounds, clock, (name) => {
    expired = name;
    abort.abort();
  });
  const sent = await sendCall(input, transport, {
    signal: abort.signal,
    connectTimeoutMs: bounds.connectMs,
  });
  cancelTimer();
  signal.removeEventListener('abort', onGone);
  if (sent.kind !== 'response' && expired !== null) return { kind: 'clock', clock: expired };
  return sent;
}

/** Calls `onDue` with the clock that ran out; follows a first-content clock that moves later. */
function watchHeaders(
  bounds: AttemptBounds,
  clock: Clock,
  onDue: (name: ClockName) => void,
): CancelTimer {
  const headersAtMs = bounds.headersAtMs ?? Number.POSITIVE_INFINITY;
  let cancel: CancelTimer = () => undefined;
  const look = (): void => {
    const dueMs = Math.min(headersAtMs, bounds.firstContentAtMs);
    const leftMs = dueMs - clock.monotonicMs();
    if (leftMs > 0) cancel = clock.schedule(leftMs, look);
    else onDue(headersAtMs < bounds.firstContentAtMs ? 'headers' : 'first_content');
  };
  look();
  return () => cancel();
}

function isJson(response: UpstreamResponse): boolean {
  return response.headers['content-type']?.includes('application/json') ?? false;
}

async function readError(
  input: AttemptInput,
  ports: AttemptPorts,
  response: UpstreamResponse,
): Promise<AttemptResult> {
  // What the next candidate is left of the deadline is not spent on the words of an error.
  const atMs = Math.min(ports.clock.monotonicMs() + errorBodyMs, input.bounds.firstContentAtMs);
  const body = await readWholeBody(response, {
    clock: ports.clock,
    signal: input.signal,
    bytesMax: errorBytesMax,
    idleMs: input.bounds.idleMs,
    due: () => ({ atMs, clock: 'whole' }),
  });
  if (input.signal.aborted) return { kind: 'gone' };
  const bytes = body.kind === 'read' ? body.bytes : Buffer.alloc(0);
  const { provider } = input.target;
  const nowWallMs = ports.clock.wallMs();
  const { unknownShapes } = ports;
  return failed(failureOfResponse({ provider, response, bytes, nowWallMs, unknownShapes }));
}

async function readReply(
  input: AttemptInput,
  ports: AttemptPorts,
  response: UpstreamResponse,
): Promise<AttemptResult> {
  const { bounds, record, target } = input;
  const body = await readWholeBody(response, {
    clock: ports.clock,
    signal: input.signal,
    bytesMax: replyBytesMax,
    idleMs: bounds.idleMs,
    due: () => ({ atMs: bounds.firstContentAtMs, clock: 'first_content' }),
  });
  if (input.signal.aborted) return { kind: 'gone' };
  if (body.kind === 'clock') return failed(failureOfClock(body.clock, record.elapsedMs()));
  if (body.kind === 'failed') return failed(classifyTransport(body.failure));
  if (body.kind === 'too_large')
    return failed(malformedResponse('the reply is larger than 64 MiB', response.status));
  const parts = target.provider.dialect.decodeReply(body.bytes, { model: target.model });
  const tally = new StreamTally(record.startedMs);
  const nowMs = ports.clock.monotonicMs();
  for (const part of parts) for (const event of part.events) tally.push(event, nowMs);
  noteTally(record, tally);
  if (tally.error !== null) {
    const cause = { why: 'error_event', ...tally.error } as const;
    return failed(breakOf(input, ports, response, cause));
  }
  const mayInfer = target.provider.allowMissingFinish && tally.hasContent;
  if (tally.malformedEvents > 1 || !(tally.isFinished || mayInfer)) {
    return failed(malformedResponse(foreignReply, response.status));
  }
  record.ttftMs = record.elapsedMs();
  return { kind: 'whole', parts: finished(parts, tally), body: body.bytes, tally };
}

/** With the finish that its provider is known to leave out. */
function finished(parts: readonly StreamPart[], tally: StreamTally): readonly StreamPart[] {
  if (tally.isFinished) return parts;
  return [...parts.map(withoutEnd), ...tally.inferFinishes(), endPart];
}

async function readStream(
  input: AttemptInput,
  ports: AttemptPorts,
  response: UpstreamResponse,
): Promise<AttemptResult> {
  const { bounds, record, target } = input;
  const { provider } = target;
  const stream = new AttemptStream({
    response,
    decoder: provider.dialect.streamDecoder({
      eventBytesMax: provider.eventBytesMax,
      model: target.model,
    }),
    eventBytesMax: provider.eventBytesMax,
    clock: ports.clock,
    clocks: bounds,
    allowsMissingFinish: provider.allowMissingFinish,
    choices: input.choices,
    signal: input.signal,
  });
  const held = await hold(stream, bounds, ports.clock, () => {
    record.ttftMs ??= record.elapsedMs();
  });
  noteTally(record, stream.tally);
  if (held.kind === 'committed') {
    return { kind: 'stream', parts: held.parts, isComplete: held.isComplete, stream };
  }
  if (input.signal.aborted) return { kind: 'gone' };
  return failed(breakOf(input, ports, response, held.cause), stream.tally.hasContent);
}

/** The failure of an answer that broke before the client saw any of it. */
function breakOf(
  input: AttemptInput,
  ports: AttemptPorts,
  response: UpstreamResponse,
  cause: Break,
): AttemptFailure {
  return failureOfBreak({
    provider: input.target.provider,
    cause,
    headers: response.headers,
    nowWallMs: ports.clock.wallMs(),
    afterMs: input.record.elapsedMs(),
    isCommitted: false,
    unknownShapes: ports.unknownShapes,
  });
}

export function noteTally(record: AttemptRecord, tally: StreamTally): void {
  record.usage = tally.usage;
  record.reportedModel = tally.model;
  record.unknownEvents = tally.unknownEvents;
}
