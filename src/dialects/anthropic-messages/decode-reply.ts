/** A whole Messages reply as parts. */
import { append } from '../../base/append.ts';
import { isJsonObject, type JsonObject, property, stringAt } from '../../base/json.ts';
import type { ChatEvent, StreamPart } from '../../chat/stream-event.ts';
import { parseAnswer } from '../answer-json.ts';
import { parseExactJson } from '../exact-json.ts';
import { MessageReader } from './message-reader.ts';

/** Ends in `end` when the body is a message; else it holds an `error` or is `malformed`. */
export function decodeReply(body: Buffer): readonly StreamPart[] {
  const text = body.toString('utf8');
  const parsed = parseAnswer(text);
  if (!parsed.ok) return [partOf([{ type: 'malformed' }])];
  const reader = new MessageReader();
  if (property(parsed.value, 'error') !== undefined) {
    return [partOf(reader.read({ ...toObject(parsed.value), type: 'error' }).events)];
  }
  const blocks = property(parsed.value, 'content');
  if (!Array.isArray(blocks)) return [partOf([{ type: 'malformed' }])];
  const events: ChatEvent[] = [];
  for (const event of eventsOf(toObject(parsed.value), exactBlocks(text, blocks))) {
    append(events, reader.read(event).events);
  }
  return [partOf(events)];
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The arguments of a call keep the spelling of their numbers; only for them the text is read again. */
function exactBlocks(text: string, blocks: readonly unknown[]): readonly unknown[] {
  if (!blocks.some((block) => stringAt(block, 'type') === 'tool_use')) return blocks;
  const exact = parseExactJson(text);
  const found = exact.ok ? property(exact.value, 'content') : null;
  return Array.isArray(found) ? found : blocks;
}

function partOf(events: readonly ChatEvent[]): StreamPart {
  return { events, frame: null };
}

/** The message as the stream that would have told it. */
function* eventsOf(message: JsonObject, blocks: readonly unknown[]): Generator<JsonObject> {
  yield { type: 'message_start', message };
  for (const [index, block] of blocks.entries()) {
    yield { type: 'content_block_start', index, content_block: block };
    yield { type: 'content_block_stop', index };
  }
  yield { type: 'message_delta', delta: message, usage: message['usage'] };
  yield { type: 'message_stop' };
}
