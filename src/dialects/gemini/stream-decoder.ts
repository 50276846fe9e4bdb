/** A stream of generateContent chunks, cut anywhere, as parts: events, or the array sent without `alt=sse`. */
import type { StreamPart } from '../../chat/stream-event.ts';
import { type SseEvent, SseSplitter } from '../../framing/sse.ts';
import { parseAnswer } from '../answer-json.ts';
import type { UpstreamStreamDecoder } from '../dialect.ts';
import { frameOf } from '../event-frame.ts';
import { lostEvents, payloadOf } from '../event-payload.ts';
import { AnswerReader } from './answer-reader.ts';
import { withExactCalls } from './exact-calls.ts';
import { type JsonPiece, JsonSplitter } from './json-splitter.ts';
import { dialectName } from './wire.ts';

/** Feeds bytes to one framing; `decode` is told whether the body ended. */
type Framing = {
  readonly push: (bytes: Buffer) => readonly StreamPart[];
  readonly end: () => readonly StreamPart[];
};

export function streamDecoder(options: { readonly eventBytesMax: number }): UpstreamStreamDecoder {
  const reader = new AnswerReader();
  let framing: Framing | null = null;
  return {
    push: (bytes) => {
      framing ??= framingFor(bytes, reader, options);
      return framing?.push(bytes) ?? [];
    },
    end: () => {
      const parts = framing?.end() ?? [];
      const events = reader.end();
      return events.length > 0 ? [...parts, { events, frame: null }] : parts;
    },
  };
}

const byteOrderMark = [0xef, 0xbb, 0xbf];

/** The first byte that is not blank tells: a bare JSON text begins with a bracket, an event stream never does. */
function framingFor(
  bytes: Buffer,
  reader: AnswerReader,
  options: { readonly eventBytesMax: number },
): Framing | null {
  const first = bytes.find((byte) => !isBlank(byte) && !byteOrderMark.includes(byte));
  if (first === undefined) return null;
  const isBare = first === 0x5b || first === 0x7b;
  return isBare
    ? bareFraming(new JsonSplitter(options), reader)
    : eventFraming(new SseSplitter(options), reader);
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function bareFraming(splitter: JsonSplitter, reader: AnswerReader): Framing {
  const partOf = (piece: JsonPiece): StreamPart => {
    if (piece.kind === 'too_large') return { events: lostEvents, frame: null };
    const parsed = parseAnswer(piece.text);
    if (!parsed.ok) return { events: [{ type: 'malformed' }], frame: null };
    return { events: reader.read(withExactCalls(parsed.value, piece.text)).events, frame: null };
  };
  // An object without its end was cut off: the missing finish tells.
  return { push: (bytes) => splitter.push(bytes).map(partOf), end: () => [] };
}

function eventFraming(splitter: SseSplitter, reader: AnswerReader): Framing {
  const decode = (events: readonly SseEvent[]): readonly StreamPart[] => {
    const parts: StreamPart[] = [];
    for (const event of events) {
      const part = partOf(event, reader);
      if (part !== null) parts.push(part);
    }
    return parts;
  };
  return { push: (bytes) => decode(splitter.push(bytes)), end: () => decode(splitter.end()) };
}

function partOf(event: SseEvent, reader: AnswerReader): StreamPart | null {
  const payload = payloadOf(event);
  switch (payload.kind) {
    case 'nothing':
      return null;
    case 'comment':
      // The vendor's own SDKs fail on a line that is no data.
      return { events: [{ type: 'activity', isProgress: false }], frame: null };
    case 'malformed':
      return { events: [{ type: 'malformed' }], frame: null };
    case 'too_large':
      return { events: lostEvents, frame: null };
    case 'json': {
      const chunk = withExactCalls(payload.value, payload.text);
      const { events, isFrameKept } = reader.read(chunk);
      return payload.isFramed && isFrameKept ? framed(events, event) : { events, frame: null };
    }
  }
}

function framed(events: StreamPart['events'], event: SseEvent): StreamPart {
  if (event.kind === 'too_large') return { events, frame: null };
  const form = { dialect: dialectName, name: null, lineEnd: '\r\n' } as const;
  return { events, frame: frameOf(event, form) };
}
