/** An event of a type that nobody here knows: never fatal, and counted, so that a new one is seen. */
import type { ChatEvent } from '../chat/stream-event.ts';

const plainType = /^[A-Za-z][\w.:-]{0,63}$/;

/** A sign of life that says what it was called, where that is a name. */
export function unknownEvent(type: string): ChatEvent {
  return { type: 'activity', isProgress: false, unknown: plainType.test(type) ? type : 'unnamed' };
}
