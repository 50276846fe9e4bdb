/** The rules that Anthropic's messages endpoint holds a body and its headers to, besides the turns. */
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  numberAt,
  objectAt,
  stringAt,
} from '../../../base/json.ts';
import {
  faultInEach,
  firstFault,
  headerOf,
  isTooDeep,
  type RequestHead,
  type Route,
  type VendorFault,
} from '../vendor.ts';
import { anthropicFault, refusal } from './anthropic-faults.ts';
import { turnsFault } from './anthropic-messages.ts';
import { refusesBothSamplings, refusesSampling } from './anthropic-models.ts';

const versions = ['2023-06-01', '2026-10-21'];
const outputTokensMax = 128_000;
const schemaDepthMax = 40;

const fields = new Set(
  `model max_tokens messages system stop_sequences stream temperature top_p top_k tools tool_choice
  thinking output_config output_format cache_control metadata service_tier speed inference_geo container
  mcp_servers context_management`.split(/\s+/),
);

/** The first complaint about a messages (or count_tokens) request, or null. */
export function messagesBodyFault(
  body: unknown,
  route: Route,
  head: RequestHead,
): VendorFault | null {
  if (!isJsonObject(body)) return refusal('Input should be a valid dictionary');
  const isCount = route.operation === 'count';
  const model = stringAt(body, 'model') ?? '';
  const isThinking = stringAt(objectAt(body, 'thinking'), 'type') === 'enabled';
  return firstFault([
    () => versionFault(head),
    () => (model === '' ? refusal('model: Field required') : foreignModelFault(model)),
    () => (isCount ? null : limitFault(body, model)),
    () => {
      const extra = Object.keys(body).find((name) => !fields.has(name));
      return extra === undefined ? null : refusal(`${extra}: Extra inputs are not permitted`);
    },
    () => systemFault(body['system']),
    () => turnsFault(body['messages'], { model, isThinking }),
    () => samplingFault(body, model, headerOf(head, 'anthropic-version') ?? ''),
    () => stopsFault(body),
    () =>
      body['stream'] === undefined || typeof body['stream'] === 'boolean'
        ? null
        : refusal('stream: Input should be a valid boolean'),
    () => toolsFault(body['tools']),
    () => toolChoiceFault(body),
    () => thinkingFault(body),
    () => outputFault(body),
  ]);
}

function versionFault(head: RequestHead): VendorFault | null {
  const version = headerOf(head, 'anthropic-version');
  if (version === null) return refusal('anthropic-version: header is required');
  return versions.includes(version)
    ? null
    : refusal(`anthropic-version: "${version.slice(0, 40)}" is not a valid version`);
}

function foreignModelFault(model: string): VendorFault | null {
  const isForeign = /^(gpt|o\d|gemini|models\/)/.test(model);
  return isForeign ? anthropicFault('not_found', { model, retryAfterMs: 0 }) : null;
}

function limitFault(body: JsonObject, model: string): VendorFault | null {
  const limit = body['max_tokens'];
  if (limit === undefined) return refusal('max_tokens: Field required');
  if (typeof limit !== 'number' || !Number.isInteger(limit)) {
    return refusal('max_tokens: Input should be a valid integer');
  }
  if (limit < 0) return refusal('max_tokens: Input should be greater than or equal to 0');
  if (limit <= outputTokensMax) return null;
  return refusal(
    `max_tokens: ${limit} > ${outputTokensMax}, which is the maximum allowed number of output tokens for ${model}`,
  );
}

function systemFault(system: unknown): VendorFault | null {
  if (system === undefined || typeof system === 'string') return null;
  if (!Array.isArray(system)) return refusal('system: Input should be a valid string or list');
  return faultInEach(system, (block, index) => {
    if (stringAt(block, 'type') !== 'text')
      return refusal(`system.${index}.type: Input should be 'text'`);
    const text = stringAt(block, 'text');
    if (text === null) return refusal(`system.${index}.text: Field required`);
    return text === '' ? refusal('system: text content blocks must be non-empty') : null;
  });
}

function samplingFault(body: JsonObject, model: string, version: string): VendorFault | null {
  for (const name of ['temperature', 'top_p', 'top_k'] as const) {
    const value = body[name];
    if (value === undefined) continue;
    if (version === '2026-10-21') return refusal(`${name}: Extra inputs are not permitted`);
    if (typeof value !== 'number') return refusal(`${name}: Input should be a valid number`);
    if (name !== 'top_k' && (value < 0 || value > 1)) return refusal(`${name}: range: 0..1`);
    const isDefault = name === 'temperature' ? value === 1 : name === 'top_p' && value >= 0.99;
    if (refusesSampling(model) && !isDefault) {
      return refusal(`\`${name}\` is not supported for this model.`);
    }
  }
  const hasBoth = body['temperature'] !== undefined && body['top_p'] !== undefined;
  if (!hasBoth || !refusesBothSamplings(model)) return null;
  return refusal(
    '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
  );
}

function stopsFault(body: JsonObject): VendorFault | null {
  const stops = body['stop_sequences'];
  if (stops === undefined) return null;
  if (!Array.isArray(stops) || !stops.every((one) => typeof one === 'string')) {
    return refusal('stop_sequences: Input should be a valid list of strings');
  }
  if (stops.every((one) => one.trim() !== '')) return null;
  return refusal('stop_sequences: each stop sequence must contain non-whitespace');
}

function toolsFault(tools: unknown): VendorFault | null {
  if (tools === undefined) return null;
  if (!Array.isArray(tools)) return refusal('tools: Input should be a valid list');
  const names = tools.map((tool) => stringAt(tool, 'name'));
  if (new Set(names).size < names.length) return refusal('tools: Tool names must be unique.');
  return faultInEach(tools, (tool, index) => {
    const at = `tools.${index}.custom`;
    if (!isJsonObject(tool)) return refusal(`tools.${index}: Input should be an object`);
    const type = stringAt(tool, 'type');
    if (type !== null && type !== 'custom') return serverToolFault(type, index);
    const name = stringAt(tool, 'name');
    if (name === null) return refusal(`${at}.name: Field required`);
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      return refusal(`${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    }
    const schema = tool['input_schema'];
    if (schema === undefined) return refusal(`${at}.input_schema: Field required`);
    const schemaType = stringAt(schema, 'type');
    if (schemaType === null) return refusal(`${at}.input_schema.type: Field required`);
    if (schemaType !== 'object')
      return refusal(`${at}.input_schema.type: Input should be 'object'`);
    return isTooDeep(schema, schemaDepthMax) ? refusal(`${at}.input_schema: too deep`) : null;
  });
}

/** Tools that the service runs carry a dated type, such as `web_search_20250305`. */
function serverToolFault(type: string, index: number): VendorFault | null {
  if (/_\d{8}$/.test(type) || type === 'mcp_toolset') return null;
  return refusal(
    `tools.${index}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
  );
}

function toolChoiceFault(body: JsonObject): VendorFault | null {
  const choice = body['tool_choice'];
  if (choice === undefined) return null;
  const type = stringAt(choice, 'type') ?? '';
  if (!['auto', 'any', 'tool', 'none'].includes(type)) {
    return refusal(
      `tool_choice: Input tag '${type}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'`,
    );
  }
  const tools = arrayAt(body, 'tools');
  if (tools.length === 0 && type !== 'none') {
    return refusal('tool_choice may only be specified while providing tools');
  }
  const thinking = stringAt(objectAt(body, 'thinking'), 'type');
  if (thinking === 'enabled' && (type === 'any' || type === 'tool')) {
    return refusal('Thinking may not be enabled when tool_choice forces tool use.');
  }
  const name = stringAt(choice, 'name');
  if (type !== 'tool' || tools.some((tool) => stringAt(tool, 'name') === name)) return null;
  return refusal(`Tool '${name ?? ''}' not found in provided tools`);
}

function thinkingFault(body: JsonObject): VendorFault | null {
  const thinking = body['thinking'];
  if (thinking === undefined) return null;
  const type = stringAt(thinking, 'type') ?? '';
  if (!['enabled', 'adaptive', 'disabled', 'between_tools'].includes(type)) {
    return refusal(
      `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags`,
    );
  }
  if (type !== 'enabled') return null;
  const budget = numberAt(thinking, 'budget_tokens');
  if (budget === null) return refusal('thinking.enabled.budget_tokens: Field required');
  if (budget < 1024) {
    return refusal('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  }
  if (budget >= (numberAt(body, 'max_tokens') ?? Number.POSITIVE_INFINITY)) {
    return refusal('`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  const temperature = body['temperature'];
  if (temperature === undefined || temperature === 1) return null;
  return refusal('`temperature` may only be set to 1 when thinking is enabled.');
}

function outputFault(body: JsonObject): VendorFault | null {
  const format =
    objectAt(objectAt(body, 'output_config'), 'format') ?? objectAt(body, 'output_format');
  if (format === null) return null;
  if (stringAt(format, 'type') !== 'json_schema') {
    return refusal("output_config.format.type: Input should be 'json_schema'");
  }
  const schema = objectAt(format, 'schema');
  if (schema === null) return refusal('output_config.format.schema: Field required');
  if (isTooDeep(schema, schemaDepthMax)) return refusal('output_config.format.schema: too deep');
  const isOpen = schema['type'] === 'object' && schema['additionalProperties'] !== false;
  if (!isOpen) return null;
  return refusal(
    "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
  );
}
