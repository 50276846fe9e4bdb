/** The rules that OpenAI's chat endpoint holds tools, the choice among them and output schemas to. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../../base/json.ts';
import { faultInEach, isTooDeep, type VendorFault } from '../vendor.ts';
import { refusal } from './openai-faults.ts';

export const namePattern = /^[A-Za-z0-9_-]{1,64}$/;
export const schemaDepthMax = 40;

/** null counts as absent. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function toolsFault(body: JsonObject): VendorFault | null {
  const tools = body['tools'];
  if (!isSet(tools)) return null;
  if (!Array.isArray(tools)) {
    return refusal(
      `Invalid type for 'tools': expected an array of objects.`,
      'tools',
      'invalid_type',
    );
  }
  if (tools.length === 0) {
    return refusal(
      `Invalid 'tools': empty array. Expected an array with minimum length 1.`,
      'tools',
      'empty_array',
    );
  }
  if (tools.length > 128) {
    return refusal(
      `Invalid 'tools': array too long. Expected an array with maximum length 128.`,
      'tools',
      'array_above_max_length',
    );
  }
  return faultInEach(tools, toolFault);
}

function toolFault(tool: unknown, index: number): VendorFault | null {
  const at = `tools[${index}]`;
  const type = stringAt(tool, 'type');
  if (type !== 'function' && type !== 'custom') {
    return refusal(
      `Invalid value: '${type ?? ''}'. Supported values are: 'function' and 'custom'.`,
      `${at}.type`,
      'invalid_value',
    );
  }
  const definition = objectAt(tool, type);
  const name = stringAt(definition, 'name');
  if (name === null) {
    return refusal(
      `Missing required parameter: '${at}.${type}.name'.`,
      `${at}.${type}.name`,
      'missing_required_parameter',
    );
  }
  if (!namePattern.test(name)) return patternFault(`${at}.${type}.name`);
  const parameters = definition?.['parameters'];
  if (!isSet(parameters)) return null;
  const isObjectSchema = isJsonObject(parameters) && parameters['type'] === 'object';
  if (!isObjectSchema || isTooDeep(parameters, schemaDepthMax)) {
    return refusal(
      `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'.`,
      `${at}.function.parameters`,
      'invalid_function_parameters',
    );
  }
  if (definition?.['strict'] !== true) return null;
  const fault = strictSchemaFault(parameters, []);
  if (fault === null) return null;
  return refusal(
    `Invalid schema for function '${name}': ${fault}`,
    `${at}.function.parameters`,
    'invalid_function_parameters',
  );
}

export function patternFault(param: string): VendorFault {
  return refusal(
    `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$' of at most 64 characters.`,
    param,
    'invalid_value',
  );
}

export function toolChoiceFault(body: JsonObject): VendorFault | null {
  const choice = body['tool_choice'];
  const hasTools = arrayAt(body, 'tools').length > 0;
  for (const name of ['tool_choice', 'parallel_tool_calls']) {
    if (isSet(body[name]) && !hasTools && body[name] !== 'none') {
      return refusal(
        `Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`,
        name,
      );
    }
  }
  if (!isSet(choice) || choice === 'none' || choice === 'auto' || choice === 'required')
    return null;
  const type = stringAt(choice, 'type');
  if (type === 'allowed_tools') return null;
  const name = type === null ? null : stringAt(objectAt(choice, type), 'name');
  if (name === null)
    return refusal(`Invalid value for 'tool_choice'.`, 'tool_choice', 'invalid_value');
  const isOffered = arrayAt(body, 'tools').some(
    (tool) => stringAt(objectAt(tool, type ?? 'function'), 'name') === name,
  );
  if (isOffered) return null;
  return refusal(`Tool choice '${type}' not found in 'tools' parameter.`, 'tool_choice');
}

export function responseFormatFault(body: JsonObject): VendorFault | null {
  const format = body['response_format'];
  if (!isSet(format)) return null;
  const type = stringAt(format, 'type');
  if (type === 'text') return null;
  if (type === 'json_object') {
    if (/json/i.test(JSON.stringify(body['messages']))) return null;
    return refusal(
      `'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.`,
      'messages',
    );
  }
  if (type !== 'json_schema') {
    return refusal(
      `Invalid value: '${type ?? ''}'. Supported values are: 'json_object', 'json_schema', and 'text'.`,
      'response_format.type',
      'invalid_value',
    );
  }
  const definition = objectAt(format, 'json_schema');
  const at = 'response_format.json_schema';
  const name = stringAt(definition, 'name');
  const schema = objectAt(definition, 'schema');
  if (name === null || schema === null) {
    const missing = `${at}.${name === null ? 'name' : 'schema'}`;
    return refusal(
      `Missing required parameter: '${missing}'.`,
      missing,
      'missing_required_parameter',
    );
  }
  if (!namePattern.test(name)) return patternFault(`${at}.name`);
  if (isTooDeep(schema, schemaDepthMax))
    return refusal(
      `Invalid schema for response_format '${name}': too deep.`,
      'response_format',
      'invalid_json_schema',
    );
  const fault = definition?.['strict'] === true ? strictSchemaFault(schema, []) : null;
  if (fault === null) return null;
  return refusal(
    `Invalid schema for response_format '${name}': ${fault}`,
    'response_format',
    'invalid_json_schema',
  );
}

/** What strict mode refuses: an object that is open, or a property that may be absent. */
export function strictSchemaFault(schema: unknown, path: readonly string[]): string | null {
  if (!isJsonObject(schema)) return null;
  const context = `In context=(${path.map((step) => `'${step}'`).join(', ')})`;
  const properties = objectAt(schema, 'properties');
  if (schema['type'] === 'object' || properties !== null) {
    if (schema['additionalProperties'] !== false) {
      return `${context}, 'additionalProperties' is required to be supplied and to be false.`;
    }
    const required = arrayAt(schema, 'required');
    const missing = Object.keys(properties ?? {}).find((name) => !required.includes(name));
    if (missing !== undefined) {
      return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    }
  }
  const inner: readonly (readonly [string, unknown])[] = [
    ...Object.entries(properties ?? {}).map(([name, one]) => [`properties.${name}`, one] as const),
    ...Object.entries(objectAt(schema, '$defs') ?? {}).map(
      ([name, one]) => [`$defs.${name}`, one] as const,
    ),
    ...arrayAt(schema, 'anyOf').map((one, index) => [`anyOf.${index}`, one] as const),
    ['items', schema['items']],
  ];
  for (const [name, one] of inner) {
    const fault = strictSchemaFault(one, [...path, name]);
    if (fault !== null) return fault;
  }
  return null;
}
