/** Token counts as this dialect's servers tell them, and as it writes them. */
import { isJsonObject, objectAt, property } from '../../base/json.ts';
import { tokenCount, type Usage } from '../../chat/usage.ts';
import type { WireUsage } from './wire.ts';

/** Null when nothing is told. Totals: input with cached tokens, output with reasoning. */
export function readUsage(value: unknown): Usage | null {
  if (!isJsonObject(value)) return null;
  const input = countAt(value, 'prompt_tokens');
  const told = countAt(value, 'completion_tokens');
  if (input === null && told === null) return null;
  const inputDetails = objectAt(value, 'prompt_tokens_details');
  const reasoning =
    countAt(objectAt(value, 'completion_tokens_details'), 'reasoning_tokens') ??
    countAt(value, 'reasoning_tokens');
  return {
    inputTokens: input,
    outputTokens: outputTotal(input, told, reasoning, countAt(value, 'total_tokens')),
    cachedTokens:
      countAt(inputDetails, 'cached_tokens') ??
      countAt(value, 'prompt_cache_hit_tokens') ??
      countAt(value, 'cached_tokens'),
    cacheWriteTokens: countAt(inputDetails, 'cache_write_tokens'),
    reasoningTokens: reasoning,
  };
}

/** One vendor leaves reasoning out of the output: its own total tells (xAI, 2026-11). */
function outputTotal(
  input: number | null,
  told: number | null,
  reasoning: number | null,
  total: number | null,
): number | null {
  if (told === null || !reasoning || total === null) return told;
  return total === (input ?? 0) + told + reasoning ? told + reasoning : told;
}

function countAt(value: unknown, name: string): number | null {
  return tokenCount(property(value, name));
}

/** Null when nothing is known. What is not known stays out: it is not zero. */
export function writeUsage(usage: Usage): WireUsage | null {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  if (inputTokens === null && outputTokens === null) return null;
  return {
    ...(inputTokens === null ? {} : { prompt_tokens: inputTokens }),
    ...(outputTokens === null ? {} : { completion_tokens: outputTokens }),
    ...(inputTokens === null || outputTokens === null
      ? {}
      : { total_tokens: inputTokens + outputTokens }),
    ...(cachedTokens === null && cacheWriteTokens === null
      ? {}
      : {
          prompt_tokens_details: {
            ...(cachedTokens === null ? {} : { cached_tokens: cachedTokens }),
            ...(cacheWriteTokens === null ? {} : { cache_write_tokens: cacheWriteTokens }),
          },
        }),
    ...(reasoningTokens === null
      ? {}
      : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}
