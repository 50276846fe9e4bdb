/** A whole response as parts. */
import { isJsonObject } from '../../base/json.ts';
import type { ChatEvent, StreamPart } from '../../chat/stream-event.ts';
import { parseAnswer } from '../answer-json.ts';
import { isErrorDocument } from './error-rules.ts';
import { madeInResponse } from './made-items.ts';
import { ResponseReader } from './response-reader.ts';

/** Ends in `end` when the body is a response; else it holds an `error` or is `malformed`. */
export function decodeReply(body: Buffer): readonly StreamPart[] {
  const parsed = parseAnswer(body.toString('utf8'));
  if (!parsed.ok || !isJsonObject(parsed.value)) return [partOf([{ type: 'malformed' }])];
  const response = parsed.value;
  if (isErrorDocument(response)) {
    return [partOf([{ type: 'error', status: null, body: response }])];
  }
  if (!Array.isArray(response['output'])) return [partOf([{ type: 'malformed' }])];
  const { events } = new ResponseReader().readResponse(response, response);
  return [{ events, frame: null, made: madeInResponse(response) }];
}

function partOf(events: readonly ChatEvent[]): StreamPart {
  return { events, frame: null };
}
