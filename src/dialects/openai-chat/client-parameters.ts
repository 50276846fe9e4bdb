/** The sampling and output fields of a client's body. Ranges are left to the provider: they differ between models. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ChatParameters, ResponseFormat } from '../../chat/request.ts';
import type { FirstFault } from '../first-fault.ts';

export function readParameters(json: JsonObject, faults: FirstFault): ChatParameters {
  return {
    max_tokens: smaller(
      readLimit(json, 'max_tokens', faults),
      readLimit(json, 'max_completion_tokens', faults),
    ),
    temperature: readNumber(json, 'temperature', faults),
    top_p: readNumber(json, 'top_p', faults),
    top_k: readNumber(json, 'top_k', faults),
    stop: readStop(json['stop'], faults),
    seed: readInteger(json, 'seed', faults),
    presence_penalty: readNumber(json, 'presence_penalty', faults),
    frequency_penalty: readNumber(json, 'frequency_penalty', faults),
    logit_bias: readObject(json, 'logit_bias', faults),
    logprobs: readBoolean(json, 'logprobs', faults),
    top_logprobs: readInteger(json, 'top_logprobs', faults),
    n: readChoices(json, faults),
    reasoning_effort: readString(json, 'reasoning_effort', faults),
    verbosity: readString(json, 'verbosity', faults),
    parallel_tool_calls: readBoolean(json, 'parallel_tool_calls', faults),
    response_format: readResponseFormat(json['response_format'], faults),
    user: readString(json, 'user', faults) ?? readString(json, 'safety_identifier', faults),
    service_tier: readString(json, 'service_tier', faults),
  };
}

/** Of both names for the output limit the smaller value holds. */
function smaller(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}

function readNumber(json: JsonObject, name: string, faults: FirstFault): number | null {
  const value = json[name];
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  faults.reportType(name, 'a number', value);
  return null;
}

function readInteger(json: JsonObject, name: string, faults: FirstFault): number | null {
  const value = readNumber(json, name, faults);
  if (value === null || Number.isInteger(value)) return value;
  faults.report(name, `${name} must be a whole number`);
  return null;
}

/** Local servers take -1 for none. */
function readLimit(json: JsonObject, name: string, faults: FirstFault): number | null {
  const limit = readInteger(json, name, faults);
  return limit === -1 ? null : limit;
}

/** How many choices: none at all is nothing to ask for, and others would answer with one. */
function readChoices(json: JsonObject, faults: FirstFault): number | null {
  const n = readInteger(json, 'n', faults);
  if (n !== null && n < 1) faults.report('n', 'n must be at least 1');
  return n;
}

function readBoolean(json: JsonObject, name: string, faults: FirstFault): boolean | null {
  const value = json[name];
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value;
  faults.reportType(name, 'true or false', value);
  return null;
}

function readString(json: JsonObject, name: string, faults: FirstFault): string | null {
  const value = json[name];
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  faults.reportType(name, 'a string', value);
  return null;
}

function readObject(json: JsonObject, name: string, faults: FirstFault): JsonObject | null {
  const value = json[name];
  if (value === undefined || value === null) return null;
  if (isJsonObject(value)) return value;
  faults.reportType(name, 'an object', value);
  return null;
}

function readStop(stop: unknown, faults: FirstFault): readonly string[] | null {
  if (stop === undefined || stop === null) return null;
  if (typeof stop === 'string') return [stop];
  if (Array.isArray(stop) && stop.every((text) => typeof text === 'string')) return stop;
  faults.reportType('stop', 'a string or an array of strings', stop);
  return null;
}

export const knownFormats: readonly string[] = ['text', 'json_object', 'json_schema'];

/** Null also for a format of a type not known here. */
function readResponseFormat(format: unknown, faults: FirstFault): ResponseFormat | null {
  if (format === undefined || format === null) return null;
  if (!isJsonObject(format)) {
    faults.reportType('response_format', 'an object', format);
    return null;
  }
  const type = format['type'];
  if (type === 'text' || type === 'json_object') return { type };
  if (type === 'json_schema') return readJsonSchema(format['json_schema'], faults);
  if (typeof type !== 'string') faults.reportType('response_format.type', 'a string', type);
  return null;
}

function readJsonSchema(wrapper: unknown, faults: FirstFault): ResponseFormat | null {
  const param = 'response_format.json_schema';
  if (!isJsonObject(wrapper)) {
    faults.reportType(param, 'an object', wrapper);
    return null;
  }
  const schema = wrapper['schema'];
  if (!isJsonObject(schema)) {
    faults.reportType(`${param}.schema`, 'an object', schema);
    return null;
  }
  const { name, strict, description } = wrapper;
  if (name !== undefined && name !== null && typeof name !== 'string') {
    faults.reportType(`${param}.name`, 'a string', name);
  }
  return {
    type: 'json_schema',
    name: typeof name === 'string' && name !== '' ? name : 'response',
    schema,
    strict: typeof strict === 'boolean' ? strict : null,
    description: typeof description === 'string' ? description : null,
  };
}
