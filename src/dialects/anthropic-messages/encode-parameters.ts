/** Limits, sampling, thinking and the answer's format as this dialect's fields. */
import type { JsonObject } from '../../base/json.ts';
import type { ChatParameters, ResponseFormat } from '../../chat/request.ts';
import { encodeThinking, type ThinkingLimits } from '../claude-thinking.ts';
import { type ModelTraits, traitsOf } from '../claude-traits.ts';
import type { UpstreamCall } from '../dialect.ts';
import { fitSchema } from '../schema-subset.ts';
import { dialectName } from './wire.ts';

export type EncodedParameters = {
  /** `max_tokens`, `temperature` and the like, in a fixed order. */
  readonly fields: JsonObject;
  /** Text for the end of the system blocks, where a format can only be asked for in words. */
  readonly instruction: string | null;
};

export function encodeParameters(
  call: UpstreamCall,
  limits: ThinkingLimits,
  dropped: Set<string>,
): EncodedParameters {
  const { parameters } = call;
  const traits = traitsOf(call.model);
  const { thinking: setting } = call.extraFields;
  const thinking = encodeThinking({ call, traits, limits, setting, dialect: dialectName }, dropped);
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
