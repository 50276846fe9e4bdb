/** What one block of an event stream carries, for dialects whose every event is a JSON document. */
import type { ChatEvent } from '../chat/stream-event.ts';
import type { SseEvent } from '../framing/sse.ts';
import { parseAnswer } from './answer-json.ts';

export type EventPayload =
  /** `isFramed`: it came as an event; else as bare JSON in the body, as some errors do. */
  | {
      readonly kind: 'json';
      readonly value: unknown;
      readonly text: string;
      readonly isFramed: boolean;
    }
  | { readonly kind: 'malformed' }
  /** A sign of life. */
  | { readonly kind: 'comment' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'too_large' };

/** One malformed event is passed over; a stream that lost an event of unknown content has two. */
export const lostEvents: readonly ChatEvent[] = [{ type: 'malformed' }, { type: 'malformed' }];

/** A blank line too many, or half of one where line ends are mixed: blocks of these many bytes at most. */
const strayBytesMax = 2;

export function payloadOf(event: SseEvent): EventPayload {
  switch (event.kind) {
    case 'too_large':
      return { kind: 'too_large' };
    case 'comment':
      return event.bytes.length <= strayBytesMax ? { kind: 'nothing' } : barePayload(event.bytes);
    case 'residual': {
      const parsed = parseAnswer(event.data);
      // The body ended in mid-event: that the stream was cut shows by its missing end.
      if (!parsed.ok) return { kind: 'nothing' };
      return { kind: 'json', value: parsed.value, text: event.data, isFramed: false };
    }
    case 'event': {
      const data = event.data.trim();
      if (data === '' || data === '[DONE]') return { kind: 'comment' };
      const parsed = parseAnswer(data);
      if (!parsed.ok) return { kind: 'malformed' };
      return { kind: 'json', value: parsed.value, text: data, isFramed: true };
    }
  }
}

function barePayload(bytes: Buffer): EventPayload {
  const text = bytes.toString('utf8').trim();
  if (text.startsWith('{') || text.startsWith('[')) {
    const parsed = parseAnswer(text);
    if (parsed.ok) return { kind: 'json', value: parsed.value, text, isFramed: false };
  }
  return text.split(/\r\n|\n|\r/).every(isQuiet) ? { kind: 'comment' } : { kind: 'malformed' };
}

/** A comment, or a field of an event without data; whatever else stands there was something once. */
function isQuiet(line: string): boolean {
  return line === '' || line.startsWith(':') || /^(?:event|id|retry)(?::|$)/.test(line);
}
