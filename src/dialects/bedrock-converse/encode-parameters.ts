/** Limits, sampling, thinking and the answer's format as this dialect's fields. */
import { type JsonObject, property } from '../../base/json.ts';
import type { ChatParameters, ResponseFormat } from '../../chat/request.ts';
import { encodeThinking, type Thinking, type ThinkingLimits } from '../claude-thinking.ts';
import type { UpstreamCall } from '../dialect.ts';
import { encodeJson } from '../exact-json.ts';
import { fitSchema } from '../schema-subset.ts';
import { isThinkingOpen, openEffort } from '../thinking-budget.ts';
import type { ModelTraits } from './model-traits.ts';
import { dialectName } from './wire.ts';

export type EncodedParameters = {
  /** Top-level fields, in a fixed order; empty ones are left out. */
  readonly fields: JsonObject;
  /** Text for the end of the system blocks, where a format can only be asked for in words. */
  readonly instruction: string | null;
};

export function encodeParameters(
  call: UpstreamCall,
  { traits, limits }: { readonly traits: ModelTraits; readonly limits: ThinkingLimits },
  dropped: Set<string>,
): EncodedParameters {
  const { parameters } = call;
  const reasoning = encodeReasoning(call, traits, limits, dropped);
  const format = encodeFormat(parameters.response_format, traits, dropped);
  const sampling = encodeSampling(call, traits, reasoning, dropped);
  const stop = stopSequences(parameters.stop, dropped);
  dropUnknown(parameters, dropped);
  const fields: { readonly [name: string]: JsonObject } = {
    inferenceConfig: {
      ...limit(call, reasoning, dropped),
      ...sampling.inferenceConfig,
      ...(stop.length > 0 ? { stopSequences: stop } : {}),
    },
    additionalModelRequestFields: { ...sampling.modelFields, ...reasoning.modelFields },
    outputConfig: {
      ...(format.textFormat === null ? {} : { textFormat: format.textFormat }),
      ...(reasoning.effort === null ? {} : { effort: reasoning.effort }),
    },
    serviceTier: serviceTier(parameters.service_tier, dropped),
    requestMetadata: metadata(parameters.user, dropped),
  };
  const said = Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0);
  return { fields: Object.fromEntries(said), instruction: format.instruction };
}

type Reasoning = {
  /** Among the model's own fields. */
  readonly modelFields: JsonObject;
  readonly effort: string | null;
  /** Thinking leaves no choice of sampling. */
  readonly isSamplingFixed: boolean;
  /** A limit that makes room for thinking; null = what the client said. */
  readonly maxTokens: number | null;
  readonly isLimitFixed: boolean;
};

const noReasoning: Reasoning = {
  modelFields: {},
  effort: null,
  isSamplingFixed: false,
  maxTokens: null,
  isLimitFixed: false,
};

function encodeReasoning(
  call: UpstreamCall,
  traits: ModelTraits,
  limits: ThinkingLimits,
  dropped: Set<string>,
): Reasoning {
  if (traits.claude !== null) {
    const setting = property(call.extraFields['additionalModelRequestFields'], 'thinking');
    const context = { call, traits: traits.claude, limits, setting, dialect: dialectName };
    return ofClaude(encodeThinking(context, dropped), call);
  }
  const isOpen = isThinkingOpen(call, dialectName);
  const effort = isOpen ? openEffort : call.parameters.reasoning_effort;
  if (effort === null) return noReasoning;
  if (isOpen) dropped.add('reasoning_effort');
  const level = levelOf(effort);
  if (traits.thinking === 'fixed' || level === null) {
    // A model that does not think does what `none` asks for.
    if (effort !== 'none' || traits.thinking === 'effort') dropped.add('reasoning_effort');
    return noReasoning;
  }
  if (level !== effort) dropped.add('reasoning_effort');
  if (traits.thinking === 'effort') {
    return { ...noReasoning, modelFields: { reasoning_effort: level } };
  }
  const reasoningConfig = { type: 'enabled', maxReasoningEffort: level };
  // At its highest it takes neither a limit nor sampling (Nova 2, extended thinking, November 2026).
  const isHighest = level === 'high';
  return {
    ...noReasoning,
    modelFields: { reasoningConfig },
    isSamplingFixed: isHighest,
    isLimitFixed: isHighest,
  };
}

function ofClaude(thinking: Thinking, { parameters }: UpstreamCall): Reasoning {
  const isLimited = parameters.max_tokens !== null || 'budget_tokens' in (thinking.field ?? {});
  return {
    modelFields: thinking.field === null ? {} : { thinking: thinking.field },
    effort: thinking.effort,
    isSamplingFixed: thinking.isOn,
    maxTokens: isLimited ? thinking.maxTokens : null,
    isLimitFixed: false,
  };
}

/** The three words that all know; null for `none` and what nobody knows. */
function levelOf(effort: string): 'low' | 'medium' | 'high' | null {
  switch (effort) {
    case 'minimal':
    case 'low':
      return 'low';
    case 'medium':
      return 'medium';
    case 'high':
    case 'xhigh':
    case 'max':
      return 'high';
    default:
      return null;
  }
}

/** Nothing said is the model's own ceiling. A limit above it would be refused. */
function limit(
  { parameters, maxOutputTokens }: UpstreamCall,
  reasoning: Reasoning,
  dropped: Set<string>,
): JsonObject {
  const asked = reasoning.maxTokens ?? parameters.max_tokens;
  if (asked === null) return {};
  if (reasoning.isLimitFixed) {
    dropped.add('max_tokens');
    return {};
  }
  const maxTokens = Math.min(asked, maxOutputTokens ?? asked);
  if (maxTokens < asked) dropped.add('max_tokens');
  return { maxTokens };
}

type Sampling = { readonly inferenceConfig: JsonObject; readonly modelFields: JsonObject };

function encodeSampling(
  call: UpstreamCall,
  traits: ModelTraits,
  { isSamplingFixed }: Reasoning,
  dropped: Set<string>,
): Sampling {
  const { temperature, top_p: topP, top_k: topK } = call.parameters;
  const isRefused =
    isSamplingFixed || call.isReasoningModel || traits.claude?.takesSampling === false;
  if (isRefused) {
    for (const name of ['temperature', 'top_p', 'top_k'] as const) {
      if (call.parameters[name] !== null) dropped.add(name);
    }
    return { inferenceConfig: {}, modelFields: {} };
  }
  const clamped = temperature === null ? null : Math.min(Math.max(temperature, 0), 1);
  if (clamped !== temperature) dropped.add('temperature');
  // Newer models of this family take one of the two, not both.
  const takesTopP = topP !== null && (traits.claude === null || temperature === null);
  if (topP !== null && !takesTopP) dropped.add('top_p');
  if (topK !== null && traits.topK === null) dropped.add('top_k');
  return {
    inferenceConfig: {
      ...(clamped === null ? {} : { temperature: clamped }),
      ...(takesTopP ? { topP } : {}),
    },
    modelFields: topK === null ? {} : topKField(topK, traits),
  };
}

function topKField(topK: number, traits: ModelTraits): JsonObject {
  switch (traits.topK) {
    case 'top_k':
      return { top_k: topK };
    case 'nova':
      return { inferenceConfig: { topK } };
    case null:
      return {};
  }
}

function stopSequences(stop: readonly string[] | null, dropped: Set<string>): readonly string[] {
  const given: readonly string[] = typeof stop === 'string' ? [stop] : (stop ?? []);
  const taken = given.filter((each) => each.trim() !== '');
  if (taken.length < given.length) dropped.add('stop');
  return taken;
}

const tiers: readonly string[] = ['default', 'flex', 'priority', 'reserved'];

function serviceTier(tier: string | null, dropped: Set<string>): JsonObject {
  if (tier === null || tier === 'auto') return {};
  if (tiers.includes(tier)) return { type: tier };
  dropped.add('service_tier');
  return {};
}

/** Goes into the account's own invocation log; few characters are taken. */
function metadata(user: string | null, dropped: Set<string>): JsonObject {
  if (user === null || user === '') return {};
  if (/^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/.test(user)) return { user };
  dropped.add('user');
  return {};
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

type EncodedFormat = {
  readonly textFormat: JsonObject | null;
  readonly instruction: string | null;
};

function encodeFormat(
  format: ResponseFormat | null,
  { takesOutputSchema }: ModelTraits,
  dropped: Set<string>,
): EncodedFormat {
  if (format === null || format.type === 'text') return { textFormat: null, instruction: null };
  if (format.type === 'json_object') {
    dropped.add('response_format');
    return { textFormat: null, instruction: jsonOnly };
  }
  const fitted = takesOutputSchema ? fitSchema(format.schema) : null;
  const schema = fitted === null ? null : encodeJson(fitted.schema);
  if (fitted === null || schema?.ok !== true) {
    dropped.add('response_format');
    const instruction = `${jsonOnly} It must match this JSON Schema:\n${JSON.stringify(format.schema)}`;
    return { textFormat: null, instruction };
  }
  for (const keyword of fitted.told) dropped.add(`response_format.${keyword}`);
  const { name, description } = format;
  const jsonSchema = {
    schema: schema.value,
    name,
    ...(description === null || description === '' ? {} : { description }),
  };
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } }, instruction: null };
}
