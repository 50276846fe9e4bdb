/** The rules that generateContent holds a body to, besides its contents. */
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import { faultInEach, firstFault, isTooDeep, type Route, type VendorFault } from '../vendor.ts';
import { contentsFault } from './gemini-contents.ts';
import { geminiFault, refusal } from './gemini-faults.ts';
import { openApiSchemaFault, unknownName } from './gemini-schema-rules.ts';
import { isGemini3 } from './gemini-signature.ts';
import {
  field,
  fieldArray,
  fieldObject,
  fieldString,
  nameSet,
  unknownField,
} from './proto-fields.ts';

const bodyFields =
  nameSet(`model contents systemInstruction tools toolConfig generationConfig safetySettings
  cachedContent serviceTier labels store`);
const configFields =
  nameSet(`temperature topP topK candidateCount maxOutputTokens stopSequences seed
  presencePenalty frequencyPenalty responseLogprobs logprobs responseMimeType responseSchema
  responseJsonSchema responseModalities mediaResolution thinkingConfig enableEnhancedCivicAnswers
  speechConfig imageConfig`);
const declarationFields = nameSet(`name description parameters parametersJsonSchema response
  responseJsonSchema behavior`);
const namePattern = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/;
const schemaDepthMax = 40;

/** The first complaint about a generateContent (or countTokens) body, or null. */
export function generateBodyFault(body: unknown, route: Route): VendorFault | null {
  if (!isJsonObject(body)) return refusal('Invalid JSON payload received. Expected an object.');
  const model = route.operation === 'models' ? '' : (route.model ?? '');
  if (/^(gpt|o\d|claude)/.test(model)) return geminiFault('not_found', { model, retryAfterMs: 0 });
  if (route.operation === 'count') return countFault(body, model);
  return requestFault(body, model);
}

function countFault(body: JsonObject, model: string): VendorFault | null {
  const inner = fieldObject(body, 'generateContentRequest');
  if (inner !== null) return requestFault(inner, model);
  const unknown = unknownField(body, nameSet('contents'));
  return unknown === null
    ? contentsFault(field(body, 'contents'), model)
    : unknownName(unknown, null);
}

function requestFault(body: JsonObject, model: string): VendorFault | null {
  const config = fieldObject(body, 'generationConfig') ?? {};
  return firstFault([
    () => {
      const unknown = unknownField(body, bodyFields);
      return unknown === null ? null : unknownName(unknown, null);
    },
    () => {
      const unknown = unknownField(config, configFields);
      return unknown === null ? null : unknownName(unknown, 'generation_config');
    },
    () => contentsFault(field(body, 'contents'), model),
    () => systemFault(field(body, 'systemInstruction')),
    () => toolsFault(body, model),
    () => toolConfigFault(body),
    () => numbersFault(config),
    () => logprobsFault(config, model),
    () => stopsFault(config),
    () => formatFault(config, fieldArray(body, 'tools').length > 0, model),
    () => thinkingFault(fieldObject(config, 'thinkingConfig'), model),
  ]);
}

function systemFault(system: unknown): VendorFault | null {
  if (system === undefined) return null;
  const parts = fieldArray(system, 'parts');
  const isText = parts.length > 0 && parts.every((part) => fieldString(part, 'text') !== null);
  if (!isText) return refusal('System instruction must hold text parts only.');
  return parts.some((part) => fieldString(part, 'text') === '')
    ? refusal('* GenerateContentRequest.system_instruction.parts[0].text: must not be empty\n')
    : null;
}

function declarations(body: JsonObject): readonly (readonly [at: string, declaration: unknown])[] {
  return fieldArray(body, 'tools').flatMap((tool, index) =>
    fieldArray(tool, 'functionDeclarations').map(
      (one, nth) => [`tools[${index}].function_declarations[${nth}]`, one] as const,
    ),
  );
}

function toolsFault(body: JsonObject, model: string): VendorFault | null {
  const tools = field(body, 'tools');
  if (tools !== undefined && (!Array.isArray(tools) || !tools.every(isJsonObject))) {
    return refusal("Invalid value at 'tools': expected a list of objects.");
  }
  const all = declarations(body);
  const names = all.map(([, one]) => fieldString(one, 'name'));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return refusal(`Duplicate function declaration found: ${twice}`);
  return faultInEach(all, ([at, one]) => declarationFault(one, at, model));
}

function declarationFault(one: unknown, at: string, model: string): VendorFault | null {
  if (!isJsonObject(one)) return refusal(`Invalid value at '${at}': expected an object.`);
  const unknown = unknownField(one, declarationFields);
  if (unknown !== null) return unknownName(unknown, at);
  if (!namePattern.test(fieldString(one, 'name') ?? '')) {
    return refusal(
      `* GenerateContentRequest.${at}.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore, and hold letters, digits, _ . : - up to 64 characters.\n`,
    );
  }
  const parameters = field(one, 'parameters');
  const jsonSchema = field(one, 'parametersJsonSchema');
  if (parameters !== undefined && jsonSchema !== undefined) {
    return refusal(
      `* GenerateContentRequest.${at}: parameters and parameters_json_schema exclude each other\n`,
    );
  }
  if (
    jsonSchema !== undefined &&
    (!isJsonObject(jsonSchema) || isTooDeep(jsonSchema, schemaDepthMax))
  ) {
    return refusal(`Invalid value at '${at}.parameters_json_schema'.`);
  }
  if (parameters === undefined) return null;
  const properties = fieldObject(parameters, 'properties') ?? {};
  const isOld = /^gemini-(1|2\.0)/.test(model);
  if (isOld && Object.keys(properties).length === 0) {
    return refusal(
      `* GenerateContentRequest.${at}.parameters.properties: should be non-empty for OBJECT type\n`,
    );
  }
  return openApiSchemaFault(parameters, `${at}.parameters`);
}

function toolConfigFault(body: JsonObject): VendorFault | null {
  const calling = fieldObject(fieldObject(body, 'toolConfig'), 'functionCallingConfig');
  if (calling === null) return null;
  const mode = fieldString(calling, 'mode') ?? 'AUTO';
  if (!['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(mode)) {
    return refusal("Invalid value at 'tool_config.function_calling_config.mode'.");
  }
  const allowed = fieldArray(calling, 'allowedFunctionNames');
  if (allowed.length > 0 && mode !== 'ANY' && mode !== 'VALIDATED') {
    return refusal('Function calling mode should be ANY when allowed_function_names is set.');
  }
  const names = declarations(body).map(([, one]) => fieldString(one, 'name'));
  if (mode === 'ANY' && names.length === 0) {
    return refusal('Function calling config is set without function_declarations.');
  }
  const missing = allowed.find((name) => !names.includes(String(name)));
  return missing === undefined
    ? null
    : refusal(`allowed_function_names holds '${String(missing)}', which is not declared.`);
}

const ranges: readonly (readonly [name: string, low: number, high: number, isInteger: boolean])[] =
  [
    ['temperature', 0, 2, false],
    ['topP', 0, 1, false],
    ['topK', 1, 1000, false],
    ['candidateCount', 1, 8, true],
    ['maxOutputTokens', 1, 1_000_000, true],
    ['seed', -(2 ** 31), 2 ** 31, true],
    ['presencePenalty', -2, 2, false],
    ['frequencyPenalty', -2, 2, false],
    ['logprobs', 0, 20, true],
  ];

function numbersFault(config: JsonObject): VendorFault | null {
  return faultInEach(ranges, ([name, low, high, isInteger]) => {
    const value = field(config, name);
    if (value === undefined) return null;
    if (typeof value !== 'number' || (isInteger && !Number.isInteger(value))) {
      return refusal(
        `Invalid value at 'generation_config.${name}' (${isInteger ? 'TYPE_INT32' : 'TYPE_FLOAT'}).`,
      );
    }
    if (value >= low && value <= high) return null;
    return refusal(
      `* GenerateContentRequest.generation_config.${name}: ${name} must be in the range [${low}, ${high}].\n`,
    );
  });
}

function logprobsFault(config: JsonObject, model: string): VendorFault | null {
  const isAsked = field(config, 'responseLogprobs') === true;
  if (!isAsked && field(config, 'logprobs') !== undefined) {
    return refusal('Logprobs is only valid when response_logprobs is true.');
  }
  return isAsked && isGemini3(model)
    ? refusal(`Logprobs is not enabled for models/${model}`)
    : null;
}

function stopsFault(config: JsonObject): VendorFault | null {
  const stops = field(config, 'stopSequences');
  if (stops === undefined) return null;
  if (!Array.isArray(stops) || !stops.every((one) => typeof one === 'string')) {
    return refusal("Invalid value at 'generation_config.stop_sequences' (TYPE_STRING).");
  }
  if (stops.length <= 5) return null;
  return refusal(
    '* GenerateContentRequest.generation_config.stop_sequences: at most 5 are allowed\n',
  );
}

function formatFault(config: JsonObject, hasTools: boolean, model: string): VendorFault | null {
  const mimeType = fieldString(config, 'responseMimeType') ?? 'text/plain';
  if (!['text/plain', 'application/json', 'text/x.enum'].includes(mimeType)) {
    return refusal(
      '* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are `text/plain`, `application/json`, `text/x.enum`.\n',
    );
  }
  const schema = field(config, 'responseSchema');
  const jsonSchema = field(config, 'responseJsonSchema');
  if (schema !== undefined && jsonSchema !== undefined) {
    return refusal('response_schema and response_json_schema exclude each other.');
  }
  const hasSchema = schema !== undefined || jsonSchema !== undefined;
  if (hasSchema && mimeType === 'text/plain') {
    return refusal(
      '* GenerateContentRequest.generation_config.response_schema: only allowed with response_mime_type application/json\n',
    );
  }
  if (mimeType === 'application/json' && hasTools && !isGemini3(model)) {
    return refusal("Function calling with a response mime type: 'application/json' is unsupported");
  }
  if (
    jsonSchema !== undefined &&
    (!isJsonObject(jsonSchema) || isTooDeep(jsonSchema, schemaDepthMax))
  ) {
    return refusal("Invalid value at 'generation_config.response_json_schema'.");
  }
  return schema === undefined
    ? null
    : openApiSchemaFault(schema, 'generation_config.response_schema');
}

function thinkingFault(thinking: JsonObject | null, model: string): VendorFault | null {
  if (thinking === null) return null;
  const budget = field(thinking, 'thinkingBudget');
  const level = field(thinking, 'thinkingLevel');
  if (budget !== undefined && level !== undefined) {
    return refusal('You can only set only one of thinking budget and thinking level.');
  }
  if (level !== undefined && !isGemini3(model)) {
    return refusal('Thinking level is not supported for this model.');
  }
  if (budget === 0 && /^gemini-2\.5-pro/.test(model)) {
    return refusal('Budget 0 is invalid. This model only works in thinking mode.');
  }
  return null;
}
