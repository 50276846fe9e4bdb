/** Token counts as this dialect tells them: input without what a cache read or wrote. */
import type { JsonObject } from '../../base/json.ts';
import type { Usage } from '../../chat/usage.ts';

/** Both totals are there, as clients add them up: 0 where the provider did not say. */
export function writeUsage(usage: Usage): JsonObject {
  return { input_tokens: 0, output_tokens: 0, ...knownUsage(usage) };
}

/** The end of a stream: a field that is left out keeps what the client was told at its start. */
export function writeFinalUsage(usage: Usage): JsonObject {
  return { output_tokens: 0, ...knownUsage(usage) };
}

function knownUsage(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  const apart = (cachedTokens ?? 0) + (cacheWriteTokens ?? 0);
  return {
    ...(inputTokens === null ? {} : { input_tokens: Math.max(0, inputTokens - apart) }),
    ...(cacheWriteTokens === null ? {} : { cache_creation_input_tokens: cacheWriteTokens }),
    ...(cachedTokens === null ? {} : { cache_read_input_tokens: cachedTokens }),
    ...(outputTokens === null ? {} : { output_tokens: outputTokens }),
    ...(reasoningTokens === null
      ? {}
      : { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}
