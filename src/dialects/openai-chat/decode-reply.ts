/** A whole 200 body as the parts of a stream. */
import type { StreamPart } from '../../chat/stream-event.ts';
import { parseAnswer } from '../answer-json.ts';
import { ChunkReader } from './chunk-reader.ts';
import { withExactArguments } from './exact-arguments.ts';

const unreadable: readonly StreamPart[] = [{ events: [{ type: 'malformed' }], frame: null }];

export function decodeReply(body: Buffer): readonly StreamPart[] {
  const text = body.toString('utf8');
  const parsed = parseAnswer(text);
  if (!parsed.ok) return unreadable;
  return [
    { events: new ChunkReader().readReply(withExactArguments(parsed.value, text)), frame: null },
  ];
}
