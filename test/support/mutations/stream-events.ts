/** A stream's bytes as events that can be moved about, and put together again in the framing of their dialect. */
import { parseAnswer } from '../../../src/dialects/answer-json.ts';
import { EventStreamSplitter } from '../../../src/framing/aws-event-stream.ts';
import { encodeMessage } from '../event-stream-codec.ts';

export type StreamEvent = {
  readonly bytes: Buffer;
  /** What it carries; undefined where that is no JSON, or too deep to be walked. */
  readonly json: unknown;
  /** The event with `text` in its place: checksums and lengths are right. */
  readonly carrying: (text: string) => StreamEvent;
};

export type Framing = 'lines' | 'messages';

export function eventsIn(bytes: Buffer, framing: Framing): readonly StreamEvent[] {
  return framing === 'lines' ? linesIn(bytes) : messagesIn(bytes);
}

function linesIn(bytes: Buffer): readonly StreamEvent[] {
  return bytes
    .toString('utf8')
    .split(/(?<=\n\r?\n|\r\r)/)
    .map(blockOf);
}

function blockOf(block: string): StreamEvent {
  const data = /^data: ?(.*?)\r?$/m.exec(block);
  const told = data?.[1] ?? '';
  const from = data === null ? 0 : data.index + data[0].indexOf(told, 'data:'.length);
  return {
    bytes: Buffer.from(block),
    json: jsonOf(told),
    carrying: (text) => blockOf(block.slice(0, from) + text + block.slice(from + told.length)),
  };
}

function messagesIn(bytes: Buffer): readonly StreamEvent[] {
  const splitter = new EventStreamSplitter({ eventBytesMax: bytes.length + 1 });
  return splitter.push(bytes).flatMap((message) => {
    if (message.kind !== 'message') return [];
    const headers = Object.fromEntries(
      [...message.headers].map(([name, value]) => [name, String(value)]),
    );
    return [messageOf(headers, message.payload.toString('utf8'))];
  });
}

function messageOf(headers: { readonly [name: string]: string }, payload: string): StreamEvent {
  const typed = Object.entries(headers).map(([name, value]) => [
    name,
    { type: 'string', value } as const,
  ]);
  return {
    bytes: encodeMessage(Object.fromEntries(typed), payload),
    json: jsonOf(payload),
    carrying: (text) => messageOf(headers, text),
  };
}

function jsonOf(text: string): unknown {
  const parsed = parseAnswer(text);
  return parsed.ok ? parsed.value : undefined;
}
