/** Why the model stopped, in this dialect's words (or their numbers) and in ours. */
import type { FinishReason } from '../../chat/stream-event.ts';

const reasons: { readonly [word: string]: FinishReason } = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  IMAGE_OTHER: 'content_filter',
  MALFORMED_FUNCTION_CALL: 'error',
  MALFORMED_RESPONSE: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
  TOO_MANY_TOOL_CALLS: 'error',
  MISSING_THOUGHT_SIGNATURE: 'error',
  NO_IMAGE: 'error',
  OTHER: 'error',
  CONTINUATION: 'paused',
};

/** With `enum-encoding=int` a number comes. Up to 5 the service's two editions agree which word it is. */
const words = ['', 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'OTHER'] as const;
/** The words of these differ between the editions, but all of them are filters. */
const filterNumbers: readonly number[] = [6, 7, 8];

export type Finish = { readonly reason: FinishReason; readonly raw: string };

/** Null while the answer goes on. A word we do not know is `other`, never a natural stop. */
export function finishOf(value: unknown): Finish | null {
  if (typeof value === 'number') return finishOfNumber(value);
  if (typeof value !== 'string' || value === '' || value === 'FINISH_REASON_UNSPECIFIED') {
    return null;
  }
  const reason = Object.hasOwn(reasons, value) ? reasons[value] : undefined;
  return { reason: reason ?? 'other', raw: value };
}

function finishOfNumber(value: number): Finish | null {
  if (value === 0) return null;
  const word = words[value];
  if (word !== undefined) return finishOf(word);
  return { reason: filterNumbers.includes(value) ? 'content_filter' : 'other', raw: String(value) };
}

/** The field is a closed list: a reason without a word of its own is OTHER, and never a natural stop. */
export function writeFinish(reason: FinishReason, raw: string | null): string {
  if (raw !== null && Object.hasOwn(reasons, raw) && reasons[raw] === reason) return raw;
  switch (reason) {
    case 'stop':
    // Calls end with it too: their parts tell.
    case 'tool_calls':
      return 'STOP';
    case 'length':
      return 'MAX_TOKENS';
    case 'content_filter':
      return 'SAFETY';
    case 'error':
    case 'paused':
    case 'other':
      return 'OTHER';
  }
}
