/** The end of an answer, given or taken away. */
import type { StreamPart } from '../chat/stream-event.ts';

export const endPart: StreamPart = { events: [{ type: 'end' }], frame: null };

/** An end without a finish is none: the client is not told of it. */
export function withoutEnd(part: StreamPart): StreamPart {
  const events = part.events.filter((event) => event.type !== 'end');
  return events.length === part.events.length ? part : { ...part, events, frame: null };
}
