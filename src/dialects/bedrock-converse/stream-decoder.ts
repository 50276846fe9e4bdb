/** A stream of Converse events, cut anywhere, as parts. */
import { parseJson, property, stringAt } from '../../base/json.ts';
import type { ChatEvent, StreamPart } from '../../chat/stream-event.ts';
import {
  type EventStreamMessage,
  EventStreamSplitter,
  type HeaderValue,
} from '../../framing/aws-event-stream.ts';
import { parseAnswer } from '../answer-json.ts';
import type { AskedModel, UpstreamStreamDecoder } from '../dialect.ts';
import { lostEvents } from '../event-payload.ts';
import { exceptionStatus } from './error-rules.ts';
import { EventReader } from './event-reader.ts';

export function streamDecoder(
  options: { readonly eventBytesMax: number } & AskedModel,
): UpstreamStreamDecoder {
  const splitter = new EventStreamSplitter(options);
  const reader = new EventReader(options.model ?? null);
  const decode = (messages: readonly EventStreamMessage[]): readonly StreamPart[] =>
    messages.flatMap((message) => partOf(eventsOf(message, reader)));
  return {
    push: (bytes) => decode(splitter.push(bytes)),
    end: () => [...decode(splitter.end()), ...partOf(reader.end())],
  };
}

function partOf(events: readonly ChatEvent[]): readonly StreamPart[] {
  return events.length === 0 ? [] : [{ events, frame: null }];
}

function eventsOf(message: EventStreamMessage, reader: EventReader): readonly ChatEvent[] {
  switch (message.kind) {
    case 'corrupt':
    case 'too_large':
      return lostEvents;
    case 'residual':
      // The body ended in mid-message: that the stream was cut shows by its missing end.
      return [];
    case 'message':
      return read(message.headers, message.payload.toString('utf8'), reader);
  }
}

type Headers = ReadonlyMap<string, HeaderValue>;

function read(headers: Headers, payload: string, reader: EventReader): readonly ChatEvent[] {
  switch (textOf(headers, ':message-type')) {
    case 'event': {
      const parsed = parseAnswer(payload === '' ? '{}' : payload);
      if (!parsed.ok) return [{ type: 'malformed' }];
      return reader.read(textOf(headers, ':event-type'), parsed.value);
    }
    case 'exception':
      return [errorOf(textOf(headers, ':exception-type'), payload)];
    case 'error': {
      const message = textOf(headers, ':error-message');
      return [errorOf(textOf(headers, ':error-code'), JSON.stringify({ message }))];
    }
    default:
      return [{ type: 'malformed' }];
  }
}

function textOf(headers: Headers, name: string): string {
  const value = headers.get(name);
  return typeof value === 'string' ? value : '';
}

/** Nothing follows it. The class stands in its header, and goes on in its body. */
function errorOf(name: string, payload: string): ChatEvent {
  const parsed = parseJson(payload);
  const document = parsed.ok ? parsed.value : null;
  const original = stringAt(document, 'originalMessage');
  const message = stringAt(document, 'message') ?? property(document, 'Message') ?? payload;
  return {
    type: 'error',
    status: exceptionStatus(name),
    body: {
      __type: name,
      message,
      ...(original === null ? {} : { originalMessage: original }),
    },
  };
}
