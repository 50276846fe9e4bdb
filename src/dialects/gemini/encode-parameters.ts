/** Limits, sampling, thinking and the answer's format as a generation config. */
import type { JsonObject } from '../../base/json.ts';
import type { ChatParameters, ResponseFormat } from '../../chat/request.ts';
import type { UpstreamCall } from '../dialect.ts';
import { outputLimit } from '../output-limit.ts';
import { isThinkingOpen, openEffort, thinkingBudget } from '../thinking-budget.ts';
import { toJsonSchema } from './function-schema.ts';
import { stopSequencesMax } from './missing-ability.ts';
import { fittingBudget, takesFormatWithTools, thinkingControlOf } from './model-family.ts';
import { dialectName } from './wire.ts';

export type EncodedParameters = {
  readonly generationConfig: JsonObject;
  /** Null = the usual one. */
  readonly serviceTier: string | null;
  /** Text for the end of the system instruction, where a format can only be asked for in words. */
  readonly instruction: string | null;
};

export function encodeParameters(
  call: UpstreamCall,
  offersTools: boolean,
  dropped: Set<string>,
): EncodedParameters {
  const { parameters } = call;
  const format = encodeFormat(call, offersTools, dropped);
  const thinkingConfig = encodeThinking(call, dropped);
  dropUnknown(parameters, dropped);
  const fields: JsonObject = {
    temperature: clampedTemperature(parameters.temperature, dropped),
    topP: parameters.top_p,
    topK: within(1, 1000, 'top_k', parameters, dropped),
    candidateCount: (parameters.n ?? 1) > 1 ? parameters.n : null,
    maxOutputTokens: outputLimit(call, dropped),
    stopSequences: stopSequences(parameters.stop, dropped),
    seed: within(-(2 ** 31), 2 ** 31 - 1, 'seed', parameters, dropped),
    presencePenalty: parameters.presence_penalty,
    frequencyPenalty: parameters.frequency_penalty,
    responseLogprobs: parameters.logprobs === true ? true : null,
    logprobs: topLogprobs(parameters, dropped),
    ...format.fields,
    thinkingConfig,
  };
  const said = Object.entries(fields).filter(([, value]) => value !== null);
  return {
    generationConfig: Object.fromEntries(said),
    serviceTier: serviceTier(parameters.service_tier, dropped),
    instruction: format.instruction,
  };
}

/** None is not told: one version of the service counts from 1. Without the field it tells the chosen tokens alone. */
function topLogprobs(
  { logprobs, top_logprobs: top }: ChatParameters,
  dropped: Set<string>,
): number | null {
  if (top === null || top === 0) return null;
  if (logprobs === true) return top;
  dropped.add('top_logprobs');
  return null;
}

/** What only tunes and would be refused is left out. */
function within(
  min: number,
  max: number,
  name: 'seed' | 'top_k',
  parameters: ChatParameters,
  dropped: Set<string>,
): number | null {
  const value = parameters[name];
  if (value === null || (value >= min && value <= max)) return value;
  dropped.add(name);
  return null;
}

const temperatureMax = 2;

function clampedTemperature(temperature: number | null, dropped: Set<string>): number | null {
  if (temperature === null) return null;
  const clamped = Math.min(Math.max(temperature, 0), temperatureMax);
  if (clamped !== temperature) dropped.add('temperature');
  return clamped;
}

function stopSequences(
  stop: readonly string[] | null,
  dropped: Set<string>,
): readonly string[] | null {
  const given: readonly string[] = typeof stop === 'string' ? [stop] : (stop ?? []);
  const taken = given.filter((each) => each !== '').slice(0, stopSequencesMax);
  if (taken.length < given.length) dropped.add('stop');
  return taken.length > 0 ? taken : null;
}

const budgets: { readonly [effort: string]: number } = {
  none: 0,
  minimal: 1024,
  low: 4096,
  medium: 8192,
  high: 24_576,
  xhigh: Number.POSITIVE_INFINITY,
  max: Number.POSITIVE_INFINITY,
};

/** The nearest that the model knows; where that is not what was asked, the name is among the dropped. */
function encodeThinking(call: UpstreamCall, dropped: Set<string>): JsonObject | null {
  const isOpen = isThinkingOpen(call, dialectName);
  const effort = isOpen ? openEffort : call.parameters.reasoning_effort;
  if (effort === null) return null;
  const control = thinkingControlOf(call.model);
  const budget = Object.hasOwn(budgets, effort) ? budgets[effort] : undefined;
  if (control.kind === 'none' || budget === undefined) {
    // A model that does not think does what `none` asks for.
    if (effort !== 'none') dropped.add('reasoning_effort');
    return null;
  }
  const shown = effort === 'none' ? {} : { includeThoughts: true };
  if (isOpen) return control.kind === 'budget' ? { ...shown, thinkingBudget: -1 } : shown;
  if (control.kind === 'budget') {
    const wanted = thinkingBudget(call) ?? budget;
    const fitting = fittingBudget(wanted, control);
    if (fitting !== wanted && Number.isFinite(wanted)) dropped.add('reasoning_effort');
    return { ...shown, thinkingBudget: fitting };
  }
  const level = levelOf(effort, control.lowest, control.hasMedium);
  if (!level.isExact) dropped.add('reasoning_effort');
  return { ...shown, thinkingLevel: level.word };
}

/** These models cannot be kept from thinking; words above HIGH are known to few of them. */
function levelOf(
  effort: string,
  lowest: 'MINIMAL' | 'LOW',
  hasMedium: boolean,
): { readonly word: string; readonly isExact: boolean } {
  switch (effort) {
    case 'none':
      return { word: lowest, isExact: false };
    case 'minimal':
      return { word: lowest, isExact: lowest === 'MINIMAL' };
    case 'low':
      return { word: 'LOW', isExact: true };
    case 'medium':
      return hasMedium ? { word: 'MEDIUM', isExact: true } : { word: 'HIGH', isExact: false };
    case 'high':
      return { word: 'HIGH', isExact: true };
    default:
      return { word: 'HIGH', isExact: false };
  }
}

function dropUnknown(parameters: ChatParameters, dropped: Set<string>): void {
  const unknown = ['logit_bias', 'verbosity', 'user'] as const;
  for (const name of unknown) if (parameters[name] !== null) dropped.add(name);
}

function serviceTier(tier: string | null, dropped: Set<string>): string | null {
  if (tier === null || tier === 'auto' || tier === 'default') return null;
  if (tier === 'flex' || tier === 'priority') return tier;
  dropped.add('service_tier');
  return null;
}

const jsonOnly =
  'Answer with a single valid JSON object and nothing else: no code fence, no text before or after it.';

type EncodedFormat = { readonly fields: JsonObject; readonly instruction: string | null };

function encodeFormat(
  call: UpstreamCall,
  offersTools: boolean,
  dropped: Set<string>,
): EncodedFormat {
  const format = call.parameters.response_format;
  if (format === null || format.type === 'text') return { fields: {}, instruction: null };
  if (offersTools && !takesFormatWithTools(call.model)) {
    dropped.add('response_format');
    return { fields: {}, instruction: instructionFor(format) };
  }
  const schema = format.type === 'json_schema' ? toJsonSchema(format.schema, 0) : null;
  const fields = { responseMimeType: 'application/json', responseJsonSchema: schema };
  return { fields, instruction: null };
}

function instructionFor(format: ResponseFormat): string {
  if (format.type !== 'json_schema') return jsonOnly;
  return `${jsonOnly} It must match this JSON Schema:\n${JSON.stringify(format.schema)}`;
}
