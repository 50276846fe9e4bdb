/** Token counts as this dialect's services tell them. */
import { isJsonObject, objectAt, property } from '../../base/json.ts';
import { tokenCount, type Usage } from '../../chat/usage.ts';

/** Null when nothing is told. Totals: input with what a cache held or took, output with reasoning. */
export function readUsage(value: unknown): Usage | null {
  if (!isJsonObject(value)) return null;
  const inputTokens = countAt(value, 'input_tokens');
  const outputTokens = countAt(value, 'output_tokens');
  if (inputTokens === null && outputTokens === null) return null;
  const input = objectAt(value, 'input_tokens_details');
  return {
    inputTokens,
    outputTokens,
    cachedTokens: countAt(input, 'cached_tokens'),
    cacheWriteTokens: countAt(input, 'cache_write_tokens'),
    reasoningTokens: countAt(objectAt(value, 'output_tokens_details'), 'reasoning_tokens'),
  };
}

function countAt(value: unknown, name: string): number | null {
  return tokenCount(property(value, name));
}
