/** A stream of response events, cut anywhere, as parts. */
import { stringAt } from '../../base/json.ts';
import type { StreamPart } from '../../chat/stream-event.ts';
import { type SseEvent, SseSplitter } from '../../framing/sse.ts';
import type { UpstreamStreamDecoder } from '../dialect.ts';
import { frameOf } from '../event-frame.ts';
import { lostEvents, payloadOf } from '../event-payload.ts';
import { madeInEvent } from './made-items.ts';
import { type Reading, ResponseReader } from './response-reader.ts';
import { dialectName } from './wire.ts';

const idlePart: StreamPart = { events: [{ type: 'activity', isProgress: false }], frame: null };

/** The name in `event:` is not gone by: every event says its type itself, and some servers name none. */
export function streamDecoder(options: { readonly eventBytesMax: number }): UpstreamStreamDecoder {
  const splitter = new SseSplitter(options);
  const reader = new ResponseReader();
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
    end: () => {
      const parts = decode(splitter.end());
      const events = reader.end();
      return events.length === 0 ? parts : [...parts, { events, frame: null }];
    },
  };
}

function partOf(event: SseEvent, reader: ResponseReader): StreamPart | null {
  const payload = payloadOf(event);
  switch (payload.kind) {
    case 'nothing':
      return null;
    // Neither a comment nor the marker of another dialect (`[DONE]`) is passed on.
    case 'comment':
      return idlePart;
    case 'malformed':
      return { events: [{ type: 'malformed' }], frame: null };
    case 'too_large':
      return { events: lostEvents, frame: null };
    case 'json': {
      const reading = reader.read(payload.value);
      const part = payload.isFramed
        ? framed(reading, event, stringAt(payload.value, 'type'))
        : { events: reading.events, frame: null };
      const made = madeInEvent(payload.value);
      return made.length === 0 ? part : { ...part, made };
    }
  }
}

function framed(
  { events, isFrameKept }: Reading,
  event: SseEvent,
  name: string | null,
): StreamPart {
  if (!isFrameKept || event.kind === 'too_large') return { events, frame: null };
  // Its clients miss no name, but go by one that is there.
  const form = { dialect: dialectName, name: event.event && name, lineEnd: '\n' } as const;
  return { events, frame: frameOf(event, form) };
}
