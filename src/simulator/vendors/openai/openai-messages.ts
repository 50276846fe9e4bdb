/** The rules that OpenAI's chat endpoint holds messages to. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../../base/json.ts';
import { base64Bytes, faultInEach, firstFault, type VendorFault } from '../vendor.ts';
import { refusal } from './openai-faults.ts';

const callIdLengthMax = 40;

const messageFields: { readonly [role: string]: readonly string[] } = {
  system: ['role', 'content', 'name'],
  developer: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: [
    'role',
    'content',
    'name',
    'tool_calls',
    'refusal',
    'audio',
    'annotations',
    'function_call',
    // The vendor's own SDK adds it to answers and sends it back with them.
    'parsed',
  ],
  tool: ['role', 'content', 'tool_call_id'],
  function: ['role', 'content', 'name'],
};

const partTypes: { readonly [role: string]: readonly string[] } = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  tool: ['text'],
};

/** The first complaint about `messages`, or null. */
export function messagesFault(messages: unknown): VendorFault | null {
  if (!Array.isArray(messages)) {
    return refusal(
      `Invalid type for 'messages': expected an array of objects.`,
      'messages',
      'invalid_type',
    );
  }
  if (messages.length === 0) {
    return refusal(
      `Invalid 'messages': empty array. Expected an array with minimum length 1.`,
      'messages',
      'empty_array',
    );
  }
  return faultInEach(messages, messageFault) ?? pairingFault(messages.filter(isJsonObject));
}

function messageFault(message: unknown, index: number): VendorFault | null {
  const at = `messages[${index}]`;
  if (!isJsonObject(message)) {
    return refusal(`Invalid type for '${at}': expected an object.`, at, 'invalid_type');
  }
  const role = stringAt(message, 'role');
  const fields = role === null ? undefined : messageFields[role];
  if (role === null || fields === undefined) {
    return refusal(
      `Invalid value: '${role ?? ''}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
      `${at}.role`,
      'invalid_value',
    );
  }
  const unknown = Object.keys(message).find((name) => !fields.includes(name));
  if (unknown !== undefined) return unknownParameter(`${at}.${unknown}`);
  return firstFault([
    () => contentFault(message, role, at),
    () => (role === 'assistant' ? toolCallsFault(message, at) : null),
    () => (role === 'tool' ? toolMessageFault(message, at) : null),
  ]);
}

export function unknownParameter(param: string): VendorFault {
  return refusal(`Unknown parameter: '${param}'.`, param, 'unknown_parameter');
}

function contentFault(message: JsonObject, role: string, at: string): VendorFault | null {
  const content = message['content'];
  const where = `${at}.content`;
  if (content === null || content === undefined) {
    const isSilent = role === 'assistant' && hasOther(message);
    if (isSilent) return null;
    return refusal(`Invalid value for 'content': expected a string, got null.`, where, null);
  }
  if (typeof content === 'string') return null;
  if (!Array.isArray(content)) {
    return refusal(
      `Invalid type for '${where}': expected one of an array of objects or string.`,
      where,
      'invalid_type',
    );
  }
  if (content.length === 0) {
    return refusal(`Invalid '${where}': empty array.`, where, 'empty_array');
  }
  return faultInEach(content, (part, index) => partFault(part, role, `${where}[${index}]`));
}

function hasOther(message: JsonObject): boolean {
  return ['tool_calls', 'function_call', 'refusal', 'audio'].some(
    (name) => message[name] !== undefined && message[name] !== null,
  );
}

function partFault(part: unknown, role: string, at: string): VendorFault | null {
  const type = stringAt(part, 'type');
  const allowed = partTypes[role] ?? ['text'];
  if (type === null || !allowed.includes(type)) {
    return refusal(
      `Invalid value: '${type ?? ''}'. Supported values are: ${allowed.map((one) => `'${one}'`).join(', ')}.`,
      `${at}.type`,
      'invalid_value',
    );
  }
  if (type === 'text' && stringAt(part, 'text') === null) {
    return refusal(
      `Missing required parameter: '${at}.text'.`,
      `${at}.text`,
      'missing_required_parameter',
    );
  }
  if (type !== 'image_url') return null;
  return imageFault(stringAt(objectAt(part, 'image_url'), 'url'), `${at}.image_url.url`);
}

export function imageFault(url: string | null, param: string): VendorFault | null {
  if (url === null) {
    return refusal(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  }
  if (/^https?:\/\/[^/]/.test(url)) return null;
  const data = /^data:image\/(?:png|jpe?g|gif|webp);base64,(.*)$/s.exec(url)?.[1];
  if (data !== undefined && base64Bytes(data) !== null) return null;
  return refusal(
    `Invalid '${param}'. Expected a valid URL, or base64 data of an image (png, jpeg, gif, webp).`,
    param,
    'invalid_image_url',
  );
}

function toolCallsFault(message: JsonObject, at: string): VendorFault | null {
  const calls = message['tool_calls'];
  if (calls === undefined || calls === null) return null;
  if (!Array.isArray(calls) || calls.length === 0) {
    return refusal(`Invalid '${at}.tool_calls': empty array.`, `${at}.tool_calls`, 'empty_array');
  }
  return faultInEach(calls, (call, index) => {
    const where = `${at}.tool_calls[${index}]`;
    const called = objectAt(call, 'function') ?? objectAt(call, 'custom');
    const input = stringAt(called, 'arguments') ?? stringAt(called, 'input');
    if (stringAt(called, 'name') === null || input === null) {
      return refusal(
        `Missing required parameter: '${where}.function'.`,
        `${where}.function`,
        'missing_required_parameter',
      );
    }
    return callIdFault(stringAt(call, 'id'), `${where}.id`);
  });
}

function callIdFault(id: string | null, param: string): VendorFault | null {
  if (id === null || id === '') {
    return refusal(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  }
  if (id.length <= callIdLengthMax) return null;
  return refusal(
    `Invalid '${param}': string too long. Expected a string with maximum length ${callIdLengthMax}, but got a string with length ${id.length} instead.`,
    param,
    'string_above_max_length',
  );
}

function toolMessageFault(message: JsonObject, at: string): VendorFault | null {
  return callIdFault(stringAt(message, 'tool_call_id'), `${at}.tool_call_id`);
}

/** Each call is answered by a `tool` message right after its turn; a result without its call is refused. */
function pairingFault(messages: readonly JsonObject[]): VendorFault | null {
  let open = new Set<string>();
  let isInTurn = false;
  for (const [index, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      const id = stringAt(message, 'tool_call_id') ?? '';
      if (!isInTurn || !open.delete(id)) {
        return refusal(
          `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`,
          `messages[${index}].role`,
        );
      }
      continue;
    }
    if (open.size > 0) return unansweredFault(open, index);
    const calls = arrayAt(message, 'tool_calls');
    open = new Set(calls.map((call) => stringAt(call, 'id') ?? ''));
    isInTurn = calls.length > 0;
    if (open.size < calls.length) {
      return refusal(
        `Duplicate tool call id in 'messages[${index}].tool_calls'.`,
        `messages[${index}].tool_calls`,
      );
    }
  }
  return open.size > 0 ? unansweredFault(open, messages.length) : null;
}

function unansweredFault(open: ReadonlySet<string>, index: number): VendorFault {
  return refusal(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
    `messages[${index}].role`,
  );
}
