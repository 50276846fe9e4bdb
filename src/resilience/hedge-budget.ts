/** How many second asks a tier may start on a slow first one: a bucket of its own, so that slowness costs little. */

export type HedgePolicy = {
  /** Tokens that each request deposits. */
  readonly ratio: number;
  /** The bucket's size; it starts full. 0 = never. */
  readonly burst: number;
};

/** Tokens in thousandths, so that many small deposits add up exactly. */
export type HedgeBudget = { readonly milliTokens: number; readonly atMs: number };

const milliPerToken = 1000;
/** Time alone deposits one token in so many ms. */
const tokenEveryMs = 20_000;

/** `nowMs` is monotonic. */
export function openHedgeBudget(policy: HedgePolicy, nowMs: number): HedgeBudget {
  return { milliTokens: policy.burst * milliPerToken, atMs: nowMs };
}

export function depositRequest(
  budget: HedgeBudget,
  policy: HedgePolicy,
  nowMs: number,
): HedgeBudget {
  return fill(budget, policy, nowMs, policy.ratio * milliPerToken);
}

/** Takes the token for one hedge; without one there is none. */
export function withdrawHedge(
  budget: HedgeBudget,
  policy: HedgePolicy,
  nowMs: number,
): { readonly isAllowed: boolean; readonly budget: HedgeBudget } {
  const filled = fill(budget, policy, nowMs, 0);
  const isAllowed = filled.milliTokens >= milliPerToken;
  const left = filled.milliTokens - (isAllowed ? milliPerToken : 0);
  return { isAllowed, budget: { ...filled, milliTokens: left } };
}

function fill(
  budget: HedgeBudget,
  policy: HedgePolicy,
  nowMs: number,
  depositMilli: number,
): HedgeBudget {
  const elapsedMs = Math.max(0, nowMs - budget.atMs);
  const grown = (elapsedMs / tokenEveryMs) * milliPerToken;
  const milliTokens = budget.milliTokens + grown + depositMilli;
  return { milliTokens: Math.min(policy.burst * milliPerToken, milliTokens), atMs: nowMs };
}
