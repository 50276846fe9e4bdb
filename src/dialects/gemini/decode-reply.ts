/** A whole generateContent reply as parts. */
import { arrayAt, isJsonObject, property } from '../../base/json.ts';
import type { ChatEvent, StreamPart } from '../../chat/stream-event.ts';
import { parseAnswer } from '../answer-json.ts';
import { AnswerReader } from './answer-reader.ts';
import { withExactCalls } from './exact-calls.ts';

/** Ends in `end` when every candidate finished; else it holds an `error` or is `malformed`. */
export function decodeReply(body: Buffer): readonly StreamPart[] {
  const text = body.toString('utf8');
  const parsed = parseAnswer(text);
  if (!parsed.ok || !isAnswer(parsed.value)) return [partOf([{ type: 'malformed' }])];
  const reader = new AnswerReader();
  const { events } = reader.read(withExactCalls(parsed.value, text));
  return [partOf([...events, ...reader.end()])];
}

function partOf(events: readonly ChatEvent[]): StreamPart {
  return { events, frame: null };
}

/** Without candidates, a refused prompt or an error it is no answer, whatever its status. */
function isAnswer(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.some(isAnswer);
  if (!isJsonObject(value)) return false;
  const isAbout = ['error', 'promptFeedback'].some((key) => property(value, key) !== undefined);
  return isAbout || arrayAt(value, 'candidates').length > 0;
}
