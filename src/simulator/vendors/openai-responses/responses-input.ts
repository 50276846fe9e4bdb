/** The rules that OpenAI's Responses endpoint holds input items to. */
import { arrayAt, isJsonObject, type JsonObject, stringAt } from '../../../base/json.ts';
import { refusal } from '../openai/openai-faults.ts';
import { imageFault, unknownParameter } from '../openai/openai-messages.ts';
import { isSet, namePattern, patternFault } from '../openai/openai-tool-rules.ts';
import { faultInEach, firstFault, type VendorFault } from '../vendor.ts';
import { isEncryptedReasoning } from './encrypted-reasoning.ts';

const callIdLengthMax = 64;

/** What each kind of item may hold; kinds that are not here are taken as they are. */
const itemFields: { readonly [type: string]: readonly string[] } = {
  message: ['type', 'role', 'content', 'id', 'status', 'phase'],
  function_call: [
    'type',
    'call_id',
    'name',
    'arguments',
    'id',
    'status',
    'namespace',
    // The vendor's own SDK adds it to answers and sends it back with them.
    'parsed_arguments',
  ],
  function_call_output: ['type', 'call_id', 'output', 'id', 'status'],
  custom_tool_call: ['type', 'call_id', 'name', 'input', 'id', 'status'],
  custom_tool_call_output: ['type', 'call_id', 'output', 'id', 'status'],
  reasoning: ['type', 'id', 'summary', 'content', 'encrypted_content', 'status'],
  item_reference: ['type', 'id'],
};

const idPrefixes: { readonly [type: string]: string } = {
  message: 'msg',
  function_call: 'fc',
  reasoning: 'rs',
};

const partTypes: { readonly [role: string]: readonly string[] } = {
  user: ['input_text', 'input_image', 'input_file', 'input_audio'],
  system: ['input_text', 'input_image', 'input_file'],
  developer: ['input_text', 'input_image', 'input_file'],
  assistant: ['output_text', 'refusal'],
};
const outputPartTypes = ['input_text', 'input_image', 'input_file'];

/** The first complaint about `input`, or null. */
export function inputFault(body: JsonObject): VendorFault | null {
  const { input } = body;
  const goesOn = isSet(body['previous_response_id']) || isSet(body['conversation']);
  if (typeof input === 'string') return null;
  if (!isSet(input) || (Array.isArray(input) && input.length === 0)) {
    if (goesOn || isSet(body['prompt'])) return null;
    return refusal(
      `One of 'input' or 'previous_response_id' or 'prompt' or 'conversation' must be provided.`,
      'input',
      'missing_required_parameter',
    );
  }
  if (!Array.isArray(input)) {
    return refusal(
      `Invalid type for 'input': expected one of an array of items or string.`,
      'input',
      'invalid_type',
    );
  }
  return firstFault([
    () => faultInEach(input, itemFault),
    () => faultInEach(input, (item, index) => reasoningFault(item, input[index + 1], body)),
    () => (goesOn ? null : pairingFault(input.filter(isJsonObject))),
  ]);
}

function typeOf(item: JsonObject): string {
  return stringAt(item, 'type') ?? (isSet(item['role']) ? 'message' : '');
}

function itemFault(item: unknown, index: number): VendorFault | null {
  const at = `input[${index}]`;
  if (!isJsonObject(item)) {
    return refusal(`Invalid type for '${at}': expected an object.`, at, 'invalid_type');
  }
  const type = typeOf(item);
  if (type === '') return missing(`${at}.type`);
  const fields = Object.hasOwn(itemFields, type) ? itemFields[type] : undefined;
  const unknown = fields && Object.keys(item).find((name) => !fields.includes(name));
  if (unknown !== undefined) return unknownParameter(`${at}.${unknown}`);
  return firstFault([() => idFault(item, type, at), () => contentFault(item, type, at)]);
}

function missing(param: string): VendorFault {
  return refusal(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
}

function idFault(item: JsonObject, type: string, at: string): VendorFault | null {
  const id = stringAt(item, 'id');
  if (type === 'item_reference') return id === null ? missing(`${at}.id`) : notFound(id);
  const prefix = Object.hasOwn(idPrefixes, type) ? (idPrefixes[type] ?? '') : '';
  if (id === null || id.startsWith(prefix)) return null;
  return refusal(
    `Invalid '${at}.id': '${id}'. Expected an ID that begins with '${prefix}'.`,
    `${at}.id`,
    'invalid_value',
  );
}

function notFound(id: string): VendorFault {
  return refusal(
    `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    'input',
  );
}

function contentFault(item: JsonObject, type: string, at: string): VendorFault | null {
  switch (type) {
    case 'message':
      return messageFault(item, at);
    case 'function_call':
      return callFault(item, 'arguments', at);
    case 'custom_tool_call':
      return callFault(item, 'input', at);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return firstFault([
        () => callIdFault(item, at),
        () => partsFault(item['output'], outputPartTypes, `${at}.output`),
      ]);
    case 'reasoning':
      return Array.isArray(item['summary']) ? null : missing(`${at}.summary`);
    default:
      return null;
  }
}

function messageFault(item: JsonObject, at: string): VendorFault | null {
  const role = stringAt(item, 'role') ?? '';
  const allowed = Object.hasOwn(partTypes, role) ? partTypes[role] : undefined;
  if (allowed === undefined) {
    return refusal(
      `Invalid value: '${role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
      `${at}.role`,
      'invalid_value',
    );
  }
  return partsFault(item['content'], allowed, `${at}.content`);
}

function partsFault(content: unknown, allowed: readonly string[], at: string): VendorFault | null {
  if (typeof content === 'string') return null;
  if (!isSet(content)) return missing(at);
  if (!Array.isArray(content)) {
    return refusal(
      `Invalid type for '${at}': expected one of an array of objects or string.`,
      at,
      'invalid_type',
    );
  }
  return faultInEach(content, (part, index) => partFault(part, allowed, `${at}[${index}]`));
}

function partFault(part: unknown, allowed: readonly string[], at: string): VendorFault | null {
  const type = stringAt(part, 'type') ?? '';
  if (!allowed.includes(type)) {
    return refusal(
      `Invalid value: '${type}'. Supported values are: ${allowed.map((one) => `'${one}'`).join(', ')}.`,
      `${at}.type`,
      'invalid_value',
    );
  }
  switch (type) {
    case 'input_text':
    case 'output_text':
      return stringAt(part, 'text') === null ? missing(`${at}.text`) : null;
    case 'refusal':
      return stringAt(part, 'refusal') === null ? missing(`${at}.refusal`) : null;
    case 'input_image':
      return stringAt(part, 'file_id') === null
        ? imageFault(stringAt(part, 'image_url'), `${at}.image_url`)
        : null;
    case 'input_file':
      return fileFault(part, at);
    default:
      return null;
  }
}

function fileFault(part: unknown, at: string): VendorFault | null {
  const given = ['file_id', 'file_url', 'file_data'].filter(
    (name) => stringAt(part, name) !== null,
  );
  if (given.length !== 1) return missing(`${at}.file_id`);
  const data = stringAt(part, 'file_data');
  if (data === null || /^data:application\/pdf;base64,/.test(data)) return null;
  return refusal(
    'The file type you uploaded is not supported. Please try again with a pdf',
    'input',
    'unsupported_file',
  );
}

function callFault(item: JsonObject, field: string, at: string): VendorFault | null {
  const name = stringAt(item, 'name');
  if (name === null) return missing(`${at}.name`);
  if (!namePattern.test(name)) return patternFault(`${at}.name`);
  if (stringAt(item, field) === null) return missing(`${at}.${field}`);
  return callIdFault(item, at);
}

function callIdFault(item: JsonObject, at: string): VendorFault | null {
  const id = stringAt(item, 'call_id') ?? '';
  const param = `${at}.call_id`;
  if (id === '') return missing(param);
  if (id.length <= callIdLengthMax) return null;
  return refusal(
    `Invalid '${param}': string too long. Expected a string with maximum length ${callIdLengthMax}, but got a string with length ${id.length} instead.`,
    param,
    'string_above_max_length',
  );
}

/** Reasoning stands before the item that it led to; nobody else's is understood. */
function reasoningFault(item: unknown, next: unknown, body: JsonObject): VendorFault | null {
  if (!isJsonObject(item) || typeOf(item) !== 'reasoning') return null;
  const id = stringAt(item, 'id');
  const encrypted = stringAt(item, 'encrypted_content');
  if (encrypted === null && (id === null || body['store'] === false)) return notFound(id ?? 'rs_');
  if (encrypted !== null && !isEncryptedReasoning(encrypted)) {
    return refusal(
      `The encrypted content ${encrypted.slice(0, 4)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      null,
      'invalid_encrypted_content',
    );
  }
  const isPaired = isJsonObject(next) && (id === null || stringAt(next, 'id') !== null);
  if (isPaired && isMadeByModel(next)) return null;
  return refusal(
    `Item '${id ?? 'rs_'}' of type 'reasoning' was provided without its required following item.`,
    'input',
  );
}

function isMadeByModel(item: JsonObject): boolean {
  const type = typeOf(item);
  if (type === 'message') return item['role'] === 'assistant';
  return type === 'reasoning' || type.endsWith('_call');
}

/** Each call is answered somewhere behind it, each answer has its call, and no two calls share an id. */
function pairingFault(items: readonly JsonObject[]): VendorFault | null {
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const type = typeOf(item);
    const id = stringAt(item, 'call_id') ?? '';
    if (type === 'function_call' || type === 'custom_tool_call') {
      if (seen.has(id)) {
        return refusal(`Duplicate tool call id '${id}'.`, `input[${index}].call_id`);
      }
      seen.add(id);
      open.add(id);
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      if (open.delete(id)) continue;
      return refusal(`No tool call found for function call output with call_id ${id}.`, 'input');
    }
  }
  const [unanswered] = open;
  if (unanswered === undefined) return null;
  return refusal(`No tool output found for function call ${unanswered}.`, 'input');
}

/** The texts of the input, whatever part they stand in. */
export function inputText(body: JsonObject): string {
  const { input } = body;
  return typeof input === 'string' ? input : JSON.stringify(arrayAt(body, 'input'));
}
