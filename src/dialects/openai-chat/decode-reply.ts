/** A whole 200 body as the parts of a stream. */
import { parseJson } from '../../base/json.ts';
import type { StreamPart } from '../../chat/stream-event.ts';
import { isNestedTooDeeply } from '../json-spans.ts';
import { ChunkReader } from './chunk-reader.ts';

const unreadable: readonly StreamPart[] = [{ events: [{ type: 'malformed' }], frame: null }];

/** A body below this cannot be nested deeply enough to be a burden. */
export const safeBytesMax = 32_768;

export function decodeReply(body: Buffer): readonly StreamPart[] {
  if (body.length > safeBytesMax && isNestedTooDeeply(body)) return unreadable;
  const parsed = parseJson(body.toString('utf8'));
  if (!parsed.ok) return unreadable;
  return [{ events: new ChunkReader().readReply(parsed.value), frame: null }];
}
