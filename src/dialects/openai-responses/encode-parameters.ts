/** Limits, sampling, reasoning and the answer's format as this dialect's fields. */
import type { JsonObject } from '../../base/json.ts';
import type { ChatParameters, ResponseFormat } from '../../chat/request.ts';
import type { UpstreamCall } from '../dialect.ts';
import { nearestEffort } from '../nearest-effort.ts';
import { isStrictSchema } from '../strict-schema.ts';
import { isThinkingOpen, openEffort } from '../thinking-budget.ts';
import { dialectName, type WireTextFormat } from './wire.ts';

/** The least that the service takes as a limit. */
const maxOutputTokensMin = 16;

/** What is included beside an answer's text where log probabilities are asked for. */
const logprobsInclude = 'message.output_text.logprobs';

/** The parameters in a fixed order. What cannot be said and only tunes goes to `dropped`. */
export function encodeParameters(call: UpstreamCall, dropped: Set<string>): JsonObject {
  const { parameters } = call;
  const text = encodeText(parameters, dropped);
  const reasoning = encodeReasoning(call, dropped);
  const hasLogprobs = parameters.logprobs === true;
  if (!hasLogprobs && (parameters.top_logprobs ?? 0) > 0) dropped.add('top_logprobs');
  dropUnknown(parameters, dropped);
  const fields: JsonObject = {
    max_output_tokens: limitOf(call, dropped),
    temperature: sampled('temperature', call, dropped),
    top_p: sampled('top_p', call, dropped),
    reasoning,
    text,
    parallel_tool_calls: parameters.parallel_tool_calls,
    include: hasLogprobs ? [logprobsInclude] : null,
    top_logprobs: hasLogprobs ? parameters.top_logprobs : null,
    user: parameters.user,
    service_tier: serviceTier(call, dropped),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** The limit counts reasoning, too; one beyond the model's ceiling would be refused. */
function limitOf(
  { parameters, maxOutputTokens }: UpstreamCall,
  dropped: Set<string>,
): number | null {
  const asked = parameters.max_tokens;
  if (asked === null) return null;
  const ceiling = Math.max(maxOutputTokens ?? Number.POSITIVE_INFINITY, maxOutputTokensMin);
  const limit = Math.min(Math.max(asked, maxOutputTokensMin), ceiling);
  if (limit !== asked) dropped.add('max_tokens');
  return limit;
}

/** A model that reasons refuses the field, even with the value that it would take by itself. */
function sampled(
  name: 'temperature' | 'top_p',
  { parameters, ownedParameters, isReasoningModel }: UpstreamCall,
  dropped: Set<string>,
): number | null {
  const value = parameters[name];
  if (!isReasoningModel || ownedParameters.includes(name)) return value;
  if (value !== null && value !== 1) dropped.add(name);
  return null;
}

/** Where an effort is asked for, what was thought is shown: as a summary, the only form there is. */
function encodeReasoning(call: UpstreamCall, dropped: Set<string>): JsonObject | null {
  const isOpen = isThinkingOpen(call, dialectName);
  const wanted = isOpen ? openEffort : call.parameters.reasoning_effort;
  if (wanted === null) return null;
  if (isOpen) dropped.add('reasoning_effort');
  const effort = fittingEffort(wanted, call);
  // A model that does not reason does what `none` asks for.
  if (effort !== wanted && (effort !== null || wanted !== 'none')) dropped.add('reasoning_effort');
  if (effort === null || effort === 'none') return effort === null ? null : { effort };
  return { effort, summary: 'auto' };
}

/** The nearest effort that the model knows; null = it takes none. What was set on purpose stays. */
export function fittingEffort(
  wanted: string,
  { ownedParameters, isReasoningModel, efforts }: UpstreamCall,
): string | null {
  if (ownedParameters.includes('reasoning_effort')) return wanted;
  const known = efforts ?? null;
  if (known !== null) return nearestEffort(wanted, known);
  return isReasoningModel ? wanted : null;
}

function encodeText(
  { response_format: format, verbosity }: ChatParameters,
  dropped: Set<string>,
): JsonObject | null {
  if (format === null && verbosity === null) return null;
  return {
    ...(format === null ? {} : { format: encodeFormat(format, dropped) }),
    ...(verbosity === null ? {} : { verbosity }),
  };
}

function encodeFormat(format: ResponseFormat, dropped: Set<string>): WireTextFormat {
  if (format.type !== 'json_schema') return { type: format.type };
  const { name, schema, description } = format;
  const isStrict = format.strict === true && isStrictSchema(schema);
  if (format.strict === true && !isStrict) dropped.add('response_format.strict');
  return {
    type: 'json_schema',
    name,
    ...(description === null ? {} : { description }),
    schema,
    strict: isStrict,
  };
}

const serviceTiers: readonly string[] = [
  'auto',
  'default',
  'flex',
  'scale',
  'priority',
  'fast',
  'ultrafast',
];

function serviceTier(
  { parameters, ownedParameters }: UpstreamCall,
  dropped: Set<string>,
): string | null {
  const tier = parameters.service_tier;
  if (tier === null || serviceTiers.includes(tier) || ownedParameters.includes('service_tier')) {
    return tier;
  }
  dropped.add('service_tier');
  return null;
}

function dropUnknown(parameters: ChatParameters, dropped: Set<string>): void {
  const unknown = ['top_k', 'seed', 'presence_penalty', 'frequency_penalty', 'logit_bias'] as const;
  for (const name of unknown) if (parameters[name] !== null) dropped.add(name);
  if ((parameters.n ?? 1) > 1) dropped.add('n');
  if ((parameters.stop ?? []).length > 0) dropped.add('stop');
}
