/** Token counts as totals; null = the provider did not say, which is not zero. */
export type Usage = {
  /** All input, with what was read from or written to a cache. */
  readonly inputTokens: number | null;
  /** All output, with reasoning. */
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly reasoningTokens: number | null;
};

/** More than any model reads: what is told beyond it counts nothing. */
const tokensMax = 1e12;

/** What a provider told, as a whole number; null where it is none. */
export function tokenCount(value: unknown): number | null {
  const isCount = typeof value === 'number' && value >= 0 && value <= tokensMax;
  return isCount ? Math.floor(value) : null;
}

/** What two answers took together; a count that neither told stays unknown. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: sum(one.inputTokens, other.inputTokens),
    outputTokens: sum(one.outputTokens, other.outputTokens),
    cachedTokens: sum(one.cachedTokens, other.cachedTokens),
    cacheWriteTokens: sum(one.cacheWriteTokens, other.cacheWriteTokens),
    reasoningTokens: sum(one.reasoningTokens, other.reasoningTokens),
  };
}

function sum(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}

export const unknownUsage: Usage = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
};
