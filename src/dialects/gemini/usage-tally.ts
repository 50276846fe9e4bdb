/** Token counts as this dialect tells them: in any chunk, the last one counts, zero is left out. */
import { type JsonObject, property } from '../../base/json.ts';
import { tokenCount, type Usage } from '../../chat/usage.ts';

/** Null where `metadata` holds no counts, as early chunks of some editions do. */
export function usageOf(metadata: unknown): Usage | null {
  const prompt = countAt(metadata, 'promptTokenCount');
  const candidates = countAt(metadata, 'candidatesTokenCount');
  const thoughts = countAt(metadata, 'thoughtsTokenCount');
  if (prompt === null && candidates === null && thoughts === null) return null;
  const toolUse = countAt(metadata, 'toolUsePromptTokenCount') ?? 0;
  return {
    inputTokens: prompt === null ? null : prompt + toolUse,
    outputTokens: (candidates ?? 0) + (thoughts ?? 0),
    cachedTokens: countAt(metadata, 'cachedContentTokenCount'),
    cacheWriteTokens: null,
    reasoningTokens: thoughts,
  };
}

/** Thoughts stand beside the candidates, not among them. Null where nothing is known. */
export function writeUsage(usage: Usage): JsonObject | null {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = usage;
  if (inputTokens === null && outputTokens === null) return null;
  // Some servers count more thoughts than output.
  const thoughts = Math.min(reasoningTokens ?? 0, outputTokens ?? Number.POSITIVE_INFINITY);
  return {
    ...(inputTokens === null ? {} : { promptTokenCount: inputTokens }),
    ...(outputTokens === null ? {} : { candidatesTokenCount: outputTokens - thoughts }),
    totalTokenCount: (inputTokens ?? 0) + (outputTokens ?? thoughts),
    ...(cachedTokens === null ? {} : { cachedContentTokenCount: cachedTokens }),
    ...(reasoningTokens === null ? {} : { thoughtsTokenCount: thoughts }),
  };
}

/** 64-bit numbers may come as strings. */
function countAt(metadata: unknown, key: string): number | null {
  const value = property(metadata, key);
  const isText = typeof value === 'string' && /^\d{1,15}$/.test(value);
  return tokenCount(isText ? Number(value) : value);
}
