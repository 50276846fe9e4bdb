/** The frame of an event that is passed on in its own dialect. */
import type { Frame } from '../chat/stream-event.ts';
import type { SseEvent } from '../framing/sse.ts';

type PassedEvent = Exclude<SseEvent, { readonly kind: 'too_large' }>;

export type FrameForm = {
  readonly dialect: Frame['dialect'];
  /** What the dialect's clients go by: `event:` names the type that the document says. Null: they need none. */
  readonly name: string | null;
  readonly lineEnd: '\n' | '\r\n';
};

/** As it came, unless a client of the dialect could not read it so: a proxy may rename events, or add lines. */
export function frameOf(event: PassedEvent, { dialect, name, lineEnd }: FrameForm): Frame {
  if (event.kind === 'comment') return { dialect, bytes: event.bytes };
  const isNamed = name === null || event.event === name;
  const isPlain = event.otherFields.length === 0 && hasOneLineEnd(event.bytes);
  if (isNamed && isPlain) return { dialect, bytes: event.bytes };
  const lines = event.data.split('\n').map((line) => `data: ${line}`);
  const named = name === null ? lines : [`event: ${name}`, ...lines];
  return { dialect, bytes: Buffer.from([...named, '', ''].join(lineEnd)) };
}

/** Some clients take no blank line that is made of two kinds. */
function hasOneLineEnd(bytes: Buffer): boolean {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - 4));
  return end.endsWith('\n\n') || end.endsWith('\r\r') || end === '\r\n\r\n';
}
