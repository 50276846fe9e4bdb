/** Token counts as this dialect tells them. */
import type { Usage } from '../../chat/usage.ts';
import type { WireUsage } from './wire.ts';

/**
 * Null when nothing is known. Otherwise every field is there, since SDKs read them unasked: 0 where
 * the provider did not say.
 */
export function writeUsage(usage: Usage): WireUsage | null {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  if (inputTokens === null && outputTokens === null) return null;
  return {
    input_tokens: inputTokens ?? 0,
    input_tokens_details: {
      cached_tokens: cachedTokens ?? 0,
      ...(cacheWriteTokens === null ? {} : { cache_write_tokens: cacheWriteTokens }),
    },
    output_tokens: outputTokens ?? 0,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: (inputTokens ?? 0) + (outputTokens ?? 0),
  };
}
