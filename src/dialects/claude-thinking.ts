/**
 * Thinking as the models of one family take it, whichever service serves them: an effort as a budget of
 * tokens, or as a word that guides a model which decides by itself.
 */
import { type JsonObject, numberAt, stringAt } from '../base/json.ts';
import type { DialectName } from '../chat/request.ts';
import type { ModelTraits } from './claude-traits.ts';
import type { UpstreamCall } from './dialect.ts';
import { outputLimit } from './output-limit.ts';
import { isThinkingOpen, openEffort, thinkingBudget } from './thinking-budget.ts';
import type { Conversation } from './turns.ts';

/** Where neither the client nor the model's table gives a limit: the least ceiling of current models. */
const maxTokensUnknown = 8192;

/** What of the request decides whether the model may think; the service refuses it otherwise. */
export type ThinkingLimits = {
  /** A tool must be called. */
  readonly isForced: boolean;
  /** The conversation ends with results of calls whose thinking is not with us. */
  readonly isInToolLoop: boolean;
  /** The conversation ends with the assistant's turn. */
  readonly isPrefilled: boolean;
};

export function thinkingLimits({ request }: UpstreamCall, { turns }: Conversation): ThinkingLimits {
  const mode = request.toolChoice?.mode;
  const isForced =
    mode === 'required' ||
    mode === 'tool' ||
    (request.toolChoice?.mode === 'subset' && request.toolChoice.required);
  const last = turns.at(-1);
  const before = turns.at(-2);
  const isThought =
    before?.role === 'assistant' && before.parts.some((part) => part.type === 'reasoning');
  const isInToolLoop = last?.role === 'user' && last.results.length > 0 && !isThought;
  return { isForced, isInToolLoop, isPrefilled: last?.role === 'assistant' };
}

export type Thinking = {
  readonly field: JsonObject | null;
  readonly effort: string | null;
  readonly isOn: boolean;
  readonly maxTokens: number;
};

/** Tokens of thinking that an effort stands for. */
export const budgets: { readonly [effort: string]: number } = {
  minimal: 1024,
  low: 4096,
  medium: 8192,
  high: 16_384,
  xhigh: 32_000,
  max: 32_000,
};

/** `setting`: the service's own field, where the target's settings have it; undefined = they have not. */
export function encodeThinking(
  {
    call,
    traits,
    limits,
    setting,
    dialect,
  }: {
    readonly call: UpstreamCall;
    readonly traits: ModelTraits;
    readonly limits: ThinkingLimits;
    readonly setting: unknown;
    readonly dialect: DialectName;
  },
  dropped: Set<string>,
): Thinking {
  const isOpen = isThinkingOpen(call, dialect);
  const effort = isOpen ? openEffort : call.parameters.reasoning_effort;
  const off: Thinking = {
    field: null,
    effort: null,
    isOn: false,
    maxTokens: outputLimit(call, dropped) ?? call.maxOutputTokens ?? maxTokensUnknown,
  };
  if (setting !== undefined) return setByTarget(call, setting, off);
  if (effort === null) return off;
  if (effort === 'none') {
    return traits.thinking === 'adaptive' ? { ...off, field: { type: 'disabled' } } : off;
  }
  const budget = Object.hasOwn(budgets, effort) ? budgets[effort] : undefined;
  if (budget === undefined || traits.thinking === 'none') {
    dropped.add('reasoning_effort');
    return off;
  }
  if (traits.thinking === 'adaptive') {
    const thinking = adaptive(effort, off, traits, limits, dropped);
    return isOpen ? { ...thinking, effort: null } : thinking;
  }
  // A budget is a bound that nobody asked for.
  if (isOpen) dropped.add('reasoning_effort');
  if (limits.isForced || limits.isInToolLoop || limits.isPrefilled) {
    dropped.add('reasoning_effort');
    return off;
  }
  const own = thinkingBudget(call);
  return own === null ? withBudget(call, budget, off, dropped) : withOwnBudget(own, off, dropped);
}

/** The target's own setting goes out as it is; only the limit makes room for its budget. */
function setByTarget(
  { parameters, maxOutputTokens }: UpstreamCall,
  setting: unknown,
  off: Thinking,
): Thinking {
  const budget = numberAt(setting, 'budget_tokens');
  const isOn = stringAt(setting, 'type') !== 'disabled';
  if (!isOn || budget === null || parameters.max_tokens === null) return { ...off, isOn };
  const raised = off.maxTokens + budget;
  return { ...off, isOn, maxTokens: Math.min(raised, maxOutputTokens ?? raised) };
}

/** The model decides how long it thinks; without thinking the effort still guides it. */
function adaptive(
  effort: string,
  off: Thinking,
  traits: ModelTraits,
  { isForced }: ThinkingLimits,
  dropped: Set<string>,
): Thinking {
  const isBeyond = effort === 'xhigh' && !traits.takesExtraEffort;
  if (isBeyond || isForced) dropped.add('reasoning_effort');
  const level = isBeyond ? 'high' : effort === 'minimal' ? 'low' : effort;
  if (isForced) return { ...off, effort: level };
  const display = traits.hidesThoughts ? { display: 'summarized' } : {};
  return { ...off, effort: level, isOn: true, field: { type: 'adaptive', ...display } };
}

/** The service refuses less. */
export const budgetMin = 1024;

/**
 * The budget counts against `max_tokens`, so a client's limit, which is meant for the answer, is
 * raised by it. At the model's ceiling the budget gives way, down to half.
 */
function withBudget(
  call: UpstreamCall,
  budget: number,
  off: Thinking,
  dropped: Set<string>,
): Thinking {
  const asked = call.parameters.max_tokens;
  const ceiling = call.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const isOpen = asked === null && call.maxOutputTokens !== null;
  const maxTokens = isOpen ? off.maxTokens : Math.min(off.maxTokens + budget, ceiling);
  const answer = Math.min(off.maxTokens, Math.floor(maxTokens / 2));
  const fitting = Math.min(budget, maxTokens - answer);
  if (fitting < budgetMin || maxTokens <= budgetMin) {
    dropped.add('reasoning_effort');
    return off;
  }
  if (asked !== null) dropped.add('max_tokens');
  return {
    field: { type: 'enabled', budget_tokens: Math.min(fitting, maxTokens - 1) },
    effort: null,
    isOn: true,
    maxTokens,
  };
}

/** A client that sets a budget counts it against its limit, as the service does. */
function withOwnBudget(budget: number, off: Thinking, dropped: Set<string>): Thinking {
  const wanted = Math.max(budget, budgetMin);
  const fitting = wanted < off.maxTokens ? wanted : Math.floor(off.maxTokens / 2);
  if (fitting !== budget) dropped.add('reasoning_effort');
  if (fitting < budgetMin) return off;
  return { ...off, field: { type: 'enabled', budget_tokens: fitting }, isOn: true };
}
