/** Token counts as this dialect tells them: the cache's apart from the input. */
import { property } from '../../base/json.ts';
import { tokenCount, type Usage } from '../../chat/usage.ts';

/** Totals; its own total is not looked at. */
export function usageOf(usage: unknown): Usage {
  const input = countAt(usage, 'inputTokens');
  const cacheRead =
    countAt(usage, 'cacheReadInputTokens') ?? countAt(usage, 'cacheReadInputTokenCount');
  const cacheWrite =
    countAt(usage, 'cacheWriteInputTokens') ?? countAt(usage, 'cacheWriteInputTokenCount');
  return {
    inputTokens: input === null ? null : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    outputTokens: countAt(usage, 'outputTokens'),
    cachedTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: null,
  };
}

function countAt(usage: unknown, key: string): number | null {
  return tokenCount(property(usage, key));
}
