/** The rules that Converse holds a body to, besides its turns. */
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  numberAt,
  objectAt,
  parseJson,
  stringAt,
} from '../../../base/json.ts';
import { refusesBothSamplings, refusesSampling } from '../anthropic/anthropic-models.ts';
import { faultInEach, firstFault, isTooDeep, type Route, type VendorFault } from '../vendor.ts';
import { blockFault, kindOf, namePattern } from './bedrock-blocks.ts';
import { bedrockFault, refusal } from './bedrock-faults.ts';
import { blocksOf, messagesFault } from './bedrock-messages.ts';
import { claudeName, isLlama, isModelName } from './bedrock-models.ts';

const schemaDepthMax = 40;

const fields = new Set(
  `messages system inferenceConfig toolConfig outputConfig additionalModelRequestFields guardrailConfig
  additionalModelResponseFieldPaths performanceConfig promptVariables requestMetadata serviceTier`.split(
    /\s+/,
  ),
);

/** The first complaint about a Converse request, or null. */
export function converseFault(body: unknown, route: Route): VendorFault | null {
  if (!isJsonObject(body)) return refusal('The request body must be an object.');
  const model = route.model ?? '';
  const modelFields = objectAt(body, 'additionalModelRequestFields');
  const thinking = objectAt(modelFields, 'thinking');
  const isThinking = stringAt(thinking, 'type') === 'enabled';
  return firstFault([
    () => (isModelName(model) ? null : bedrockFault('not_found')),
    () => extraFault(body, fields),
    () =>
      faultInEach(arrayAt(body, 'system'), (block, at) =>
        blockFault(block, 'system', `system.${at}`),
      ),
    () => messagesFault(body, { model, isThinking }),
    () => inferenceFault(body, model, isThinking),
    () => toolsFault(body, model, isThinking),
    () => thinkingFault(thinking, objectAt(body, 'inferenceConfig')),
    () => outputFault(objectAt(body, 'outputConfig')),
    () => tierFault(body['serviceTier']),
    () => metadataFault(body['requestMetadata']),
  ]);
}

function extraFault(value: JsonObject, known: ReadonlySet<string>): VendorFault | null {
  const extra = Object.keys(value).find((name) => !known.has(name));
  if (extra === undefined) return null;
  return refusal(`Malformed input request: #: extraneous key [${extra}] is not permitted`);
}

const inferenceFields = new Set(['maxTokens', 'temperature', 'topP', 'stopSequences']);

function inferenceFault(body: JsonObject, model: string, isThinking: boolean): VendorFault | null {
  const config = objectAt(body, 'inferenceConfig');
  if (config === null) return null;
  const { maxTokens } = config;
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && Number(maxTokens) >= 1)) {
    return refusal("Value at 'inferenceConfig.maxTokens' must be greater than or equal to 1");
  }
  for (const name of ['temperature', 'topP'] as const) {
    const value = config[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || value < 0 || value > 1) {
      return refusal(`Value at 'inferenceConfig.${name}' must be between 0 and 1`);
    }
    if (refusesSampling(claudeName(model)) || isThinking) {
      return refusal(`The model returned the following errors: \`${name}\` is not supported here.`);
    }
  }
  const hasBoth = config['temperature'] !== undefined && config['topP'] !== undefined;
  if (hasBoth && refusesBothSamplings(claudeName(model))) {
    return refusal(
      'The model returned the following errors: `temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    );
  }
  const stops = arrayAt(config, 'stopSequences');
  if (stops.some((stop) => typeof stop !== 'string' || stop.trim() === '')) {
    return refusal(
      'The model returned the following errors: stop_sequences: each stop sequence must contain non-whitespace',
    );
  }
  if (stops.length > 0 && isLlama(model)) {
    return refusal(
      "This model doesn't support the stopSequences field. Remove stopSequences and try again.",
    );
  }
  return extraFault(config, inferenceFields);
}

function toolsFault(body: JsonObject, model: string, isThinking: boolean): VendorFault | null {
  const config = objectAt(body, 'toolConfig');
  if (config === null) {
    const hasCalls = arrayAt(body, 'messages')
      .flatMap(blocksOf)
      .some((block) => kindOf(block) === 'toolUse' || kindOf(block) === 'toolResult');
    if (!hasCalls) return null;
    return refusal(
      'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
    );
  }
  const tools = arrayAt(config, 'tools');
  if (tools.length === 0) {
    return refusal("Value at 'toolConfig.tools' failed to satisfy constraint: at least 1 member.");
  }
  const names = tools.flatMap((tool) => stringAt(objectAt(tool, 'toolSpec'), 'name') ?? []);
  if (new Set(names).size < names.length) {
    return refusal('The tool names must be unique.');
  }
  return (
    faultInEach(tools, toolFault) ??
    choiceFault(config['toolChoice'], { names, model, isThinking }) ??
    extraFault(config, new Set(['tools', 'toolChoice']))
  );
}

function toolFault(tool: unknown, at: number): VendorFault | null {
  const place = `toolConfig.tools.${at}`;
  const kind = kindOf(tool);
  if (kind === 'cachePoint' || kind === 'systemTool') return null;
  const spec = objectAt(tool, 'toolSpec');
  if (kind !== 'toolSpec' || spec === null) {
    return refusal(`The tool at ${place} must have exactly one member.`);
  }
  if (!namePattern.test(stringAt(spec, 'name') ?? '')) {
    return refusal(`Value at '${place}.toolSpec.name' failed to satisfy constraint.`);
  }
  if (spec['description'] === '') {
    return refusal(`Value at '${place}.toolSpec.description' must have length at least 1.`);
  }
  const schema = objectAt(objectAt(spec, 'inputSchema'), 'json');
  if (schema === null || schema['type'] !== 'object') {
    return refusal(
      `The value at ${place}.toolSpec.inputSchema.json.type must be one of the following: object.`,
    );
  }
  if (isTooDeep(schema, schemaDepthMax)) return refusal(`The schema at ${place} is too deep.`);
  return extraFault(spec, new Set(['name', 'description', 'inputSchema', 'strict']));
}

function choiceFault(
  choice: unknown,
  offered: {
    readonly names: readonly string[];
    readonly model: string;
    readonly isThinking: boolean;
  },
): VendorFault | null {
  if (choice === undefined) return null;
  const kind = kindOf(choice);
  if (kind === null || !['auto', 'any', 'tool'].includes(kind)) {
    return refusal("Value at 'toolConfig.toolChoice' must be one of auto, any, tool.");
  }
  if (kind === 'auto') return null;
  if (isLlama(offered.model)) {
    return refusal(`This model doesn't support the toolConfig.toolChoice.${kind} field.`);
  }
  if (offered.isThinking) {
    return refusal(
      'The model returned the following errors: Thinking may not be enabled when tool_choice forces tool use.',
    );
  }
  const name = stringAt(objectAt(choice, 'tool'), 'name');
  if (kind === 'any' || (name !== null && offered.names.includes(name))) return null;
  return refusal('The tool in toolChoice is not among the tools.');
}

function thinkingFault(thinking: JsonObject | null, config: JsonObject | null): VendorFault | null {
  if (stringAt(thinking, 'type') !== 'enabled') return null;
  const budget = numberAt(thinking, 'budget_tokens') ?? 0;
  const limit = numberAt(config, 'maxTokens') ?? Number.POSITIVE_INFINITY;
  if (budget < 1024) {
    return refusal(
      'The model returned the following errors: thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    );
  }
  if (budget < limit) return null;
  return refusal(
    'The model returned the following errors: `max_tokens` must be greater than `thinking.budget_tokens`.',
  );
}

const efforts = ['low', 'medium', 'high', 'xhigh', 'max'];

function outputFault(config: JsonObject | null): VendorFault | null {
  if (config === null) return null;
  const { effort } = config;
  if (effort !== undefined && !efforts.includes(String(effort))) {
    return refusal(`Value at 'outputConfig.effort' must be one of ${efforts.join(', ')}`);
  }
  const format = objectAt(config, 'textFormat');
  if (format === null) return extraFault(config, new Set(['effort']));
  if (stringAt(format, 'type') !== 'json_schema') {
    return refusal("Value at 'outputConfig.textFormat.type' must be json_schema");
  }
  const written = stringAt(objectAt(objectAt(format, 'structure'), 'jsonSchema'), 'schema');
  const parsed = parseJson(written ?? '');
  const schema = parsed.ok ? parsed.value : null;
  if (!isJsonObject(schema) || isTooDeep(schema, schemaDepthMax)) {
    return refusal('The schema in outputConfig.textFormat is not valid JSON of an object.');
  }
  if (schema['type'] !== 'object' || schema['additionalProperties'] === false) return null;
  return refusal(
    "The model returned the following errors: output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
  );
}

function tierFault(tier: unknown): VendorFault | null {
  if (tier === undefined) return null;
  const isKnown = ['default', 'flex', 'priority', 'reserved'].includes(
    stringAt(tier, 'type') ?? '',
  );
  return isKnown ? null : refusal("Value at 'serviceTier.type' is not valid");
}

function metadataFault(metadata: unknown): VendorFault | null {
  if (metadata === undefined) return null;
  const pairs = isJsonObject(metadata) ? Object.entries(metadata) : [['', '']];
  const allowed = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/;
  const isSound = pairs.every(
    ([name, value]) =>
      allowed.test(String(name)) && typeof value === 'string' && allowed.test(value),
  );
  return isSound ? null : refusal("Value at 'requestMetadata' failed to satisfy constraint.");
}
