/** Limits, sampling, thinking and the answer's format as this dialect's fields. */
import { type JsonObject, numberAt, stringAt } from '../../base/json.ts';
import type { ChatParameters, ResponseFormat } from '../../chat/request.ts';
import type { UpstreamCall } from '../dialect.ts';
import { type ModelTraits, traitsOf } from './model-traits.ts';
import { fitSchema } from './schema-subset.ts';

/** Where neither the client nor the model's table gives a limit: the least ceiling of current models. */
const maxTokensUnknown = 8192;

export type EncodedParameters = {
  /** `max_tokens`, `temperature` and the like, in a fixed order. */
  readonly fields: JsonObject;
  /** Text for the end of the system blocks, where a format can only be asked for in words. */
  readonly instruction: string | null;
};

/** What of the request decides whether the model may think; the service refuses it otherwise. */
export type ThinkingLimits = {
  /** A tool must be called. */
  readonly isForced: boolean;
  /** The conversation ends with results of calls whose thinking is not with us. */
  readonly isInToolLoop: boolean;
  /** The conversation ends with the assistant's turn. */
  readonly isPrefilled: boolean;
};

export function encodeParameters(
  call: UpstreamCall,
  limits: ThinkingLimits,
  dropped: Set<string>,
): EncodedParameters {
  const { parameters } = call;
  const traits = traitsOf(call.model);
  const thinking = encodeThinking(call, traits, limits, dropped);
  const format = encodeFormat(parameters.response_format, traits, dropped);
  const outputConfig = {
    ...(thinking.effort === null ? {} : { effort: thinking.effort }),
    ...(format.schema === null ? {} : { format: { type: 'json_schema', schema: format.schema } }),
  };
  const takesSampling = traits.takesSampling && !call.isReasoningModel && !thinking.isOn;
  const stop = stopSequences(parameters.stop, dropped);
  const userId = userOf(parameters.user, dropped);
  const tier = serviceTier(parameters.service_tier, dropped);
  dropUnknown(parameters, dropped);
  const fields: JsonObject = {
    max_tokens: thinking.maxTokens,
    ...sampling(parameters, takesSampling, dropped),
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
    ...(thinking.field === null ? {} : { thinking: thinking.field }),
    ...(Object.keys(outputConfig).length > 0 ? { output_config: outputConfig } : {}),
    ...(userId === null ? {} : { metadata: { user_id: userId } }),
    ...(tier === null ? {} : { service_tier: tier }),
  };
  return { fields, instruction: format.instruction };
}

type Thinking = {
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

function encodeThinking(
  call: UpstreamCall,
  traits: ModelTraits,
  limits: ThinkingLimits,
  dropped: Set<string>,
): Thinking {
  const effort = call.parameters.reasoning_effort;
  const off: Thinking = {
    field: null,
    effort: null,
    isOn: false,
    maxTokens: limitOf(call, dropped),
  };
  if (Object.hasOwn(call.extraFields, 'thinking')) return setByTarget(call, off);
  if (effort === null) return off;
  if (effort === 'none') {
    return traits.thinking === 'adaptive' ? { ...off, field: { type: 'disabled' } } : off;
  }
  const budget = Object.hasOwn(budgets, effort) ? budgets[effort] : undefined;
  if (budget === undefined || traits.thinking === 'none') {
    dropped.add('reasoning_effort');
    return off;
  }
  if (traits.thinking === 'adaptive') return adaptive(effort, off, traits, limits, dropped);
  if (limits.isForced || limits.isInToolLoop || limits.isPrefilled) {
    dropped.add('reasoning_effort');
    return off;
  }
  return withBudget(call, budget, off, dropped);
}

/** The target's own setting goes out as it is; only the limit makes room for its budget. */
function setByTarget(
  { extraFields, parameters, maxOutputTokens }: UpstreamCall,
  off: Thinking,
): Thinking {
  const budget = numberAt(extraFields['thinking'], 'budget_tokens');
  const isOn = stringAt(extraFields['thinking'], 'type') !== 'disabled';
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

/** A limit above the model's ceiling would be refused. */
function limitOf({ parameters, maxOutputTokens }: UpstreamCall, dropped: Set<string>): number {
  const asked = parameters.max_tokens;
  if (asked === null) return maxOutputTokens ?? maxTokensUnknown;
  if (maxOutputTokens === null || asked <= maxOutputTokens) return asked;
  dropped.add('max_tokens');
  return maxOutputTokens;
}

/** Newer models take one of `temperature` and `top_p`, not both. */
function sampling(
  { temperature, top_p, top_k }: ChatParameters,
  isTaken: boolean,
  dropped: Set<string>,
): JsonObject {
  const given = Object.entries({ temperature, top_p, top_k }).filter(([, value]) => value !== null);
  if (!isTaken) {
    for (const [name] of given) dropped.add(name);
    return {};
  }
  if (temperature !== null && (temperature > 1 || temperature < 0)) dropped.add('temperature');
  const fields = new Map<string, unknown>(given);
  if (temperature !== null) {
    fields.set('temperature', Math.min(Math.max(temperature, 0), 1));
    if (fields.delete('top_p')) dropped.add('top_p');
  }
  return Object.fromEntries(fields);
}

function stopSequences(stop: readonly string[] | null, dropped: Set<string>): readonly string[] {
  const given: readonly string[] = typeof stop === 'string' ? [stop] : (stop ?? []);
  const taken = given.filter((each) => each.trim() !== '');
  if (taken.length < given.length) dropped.add('stop');
  return taken;
}

const userCharactersMax = 256;

function userOf(user: string | null, dropped: Set<string>): string | null {
  if (user === null || user === '') return null;
  if (user.length <= userCharactersMax) return user;
  dropped.add('user');
  return null;
}

function serviceTier(tier: string | null, dropped: Set<string>): string | null {
  if (tier === null || tier === 'auto' || tier === 'standard_only') return tier;
  if (tier === 'default') return 'standard_only';
  dropped.add('service_tier');
  return null;
}

function dropUnknown(parameters: ChatParameters, dropped: Set<string>): void {
  const unknown = [
    'seed',
    'presence_penalty',
    'frequency_penalty',
    'logit_bias',
    'top_logprobs',
    'verbosity',
  ] as const;
  for (const name of unknown) if (parameters[name] !== null) dropped.add(name);
  if (parameters.logprobs === true) dropped.add('logprobs');
  if ((parameters.n ?? 1) > 1) dropped.add('n');
}

const jsonOnly =
  'Answer with a single valid JSON object and nothing else: no code fence, no text before or after it.';

function encodeFormat(
  format: ResponseFormat | null,
  { takesOutputSchema }: ModelTraits,
  dropped: Set<string>,
): { readonly schema: JsonObject | null; readonly instruction: string | null } {
  if (format === null || format.type === 'text') return { schema: null, instruction: null };
  if (format.type === 'json_object') {
    dropped.add('response_format');
    return { schema: null, instruction: jsonOnly };
  }
  const fitted = takesOutputSchema ? fitSchema(format.schema) : null;
  if (fitted === null) {
    dropped.add('response_format');
    const instruction = `${jsonOnly} It must match this JSON Schema:\n${JSON.stringify(format.schema)}`;
    return { schema: null, instruction };
  }
  for (const keyword of fitted.told) dropped.add(`response_format.${keyword}`);
  return { schema: fitted.schema, instruction: null };
}
