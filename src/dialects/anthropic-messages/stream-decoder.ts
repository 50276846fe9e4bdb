/** A stream of Messages events, cut anywhere, as parts. */
import { stringAt } from '../../base/json.ts';
import type { StreamPart } from '../../chat/stream-event.ts';
import { type SseEvent, SseSplitter } from '../../framing/sse.ts';
import type { UpstreamStreamDecoder } from '../dialect.ts';
import { frameOf } from '../event-frame.ts';
import { lostEvents, payloadOf } from '../event-payload.ts';
import { MessageReader, type Reading } from './message-reader.ts';
import { dialectName } from './wire.ts';

/** The name in `event:` is not gone by: every event says its type itself, and proxies rename them. */
export function streamDecoder(options: { readonly eventBytesMax: number }): UpstreamStreamDecoder {
  const splitter = new SseSplitter(options);
  const reader = new MessageReader();
  const decode = (events: readonly SseEvent[]): readonly StreamPart[] => {
    const parts: StreamPart[] = [];
    for (const event of events) {
      const part = partOf(event, reader);
      if (part !== null) parts.push(part);
    }
    return parts;
  };
  return {
    push: (bytes) => decode(splitter.push(bytes)),
    // Half a frame is none: what is written after it would stand inside its last line.
    end: () => decode(splitter.end()).map((part) => ({ ...part, frame: null })),
  };
}

function partOf(event: SseEvent, reader: MessageReader): StreamPart | null {
  const payload = payloadOf(event);
  switch (payload.kind) {
    case 'nothing':
      return null;
    case 'comment':
      return framed(
        { events: [{ type: 'activity', isProgress: false }], isFrameKept: true },
        event,
        null,
      );
    case 'malformed':
      return { events: [{ type: 'malformed' }], frame: null };
    case 'too_large':
      return { events: lostEvents, frame: null };
    case 'json': {
      const reading = reader.read(payload.value);
      if (!payload.isFramed) return { events: reading.events, frame: null };
      return framed(reading, event, stringAt(payload.value, 'type'));
    }
  }
}

function framed(
  { events, isFrameKept }: Reading,
  event: SseEvent,
  name: string | null,
): StreamPart {
  if (!isFrameKept || event.kind === 'too_large') return { events, frame: null };
  return { events, frame: frameOf(event, { dialect: dialectName, name, lineEnd: '\n' }) };
}
