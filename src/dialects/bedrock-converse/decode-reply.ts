/** A whole Converse reply as parts. */
import { append } from '../../base/append.ts';
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  objectAt,
  property,
  stringAt,
} from '../../base/json.ts';
import type { ChatEvent, StreamPart } from '../../chat/stream-event.ts';
import { parseAnswer } from '../answer-json.ts';
import type { AskedModel } from '../dialect.ts';
import { parseExactJson } from '../exact-json.ts';
import { EventReader } from './event-reader.ts';

/** Ends in `end` when the body is an answer; else it holds an `error` or is `malformed`. */
export function decodeReply(body: Buffer, asked: AskedModel = {}): readonly StreamPart[] {
  const text = body.toString('utf8');
  const parsed = parseAnswer(text);
  const document = parsed.ok ? parsed.value : null;
  const blocks = blocksIn(document);
  if (blocks === null) return [partOf([faultOf(document)])];
  const reader = new EventReader(asked.model ?? null);
  const events: ChatEvent[] = [];
  for (const [type, event] of eventsOf(document, exactBlocks(text, blocks))) {
    append(events, reader.read(type, event));
  }
  append(events, reader.end());
  return [partOf(events)];
}

function partOf(events: readonly ChatEvent[]): StreamPart {
  return { events, frame: null };
}

function blocksIn(document: unknown): readonly unknown[] | null {
  const message = objectAt(objectAt(document, 'output'), 'message');
  const content = property(message, 'content');
  return Array.isArray(content) ? content : null;
}

function faultOf(document: unknown): ChatEvent {
  const isError = ['message', 'Message', '__type', 'Output'].some(
    (name) => property(document, name) !== undefined,
  );
  return isError ? { type: 'error', status: null, body: document } : { type: 'malformed' };
}

/** The arguments of a call keep the spelling of their numbers; only for them the text is read again. */
function exactBlocks(text: string, blocks: readonly unknown[]): readonly unknown[] {
  if (!blocks.some((block) => objectAt(block, 'toolUse') !== null)) return blocks;
  const exact = parseExactJson(text);
  return (exact.ok ? blocksIn(exact.value) : null) ?? blocks;
}

type NamedEvent = readonly [type: string, event: unknown];

/** The answer as the stream that would have told it. */
function* eventsOf(document: unknown, blocks: readonly unknown[]): Generator<NamedEvent> {
  yield ['messageStart', {}];
  for (const [contentBlockIndex, block] of blocks.entries()) {
    yield eventOf(block, contentBlockIndex);
    for (const citation of arrayAt(objectAt(block, 'citationsContent'), 'citations')) {
      yield ['contentBlockDelta', { contentBlockIndex, delta: { citation } }];
    }
    yield ['contentBlockStop', { contentBlockIndex }];
  }
  if (stringAt(document, 'stopReason') !== null) yield ['messageStop', document];
  yield ['metadata', document];
}

function eventOf(block: unknown, contentBlockIndex: number): NamedEvent {
  if (!isJsonObject(block)) return ['contentBlockDelta', { contentBlockIndex }];
  if (objectAt(block, 'toolUse') !== null) {
    return ['contentBlockStart', { contentBlockIndex, start: block }];
  }
  const reasoning = objectAt(block, 'reasoningContent');
  const delta: JsonObject =
    reasoning === null
      ? textBlock(block)
      : { reasoningContent: objectAt(reasoning, 'reasoningText') ?? reasoning };
  return ['contentBlockDelta', { contentBlockIndex, delta }];
}

/** Of text with citations, the text. */
function textBlock(block: JsonObject): JsonObject {
  const cited = objectAt(block, 'citationsContent');
  if (cited === null) return block;
  const texts = arrayAt(cited, 'content').map((part) => stringAt(part, 'text') ?? '');
  return { text: texts.join('') };
}
