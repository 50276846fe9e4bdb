/** What a strict client of openai-responses misses in a response object. */
import { readUrlCitation } from './url-citations.ts';

export type Json = { readonly [key: string]: unknown };

const isString = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const orNull =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === null || check(value);

/** Fields that the official SDKs declare and applications read. */
const fields: { readonly [name: string]: (value: unknown) => boolean } = {
  id: (value) => isString(value) && /^resp_./.test(String(value)),
  object: (value) => value === 'response',
  created_at: isNumber,
  model: isString,
  status: isString,
  error: orNull(
    (value) => isObject(value) && isString(value['code']) && isString(value['message']),
  ),
  incomplete_details: orNull((value) => isObject(value) && isString(value['reason'])),
  instructions: orNull(isString),
  max_output_tokens: orNull(isNumber),
  metadata: isObject,
  output: Array.isArray,
  parallel_tool_calls: isBoolean,
  previous_response_id: orNull(isString),
  reasoning: isObject,
  service_tier: orNull(isString),
  store: isBoolean,
  temperature: orNull(isNumber),
  text: (value) => isObject(value) && isObject(value['format']),
  tool_choice: (value) => isString(value) || isObject(value),
  tools: Array.isArray,
  top_p: orNull(isNumber),
  truncation: orNull(isString),
  usage: orNull(isUsage),
};

function isUsage(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { input_tokens, output_tokens, total_tokens } = value;
  const input = value['input_tokens_details'];
  const output = value['output_tokens_details'];
  return (
    isNumber(input_tokens) &&
    isNumber(output_tokens) &&
    total_tokens === Number(input_tokens) + Number(output_tokens) &&
    isObject(input) &&
    isNumber(input['cached_tokens']) &&
    isObject(output) &&
    isNumber(output['reasoning_tokens'])
  );
}

const itemFields: { readonly [type: string]: (item: Json) => boolean } = {
  message: (item) =>
    item['role'] === 'assistant' &&
    isStatus(item['status']) &&
    Array.isArray(item['content']) &&
    item['content'].length > 0 &&
    item['content'].every(isPart),
  reasoning: (item) =>
    Array.isArray(item['summary']) &&
    item['summary'].every((part) => part['type'] === 'summary_text' && isString(part['text'])) &&
    (item['encrypted_content'] === undefined || isString(item['encrypted_content'])),
  function_call: (item) =>
    isStatus(item['status']) &&
    ['call_id', 'name'].every((field) => isString(item[field]) && item[field] !== '') &&
    isString(item['arguments']),
};

function isStatus(value: unknown): boolean {
  return value === 'completed' || value === 'incomplete';
}

function areAnnotations(annotations: unknown, text: string): boolean {
  if (!Array.isArray(annotations)) return false;
  for (const { type, ...fields } of annotations) {
    if (type !== 'url_citation') return false;
    readUrlCitation(fields, text);
  }
  return true;
}

function isPart(part: unknown): boolean {
  if (!isObject(part)) return false;
  if (part['type'] === 'refusal') return isString(part['refusal']);
  return (
    part['type'] === 'output_text' &&
    isString(part['text']) &&
    areAnnotations(part['annotations'], String(part['text'])) &&
    Array.isArray(part['logprobs'])
  );
}

/** Empty = nothing is missing. */
export function responseFaults(response: Json): readonly string[] {
  const faults: string[] = [];
  for (const [name, isRight] of Object.entries(fields)) {
    if (!isRight(response[name])) faults.push(`${name}: ${JSON.stringify(response[name])}`);
  }
  const output = Array.isArray(response['output']) ? response['output'] : [];
  for (const item of output) {
    const isRight = itemFields[item['type']]?.(item) === true;
    if (!isRight || !/^(msg|rs|fc)_./.test(item['id'])) faults.push(JSON.stringify(item));
  }
  const ids = output.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) faults.push(`ids occur twice: ${ids.join(' ')}`);
  return faults;
}
