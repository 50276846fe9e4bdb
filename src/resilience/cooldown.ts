/** When a key may be used again for a model: rests that its provider asked for, or that its 429 implies. */

/** Instants are monotonic ms. */
export type Cooldown = {
  /** When the present rest began: an attempt begun before it learnt nothing new. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The length of the last rest that no hint set; null = none yet. */
  readonly stepMs: number | null;
};

const stepMsFirst = 1_000;
const stepMsMax = 60_000;

/**
 * The rest after a rate limit. With a hint: min(hint, `cooldownMaxMs`) from now, and never shorter
 * than what already runs. Without: 1 s, doubling to 60 s, once a rest; a refusal of an attempt begun
 * before the present rest is the same news again and only extends it.
 */
export function afterRateLimit(
  previous: Cooldown | null,
  refusal: {
    readonly nowMs: number;
    readonly startedAtMs: number;
    readonly hintMs: number | null;
    readonly cooldownMaxMs: number;
  },
): Cooldown {
  const isOldNews = previous !== null && refusal.startedAtMs <= previous.sinceMs;
  const stepMs = refusal.hintMs === null ? nextStepMs(previous, isOldNews) : null;
  const restMs = Math.min(refusal.hintMs ?? stepMs ?? 0, refusal.cooldownMaxMs);
  return {
    sinceMs: isOldNews ? previous.sinceMs : refusal.nowMs,
    untilMs: Math.max(previous?.untilMs ?? 0, refusal.nowMs + restMs),
    stepMs: stepMs ?? previous?.stepMs ?? null,
  };
}

function nextStepMs(previous: Cooldown | null, isOldNews: boolean): number {
  const stepMs = previous?.stepMs ?? null;
  if (stepMs === null) return stepMsFirst;
  return isOldNews ? stepMs : Math.min(stepMs * 2, stepMsMax);
}

/** A success of an attempt begun after the rest shows that the limit is gone: the next one starts small. */
export function afterSuccess(previous: Cooldown | null, startedAtMs: number): Cooldown | null {
  return previous !== null && startedAtMs >= previous.untilMs ? null : previous;
}

/** Until when the key rests (monotonic ms), or null when it does not. */
export function restsUntilMs(cooldown: Cooldown | null, nowMs: number): number | null {
  return cooldown !== null && cooldown.untilMs > nowMs ? cooldown.untilMs : null;
}
