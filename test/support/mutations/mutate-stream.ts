/** Streams as no provider should send them: the same seed gives the same bytes. */
import type { Random } from '../../../src/base/random.ts';
import { below, isChosen, pick } from '../schedule-draws.ts';
import { mutatedJson } from './mutate-json.ts';
import { type CorpusStream, corpora } from './stream-corpus.ts';
import type { StreamEvent } from './stream-events.ts';

const mutationsMax = 4;

/** One of the dialect's streams, changed in up to four ways. */
export function mutatedStream(dialect: string, random: Random): Buffer {
  const stream = oneOf(corpora.get(dialect)?.streams ?? [], random);
  if (isChosen(random, 0.02)) return foreign(random).bytes;
  let events = stream.events;
  const count = 1 + below(random, mutationsMax);
  let byteChanges = 0;
  for (let nth = 0; nth < count; nth += 1) {
    if (isChosen(random, 0.3)) byteChanges += 1;
    else events = withEventChange(events, stream, dialect, random);
  }
  let bytes = Buffer.concat(events.map((event) => event.bytes));
  for (let nth = 0; nth < byteChanges; nth += 1) bytes = withByteChange(bytes, random);
  return bytes;
}

function foreign(random: Random): CorpusStream {
  const all = [...corpora.values()].map(({ streams }) => streams);
  return oneOf(oneOf(all, random), random);
}

function withEventChange(
  events: readonly StreamEvent[],
  stream: CorpusStream,
  dialect: string,
  random: Random,
): readonly StreamEvent[] {
  const at = below(random, events.length + 1);
  const event = events[at];
  if (event === undefined) return events;
  const how = pick(random, [
    'change',
    'change',
    'change',
    'drop',
    'double',
    'repeat',
    'swap',
    'move',
    'cut',
    'splice',
    'foreign',
  ]);
  switch (how) {
    case 'change':
      if (event.json === undefined) return events;
      return events.with(at, event.carrying(mutatedJson(event.json, random)));
    case 'drop':
      return events.toSpliced(at, 1 + below(random, 3));
    case 'double':
      return events.toSpliced(at, 0, event);
    case 'repeat':
      return events.toSpliced(at, 0, ...new Array<StreamEvent>(20).fill(event));
    case 'swap': {
      const other = below(random, events.length);
      return events.with(at, events[other] ?? event).with(other, event);
    }
    case 'move':
      return events.toSpliced(at, 1).toSpliced(below(random, events.length), 0, event);
    case 'cut':
      return events.slice(0, at);
    case 'splice': {
      const other = oneOf(corpora.get(dialect)?.streams ?? [stream], random).events;
      return [...events.slice(0, at), ...other.slice(below(random, other.length))];
    }
    case 'foreign': {
      const { json } = oneOf(foreign(random).events, random);
      return json === undefined ? events : events.toSpliced(at, 0, event.carrying(text(json)));
    }
  }
}

export function withByteChange(bytes: Buffer, random: Random): Buffer<ArrayBuffer> {
  const at = below(random, bytes.length);
  const length = 1 + below(random, pick(random, [1, 4, 40]));
  const before = bytes.subarray(0, at);
  const piece = bytes.subarray(at, at + length);
  const after = bytes.subarray(at + length);
  switch (pick(random, ['flip', 'drop', 'double', 'move', 'noise', 'cut'])) {
    case 'flip': {
      const changed = Buffer.from(bytes);
      if (changed.length > 0) changed[at] = (changed[at] ?? 0) ^ (1 << below(random, 8));
      return changed;
    }
    case 'drop':
      return Buffer.concat([before, after]);
    case 'double':
      return Buffer.concat([before, piece, piece, after]);
    case 'move': {
      const rest = Buffer.concat([before, after]);
      const to = below(random, rest.length);
      return Buffer.concat([rest.subarray(0, to), piece, rest.subarray(to)]);
    }
    case 'noise':
      return Buffer.concat([before, noise(length, random), after]);
    case 'cut':
      return Buffer.from(before);
  }
}

/** Bytes of no stream: any at all, or what streams are made of in no order. */
export function noise(length: number, random: Random): Buffer<ArrayBuffer> {
  if (isChosen(random, 0.5)) {
    return Buffer.from(Array.from({ length }, () => below(random, 256)));
  }
  let soup = '';
  while (soup.length < length) soup += pick(random, crumbs);
  return Buffer.from(soup).subarray(0, length);
}

const crumbs: readonly [string, ...string[]] = [
  'data: ',
  'data:',
  'event: ',
  'event: error\n',
  'id: 1\n',
  ': ping',
  '\n',
  '\n\n',
  '\r\n\r\n',
  '\r',
  '\ufeff',
  '[DONE]',
  '{',
  '}',
  '[',
  ']',
  '"',
  '":',
  ',',
  '\\',
  'null',
  '{"choices":[{"index":0,"delta":{"content":"a"}}]}',
  '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
  '{"type":"message_stop"}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}',
  '{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"a"}',
  '{"type":"response.completed","response":{"status":"completed","output":[]}}',
  '{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}',
  '{"error":{"message":"x","code":500}}',
  '\u0000\u0000\u0000\u0010\u0000\u0000\u0000\u0000',
  '🌍',
];

/** Bytes in reads of any size. */
export function cutAnywhere(bytes: Buffer, random: Random): readonly Buffer[] {
  const most = Math.max(pick(random, [16, 128, 1024, 16_384]), Math.ceil(bytes.length / 100));
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + below(random, most);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}

function oneOf<Item>(items: readonly Item[], random: Random): Item {
  const item = items[below(random, items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}

function text(value: unknown): string {
  return JSON.stringify(value);
}
