/** A stream of chunks, cut anywhere, as parts. */
import { parseJson } from '../../base/json.ts';
import type { StreamPart } from '../../chat/stream-event.ts';
import { type SseEvent, type SseField, SseSplitter } from '../../framing/sse.ts';
import type { UpstreamStreamDecoder } from '../dialect.ts';
import { frameOf } from '../event-frame.ts';
import { lostEvents, payloadOf } from '../event-payload.ts';
import { ChunkReader, type Reading } from './chunk-reader.ts';
import { withExactArguments } from './exact-arguments.ts';
import { TextTemplate } from './text-template.ts';
import { dialectName } from './wire.ts';

const malformedPart: StreamPart = { events: [{ type: 'malformed' }], frame: null };
const idlePart: StreamPart = { events: [{ type: 'activity', isProgress: false }], frame: null };
const frameForm = { dialect: dialectName, name: null, lineEnd: '\n' } as const;
const endPart: StreamPart = { events: [{ type: 'end' }], frame: null };

export function streamDecoder(options: { readonly eventBytesMax: number }): UpstreamStreamDecoder {
  const splitter = new SseSplitter(options);
  const reader = new ChunkReader();
  const template = new TextTemplate();
  const decode = (events: readonly SseEvent[]): readonly StreamPart[] => {
    const parts: StreamPart[] = [];
    for (const event of events) {
      const part = textPartOf(event, reader, template) ?? partOf(event, reader, template);
      if (part !== null) parts.push(part);
    }
    return parts;
  };
  return {
    push: (bytes) => decode(splitter.push(bytes)),
    end: () => decode(splitter.end()),
  };
}

/** A chunk of the form of an earlier one; null = it has to be parsed. */
function textPartOf(
  event: SseEvent,
  reader: ChunkReader,
  template: TextTemplate,
): StreamPart | null {
  if (event.kind !== 'event' || event.event !== null || event.otherFields.length > 0) return null;
  const read = template.read(event.data);
  if (read === null) return null;
  const events = reader.readText(read.choice, read.text);
  return { events, frame: frameOf(event, frameForm) };
}

function partOf(event: SseEvent, reader: ChunkReader, template: TextTemplate): StreamPart | null {
  if (event.kind === 'too_large') return { events: lostEvents, frame: null };
  const fault = event.otherFields.find((field) => field.name === 'error');
  if (fault !== undefined) return { events: errorIn(fault, reader).events, frame: null };
  if (event.kind !== 'comment' && isDone(event.data)) {
    if (event.kind === 'residual') return endPart;
    return { events: endPart.events, frame: frameOf(event, frameForm) };
  }
  const payload = payloadOf(event);
  switch (payload.kind) {
    case 'nothing':
      return null;
    // A comment is not passed on: the gateway sends its own.
    case 'comment':
      return idlePart;
    case 'malformed':
      return malformedPart;
    case 'too_large':
      return { events: lostEvents, frame: null };
    case 'json': {
      const chunk = withExactArguments(payload.value, payload.text);
      const { events, isPlain } = reader.readChunk(chunk, event.event === 'error');
      if (!isPlain || !payload.isFramed) return { events, frame: null };
      const [said] = events;
      const isText = said?.type === 'text' && said.logprobs === undefined;
      if (event.kind === 'event' && events.length === 1 && isText) {
        template.learn(event.data, said.choice, said.text);
      }
      return { events, frame: frameOf(event, frameForm) };
    }
  }
}

function isDone(data: string): boolean {
  return data === '[DONE]' || (data.length < 20 && data.trim() === '[DONE]');
}

/** A line whose field is named `error` (llama-box, recorded 2026-06): JSON or text. */
function errorIn(field: SseField, reader: ChunkReader): Reading {
  const parsed = parseJson(field.value);
  return reader.readChunk(parsed.ok ? parsed.value : { error: field.value }, true);
}
