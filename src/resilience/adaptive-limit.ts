/**
 * How many requests a target may have in flight, as it says itself: a refusal lowers the limit at once,
 * successes raise it slowly (additive increase, multiplicative decrease).
 */

export type AdaptiveLimitPolicy = {
  /** The floor under every lowering. */
  readonly minConcurrent: number;
  /** Where the limit starts, and its ceiling. */
  readonly maxConcurrent: number;
};

/** `limit` is whole; instants are monotonic ms. */
export type AdaptiveLimit = {
  readonly limit: number;
  /** Successes since the limit last moved. */
  readonly successes: number;
  readonly loweredAtMs: number | null;
};

const keptShare = 0.7;
/** Fast refusals make short rounds: a burst of them is one piece of news all the same. */
const loweringEveryMs = 1_000;
/** Above this limit a raise costs no more successes, so that the way back up stays about 3 % a round. */
const successesPerRaiseMax = 32;

export function openAdaptiveLimit(policy: AdaptiveLimitPolicy): AdaptiveLimit {
  return { limit: policy.maxConcurrent, successes: 0, loweredAtMs: null };
}

/**
 * A 429 or 529. The new limit is 0.7 of what was really in flight (or of the limit when that is
 * smaller): a share of an unused ceiling would hold nothing back. Once a second at most, and never for
 * a request begun before the last lowering, which only repeats what is known.
 * `inFlightMost` counts the refused request too.
 */
export function afterOverload(
  state: AdaptiveLimit,
  policy: AdaptiveLimitPolicy,
  refusal: { readonly startedAtMs: number; readonly nowMs: number; readonly inFlightMost: number },
): AdaptiveLimit {
  const { loweredAtMs } = state;
  if (loweredAtMs !== null && refusal.nowMs - loweredAtMs < loweringEveryMs) return state;
  if (isOldNews(state, refusal.startedAtMs)) return state;
  const base = Math.min(state.limit, refusal.inFlightMost);
  const limit = within(policy, Math.floor(base * keptShare));
  return { limit, successes: 0, loweredAtMs: refusal.nowMs };
}

/** One more for each full round of successes, a round being the limit, at most 32. */
export function afterSuccess(
  state: AdaptiveLimit,
  policy: AdaptiveLimitPolicy,
  startedAtMs: number,
): AdaptiveLimit {
  if (state.limit >= policy.maxConcurrent || isOldNews(state, startedAtMs)) return state;
  const successes = state.successes + 1;
  if (successes < Math.min(state.limit, successesPerRaiseMax)) return { ...state, successes };
  return { ...state, limit: state.limit + 1, successes: 0 };
}

/** The limit under changed settings: one that was never lowered follows its ceiling. */
export function underPolicy(
  state: AdaptiveLimit,
  previous: AdaptiveLimitPolicy,
  next: AdaptiveLimitPolicy,
): AdaptiveLimit {
  const isAtCeiling = state.limit >= previous.maxConcurrent;
  return { ...state, limit: within(next, isAtCeiling ? next.maxConcurrent : state.limit) };
}

function isOldNews(state: AdaptiveLimit, startedAtMs: number): boolean {
  return state.loweredAtMs !== null && startedAtMs <= state.loweredAtMs;
}

/** The ceiling wins over a floor that lies above it. */
function within(policy: AdaptiveLimitPolicy, limit: number): number {
  return Math.min(policy.maxConcurrent, Math.max(policy.minConcurrent, limit));
}
