/**
 * The share of a target's traffic that may be retries. A budget and not a fixed count, because a count
 * multiplies with concurrency: under a total outage every request would bring its own retries, while a
 * budget is drawn from by all of them together (R92).
 */

export type RetryBudgetPolicy = {
  /** Tokens that each first ask deposits. */
  readonly ratio: number;
  /** The least that comes in, tokens a second: time deposits what first asks did not. */
  readonly minPerSecond: number;
  /** The most tokens that can be saved up. */
  readonly max: number;
};

/**
 * Tokens in thousandths and whole: a tenth deposited ten times makes exactly one. Time deposits from
 * `atMs` on, which lies ahead of now when first asks have already paid for that time.
 */
export type RetryBudget = { readonly milliTokens: number; readonly atMs: number };

const tokensFirst = 10;
const milliPerToken = 1_000;
/** First asks pay for the time to come, but not for more than this: a burst is no reason to starve later. */
const paidAheadMs = 1_000;

/** `nowMs` is monotonic. */
export function openRetryBudget(policy: RetryBudgetPolicy, nowMs: number): RetryBudget {
  return { milliTokens: Math.min(tokensFirst, policy.max) * milliPerToken, atMs: nowMs };
}

/** A first ask was made. First asks, failovers, hedges, continuations, repairs and probes draw nothing. */
export function depositFirstAsk(
  budget: RetryBudget,
  policy: RetryBudgetPolicy,
  nowMs: number,
): RetryBudget {
  const filled = fill(budget, policy, nowMs);
  const milliTokens = Math.round(policy.ratio * milliPerToken);
  const paidMs = policy.minPerSecond <= 0 ? 0 : milliTokens / policy.minPerSecond;
  const aheadMs = Math.min(filled.atMs + paidMs, nowMs + paidAheadMs);
  const atMs = Math.max(filled.atMs, aheadMs);
  return { ...add(filled, policy, milliTokens), atMs };
}

/** Takes the token for one retry on the same target; not allowed without one. */
export function withdrawRetry(
  budget: RetryBudget,
  policy: RetryBudgetPolicy,
  nowMs: number,
): { readonly isAllowed: boolean; readonly budget: RetryBudget } {
  const filled = fill(budget, policy, nowMs);
  if (filled.milliTokens < milliPerToken) return { isAllowed: false, budget: filled };
  return {
    isAllowed: true,
    budget: { ...filled, milliTokens: filled.milliTokens - milliPerToken },
  };
}

/** Whole and broken tokens at `nowMs`, for status. */
export function retryTokens(budget: RetryBudget, policy: RetryBudgetPolicy, nowMs: number): number {
  return fill(budget, policy, nowMs).milliTokens / milliPerToken;
}

function fill(budget: RetryBudget, policy: RetryBudgetPolicy, nowMs: number): RetryBudget {
  if (policy.minPerSecond <= 0) return { ...budget, atMs: nowMs };
  const elapsedMs = Math.max(0, nowMs - budget.atMs);
  const grown = Math.floor(elapsedMs * policy.minPerSecond);
  // What the rounding left out stays in the clock, else frequent calls would deposit nothing.
  const atMs = budget.atMs + grown / policy.minPerSecond;
  return { ...add(budget, policy, grown), atMs };
}

function add(budget: RetryBudget, policy: RetryBudgetPolicy, milliTokens: number): RetryBudget {
  const mostMilli = policy.max * milliPerToken;
  return { ...budget, milliTokens: Math.min(mostMilli, budget.milliTokens + milliTokens) };
}
