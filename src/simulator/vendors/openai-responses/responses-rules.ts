/** The rules that OpenAI's Responses endpoint holds a body to, besides its input and tools. */
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../../../base/json.ts';
import { refusal } from '../openai/openai-faults.ts';
import { unknownParameter } from '../openai/openai-messages.ts';
import {
  isReasoningModel,
  modelFault,
  type NumberRange,
  numbersFault,
} from '../openai/openai-rules.ts';
import { isSet } from '../openai/openai-tool-rules.ts';
import { faultInEach, firstFault, type VendorFault } from '../vendor.ts';
import { responsesFault } from './responses-faults.ts';
import { inputFault } from './responses-input.ts';
import { textFault, toolChoiceFault, toolsFault } from './responses-tool-rules.ts';

const fields = new Set(
  `model input instructions max_output_tokens temperature top_p top_logprobs tools tool_choice
  parallel_tool_calls max_tool_calls text reasoning include store previous_response_id conversation
  background stream stream_options truncation prompt_cache_key prompt_cache_options
  prompt_cache_retention service_tier metadata safety_identifier user moderation context_management
  prompt`.split(/\s+/),
);

/** The first complaint about a responses body, or null. */
export function responsesBodyFault(body: unknown): VendorFault | null {
  if (!isJsonObject(body)) return refusal('We expect the body to be a JSON object.');
  return firstFault([
    () => ownModelFault(body),
    () => {
      const unknown = Object.keys(body).find((name) => !fields.has(name));
      return unknown === undefined ? null : unknownParameter(unknown);
    },
    () => inputFault(body),
    () => numbersFault(body, ranges),
    () => flagsFault(body),
    () => stateFault(body),
    () => toolsFault(body),
    () => toolChoiceFault(body),
    () => textFault(body),
    () => reasoningFault(body),
    () => includeFault(body),
  ]);
}

function ownModelFault(body: JsonObject): VendorFault | null {
  const fault = modelFault(body);
  if (fault === null || fault.code !== 'model_not_found') return fault;
  return responsesFault('not_found', { model: stringAt(body, 'model') ?? '', retryAfterMs: 0 });
}

const ranges: readonly NumberRange[] = [
  ['max_output_tokens', 16, 1_000_000, true],
  ['max_tool_calls', 1, 1_000_000, true],
  ['temperature', 0, 2, false],
  ['top_p', 0, 1, false],
  ['top_logprobs', 0, 20, true],
];

function flagsFault(body: JsonObject): VendorFault | null {
  const flags = ['stream', 'store', 'background', 'parallel_tool_calls'];
  const wrong = flags.find((name) => isSet(body[name]) && typeof body[name] !== 'boolean');
  if (wrong !== undefined) {
    return refusal(`Invalid type for '${wrong}': expected a boolean.`, wrong, 'invalid_type');
  }
  if (isSet(body['instructions']) && typeof body['instructions'] !== 'string') {
    return refusal(
      `Invalid type for 'instructions': expected a string.`,
      'instructions',
      'invalid_type',
    );
  }
  if (!isSet(body['stream_options']) || body['stream'] === true) return null;
  return refusal(
    `The 'stream_options' parameter is only allowed when 'stream' is enabled.`,
    'stream_options',
  );
}

/** Nothing is kept here, so that nothing can be referred to. */
function stateFault(body: JsonObject): VendorFault | null {
  if (body['background'] === true && body['store'] === false) {
    return refusal(`Background mode requires 'store' to be true.`, 'background');
  }
  const previous = stringAt(body, 'previous_response_id');
  if (previous === null) return null;
  return refusal(
    `Previous response with id '${previous}' not found.`,
    'previous_response_id',
    'previous_response_not_found',
  );
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

function reasoningFault(body: JsonObject): VendorFault | null {
  const effort = objectAt(body, 'reasoning')?.['effort'];
  const isReasoning = isReasoningModel(stringAt(body, 'model') ?? '');
  if (isSet(effort) && !efforts.includes(String(effort))) {
    return refusal(`Invalid value: '${effort}'.`, 'reasoning.effort', 'invalid_value');
  }
  if (isSet(effort) && !isReasoning) return unsupported('reasoning.effort');
  if (!isReasoning) return null;
  return faultInEach(['temperature', 'top_p'], (name) =>
    isSet(body[name]) ? unsupported(name) : null,
  );
}

function unsupported(param: string): VendorFault {
  return refusal(
    `Unsupported parameter: '${param}' is not supported with this model.`,
    param,
    'unsupported_parameter',
  );
}

const includable = new Set([
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
  'message.input_image.image_url',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
]);

function includeFault(body: JsonObject): VendorFault | null {
  const { include } = body;
  if (!isSet(include)) return null;
  if (!Array.isArray(include)) {
    return refusal(`Invalid type for 'include': expected an array.`, 'include', 'invalid_type');
  }
  const unknown = include.find((one) => !includable.has(one));
  if (unknown !== undefined) {
    return refusal(`Invalid value: '${String(unknown)}'.`, 'include', 'invalid_value');
  }
  const isSealed = include.includes('reasoning.encrypted_content');
  if (!isSealed || isReasoningModel(stringAt(body, 'model') ?? '')) return null;
  return refusal('Encrypted content is not supported with this model.', 'include');
}
