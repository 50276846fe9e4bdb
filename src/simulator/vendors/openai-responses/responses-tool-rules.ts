/** The rules that OpenAI's Responses endpoint holds tools, the choice among them and output formats to: all flat. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../../base/json.ts';
import { refusal } from '../openai/openai-faults.ts';
import {
  isSet,
  namePattern,
  patternFault,
  schemaDepthMax,
  strictSchemaFault,
} from '../openai/openai-tool-rules.ts';
import { faultInEach, isTooDeep, type VendorFault } from '../vendor.ts';
import { inputText } from './responses-input.ts';

const toolTypes = new Set(
  `function custom web_search web_search_preview file_search code_interpreter mcp image_generation
  computer_use_preview computer local_shell shell apply_patch tool_search namespace`.split(/\s+/),
);

export function toolsFault(body: JsonObject): VendorFault | null {
  const { tools } = body;
  if (!isSet(tools)) return null;
  if (!Array.isArray(tools)) {
    return refusal(
      `Invalid type for 'tools': expected an array of objects.`,
      'tools',
      'invalid_type',
    );
  }
  if (tools.length <= 128) return faultInEach(tools, toolFault);
  return refusal(
    `Invalid 'tools': array too long. Expected an array with maximum length 128.`,
    'tools',
    'array_above_max_length',
  );
}

function toolFault(tool: unknown, index: number): VendorFault | null {
  const at = `tools[${index}]`;
  const type = stringAt(tool, 'type') ?? '';
  if (!toolTypes.has(type)) {
    return refusal(`Invalid value: '${type}'.`, `${at}.type`, 'invalid_value');
  }
  if (type !== 'function' && type !== 'custom') return null;
  const name = stringAt(tool, 'name');
  if (name === null) {
    const param = `${at}.name`;
    return refusal(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  }
  if (!namePattern.test(name)) return patternFault(`${at}.name`);
  return type === 'function' && isJsonObject(tool) ? parametersFault(tool, name, at) : null;
}

function parametersFault(tool: JsonObject, name: string, at: string): VendorFault | null {
  const { parameters, strict } = tool;
  const invalid = (why: string): VendorFault =>
    refusal(
      `Invalid schema for function '${name}': ${why}`,
      `${at}.parameters`,
      'invalid_function_parameters',
    );
  if (!isSet(parameters)) {
    const param = `${at}.parameters`;
    return refusal(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  }
  if (!isJsonObject(parameters) || parameters['type'] !== 'object') {
    return invalid(`schema must be a JSON Schema of 'type: "object"'.`);
  }
  if (isTooDeep(parameters, schemaDepthMax)) return invalid('too deep.');
  if (objectAt(parameters, 'properties') === null) {
    return invalid(`In context=(), object schema missing properties.`);
  }
  // Where it is not said the service tries strict mode, and takes back what does not fit.
  const fault = strict === true ? strictSchemaFault(parameters, []) : null;
  return fault === null ? null : invalid(fault);
}

export function toolChoiceFault(body: JsonObject): VendorFault | null {
  const choice = body['tool_choice'];
  if (!isSet(choice) || choice === 'none' || choice === 'auto') return null;
  const tools = arrayAt(body, 'tools');
  if (tools.length === 0) {
    return refusal(
      `Tool choices other than 'none' and 'auto' must be specified with 'tools' parameter.`,
      'tool_choice',
    );
  }
  if (choice === 'required') return null;
  const type = stringAt(choice, 'type');
  if (type === null) {
    return refusal(`Invalid value for 'tool_choice'.`, 'tool_choice', 'invalid_value');
  }
  const wanted = type === 'allowed_tools' ? arrayAt(choice, 'tools') : [choice];
  const isOffered = (one: unknown): boolean =>
    stringAt(one, 'name') === null ||
    tools.some((tool) => stringAt(tool, 'name') === stringAt(one, 'name'));
  if (wanted.every(isOffered)) return null;
  return refusal(`Tool choice '${type}' not found in 'tools' parameter.`, 'tool_choice');
}

export function textFault(body: JsonObject): VendorFault | null {
  const format = objectAt(body, 'text')?.['format'];
  if (!isSet(format)) return null;
  const type = stringAt(format, 'type') ?? '';
  if (type === 'text') return null;
  if (type === 'json_object') {
    if (/json/i.test(inputText(body))) return null;
    return refusal(
      `Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.`,
      'input',
    );
  }
  if (type === 'json_schema') return schemaFormatFault(format);
  return refusal(
    `Invalid value: '${type}'. Supported values are: 'json_object', 'json_schema', and 'text'.`,
    'text.format.type',
    'invalid_value',
  );
}

function schemaFormatFault(format: unknown): VendorFault | null {
  const at = 'text.format';
  const name = stringAt(format, 'name');
  const schema = objectAt(format, 'schema');
  if (name === null || schema === null) {
    const param = `${at}.${name === null ? 'name' : 'schema'}`;
    return refusal(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  }
  if (!namePattern.test(name)) return patternFault(`${at}.name`);
  const isStrict = isJsonObject(format) && format['strict'] === true;
  const fault = isStrict ? strictSchemaFault(schema, []) : null;
  const why = isTooDeep(schema, schemaDepthMax) ? 'too deep.' : fault;
  if (why === null) return null;
  return refusal(
    `Invalid schema for response_format '${name}': ${why}`,
    `${at}.schema`,
    'invalid_json_schema',
  );
}
