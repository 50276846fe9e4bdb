/** The head of a message: what a whole answer and the start of a stream have in common. */
import type { JsonObject } from '../../base/json.ts';

const idPrefix = 'msg_';

export function messageHead(head: {
  readonly id: string | null;
  readonly fallbackId: string;
  readonly model: string | null;
}): JsonObject {
  const id = head.id ?? head.fallbackId;
  return {
    id: id.startsWith(idPrefix) ? id : idPrefix + id,
    type: 'message',
    role: 'assistant',
    model: head.model ?? '',
  };
}
