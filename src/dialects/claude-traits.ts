/** What the name of a Claude model tells about the fields it takes, whichever service serves it. Other names are taken for current models. */

/** `none`: no thinking. `budget`: thinking with a token budget. `adaptive`: the model decides, an effort guides it. */
export type ThinkingStyle = 'none' | 'budget' | 'adaptive';

export type ModelTraits = {
  /** Whether the name is one of the family; else the rest is a guess. */
  readonly isKnown: boolean;
  readonly thinking: ThinkingStyle;
  /** Whether thinking may be given a budget of tokens; the newest models take it no more. */
  readonly takesBudget: boolean;
  /** Whether thoughts are left out of the answer unless they are asked for. */
  readonly hidesThoughts: boolean;
  readonly takesSampling: boolean;
  /** Whether it takes `temperature` and `top_p` at once. */
  readonly takesBothSamplings: boolean;
  readonly takesExtraEffort: boolean;
  /** Whether an output schema and strict tools are known to it. */
  readonly takesOutputSchema: boolean;
  /** Whether a conversation may end with the assistant's turn. */
  readonly takesPrefill: boolean;
};

export function traitsOf(model: string): ModelTraits {
  const version = versionOf(model);
  return {
    isKnown: version !== null,
    takesBudget: version === null || version < 407,
    thinking: thinkingStyleOf(version),
    hidesThoughts: version !== null && version >= 407,
    takesSampling: version === null || version < 407,
    takesBothSamplings: version === null || version < 401,
    takesExtraEffort: version === null || version >= 407,
    takesOutputSchema: version === null || version >= 401,
    takesPrefill: version === null || version < 406,
  };
}

function thinkingStyleOf(version: number | null): ThinkingStyle {
  if (version === null) return 'budget';
  if (version < 307) return 'none';
  return version < 406 ? 'budget' : 'adaptive';
}

/** Major times 100 plus minor (4.6 = 406), or null. A date after the major (`-20250514`) is no minor. */
function versionOf(model: string): number | null {
  const old = /claude-(\d)(?:[-.](\d)(?!\d))?-(?:opus|sonnet|haiku)/.exec(model);
  const match = old ?? /claude-[a-z]+-(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(model);
  if (match !== null) return Number(match[1]) * 100 + Number(match[2] ?? 0);
  return /claude-(?:instant|v?[12])/.test(model) ? 200 : null;
}
