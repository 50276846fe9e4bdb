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

export const unknownUsage: Usage = {
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
};
