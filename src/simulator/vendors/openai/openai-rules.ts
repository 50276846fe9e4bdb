/** The rules that OpenAI's chat endpoint holds a body to, besides its messages. */
import { isJsonObject, type JsonObject, stringAt } from '../../../base/json.ts';
import { faultInEach, firstFault, type VendorFault } from '../vendor.ts';
import { openaiFault, refusal } from './openai-faults.ts';
import { messagesFault, unknownParameter } from './openai-messages.ts';
import { isSet, responseFormatFault, toolChoiceFault, toolsFault } from './openai-tool-rules.ts';

const fields = new Set(
  `model messages max_completion_tokens max_tokens temperature top_p n stop seed presence_penalty
  frequency_penalty logit_bias logprobs top_logprobs reasoning_effort verbosity response_format tools
  tool_choice parallel_tool_calls stream stream_options prompt_cache_key prompt_cache_options
  prompt_cache_retention service_tier modalities audio prediction web_search_options moderation store
  metadata safety_identifier user functions function_call`.split(/\s+/),
);

export function isReasoningModel(model: string): boolean {
  return /^(o[134](-|$)|gpt-5(?!.*chat))/.test(model);
}

/** The first complaint about a chat completions body, or null. */
export function chatBodyFault(body: unknown): VendorFault | null {
  if (!isJsonObject(body)) return refusal('We expect the body to be a JSON object.');
  return firstFault([
    () => modelFault(body),
    () => {
      const unknown = Object.keys(body).find((name) => !fields.has(name));
      return unknown === undefined ? null : unknownParameter(unknown);
    },
    () => messagesFault(body['messages']),
    () => numbersFault(body, ranges),
    () => logprobsFault(body),
    () => limitFault(body),
    () => stopFault(body),
    () => streamFault(body),
    () => toolsFault(body),
    () => toolChoiceFault(body),
    () => responseFormatFault(body),
    () => reasoningFault(body),
  ]);
}

export function modelFault(body: JsonObject): VendorFault | null {
  const model = stringAt(body, 'model');
  if (model === null || model === '') {
    return refusal('you must provide a model parameter', 'model', null);
  }
  const isForeign = /^(claude|gemini|models\/)/.test(model);
  return isForeign ? openaiFault('not_found', { model, retryAfterMs: 0 }) : null;
}

export type NumberRange = readonly [name: string, low: number, high: number, isInteger: boolean];

const ranges: readonly NumberRange[] = [
  ['temperature', 0, 2, false],
  ['top_p', 0, 1, false],
  ['presence_penalty', -2, 2, false],
  ['frequency_penalty', -2, 2, false],
  ['n', 1, 128, true],
  ['max_tokens', 1, 1_000_000, true],
  ['max_completion_tokens', 1, 1_000_000, true],
  ['top_logprobs', 0, 20, true],
  ['seed', -(2 ** 63), 2 ** 63, true],
];

/** The first of the numbers that is none, or out of its range. */
export function numbersFault(body: JsonObject, ranges: readonly NumberRange[]): VendorFault | null {
  return faultInEach(ranges, ([name, low, high, isInteger]) => {
    const value = body[name];
    if (value === undefined || value === null) return null;
    if (typeof value !== 'number' || (isInteger && !Number.isInteger(value))) {
      const wanted = isInteger ? 'an integer' : 'a decimal';
      return refusal(`Invalid type for '${name}': expected ${wanted}.`, name, 'invalid_type');
    }
    const kind = isInteger ? 'integer' : 'decimal';
    if (value < low) {
      return refusal(
        `Invalid '${name}': ${kind} below minimum value. Expected a value >= ${low}, but got ${value} instead.`,
        name,
        `${kind}_below_min_value`,
      );
    }
    if (value <= high) return null;
    return refusal(
      `Invalid '${name}': ${kind} above maximum value. Expected a value <= ${high}, but got ${value} instead.`,
      name,
      `${kind}_above_max_value`,
    );
  });
}

function logprobsFault(body: JsonObject): VendorFault | null {
  if (!isSet(body['top_logprobs']) || body['logprobs'] === true) return null;
  return refusal(
    `Invalid parameter: 'top_logprobs' is only allowed when 'logprobs' is enabled.`,
    'top_logprobs',
  );
}

function limitFault(body: JsonObject): VendorFault | null {
  if (!isSet(body['max_tokens'])) return null;
  if (isSet(body['max_completion_tokens'])) {
    return refusal(
      `Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.`,
      'max_tokens',
      'invalid_parameter_combination',
    );
  }
  if (!isReasoningModel(stringAt(body, 'model') ?? '')) return null;
  return refusal(
    `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.`,
    'max_tokens',
    'unsupported_parameter',
  );
}

function stopFault(body: JsonObject): VendorFault | null {
  const stop = body['stop'];
  if (!isSet(stop) || typeof stop === 'string') return null;
  if (!Array.isArray(stop) || !stop.every((one) => typeof one === 'string')) {
    return refusal(
      `Invalid type for 'stop': expected a string or an array of strings.`,
      'stop',
      'invalid_type',
    );
  }
  if (stop.length <= 4) return null;
  return refusal(
    `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${stop.length} instead.`,
    'stop',
    'array_above_max_length',
  );
}

function streamFault(body: JsonObject): VendorFault | null {
  const stream = body['stream'];
  if (isSet(stream) && typeof stream !== 'boolean') {
    return refusal(`Invalid type for 'stream': expected a boolean.`, 'stream', 'invalid_type');
  }
  if (!isSet(body['stream_options']) || stream === true) return null;
  return refusal(
    `The 'stream_options' parameter is only allowed when 'stream' is enabled.`,
    'stream_options',
  );
}

function reasoningFault(body: JsonObject): VendorFault | null {
  if (!isReasoningModel(stringAt(body, 'model') ?? '')) return null;
  if (isSet(body['stop'])) {
    return refusal(
      `Unsupported parameter: 'stop' is not supported with this model.`,
      'stop',
      'unsupported_parameter',
    );
  }
  return faultInEach(['temperature', 'top_p'], (name) => {
    if (!isSet(body[name]) || body[name] === 1) return null;
    return refusal(
      `Unsupported value: '${name}' does not support ${body[name]} with this model. Only the default (1) value is supported.`,
      name,
      'unsupported_value',
    );
  });
}
