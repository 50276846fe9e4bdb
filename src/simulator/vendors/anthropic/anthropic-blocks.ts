/** The rules that Anthropic's messages endpoint holds single content blocks to. */
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../../../base/json.ts';
import { base64Bytes, faultInEach, type VendorFault } from '../vendor.ts';
import { refusal } from './anthropic-faults.ts';
import { isThinkingSignature } from './anthropic-signature.ts';

const blockFields: { readonly [type: string]: readonly string[] } = {
  text: ['text', 'citations', 'cache_control'],
  image: ['source', 'cache_control'],
  document: ['source', 'title', 'context', 'citations', 'cache_control'],
  search_result: ['source', 'title', 'content', 'citations', 'cache_control'],
  tool_use: ['id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['tool_use_id', 'content', 'is_error', 'cache_control'],
  thinking: ['thinking', 'signature', 'cache_control'],
  redacted_thinking: ['data', 'cache_control'],
};

const blockTypes: { readonly [role: string]: readonly string[] } = {
  user: ['text', 'image', 'document', 'search_result', 'tool_result', 'container_upload'],
  assistant: [
    'text',
    'tool_use',
    'thinking',
    'redacted_thinking',
    'server_tool_use',
    'mcp_tool_use',
    'mcp_tool_result',
    'compaction',
    'fallback',
    'document',
  ],
};

/** The complaint about a text block's text, or null. */
export function textFault(text: string): VendorFault | null {
  if (text === '') return refusal('messages: text content blocks must be non-empty');
  if (text.trim() === '') {
    return refusal('messages: text content blocks must contain non-whitespace text');
  }
  return null;
}

/** The first complaint about one block of a turn of `role`; `at` is its place in the body. */
export function blockFault(block: unknown, role: string, at: string): VendorFault | null {
  const type = stringAt(block, 'type');
  if (!isJsonObject(block) || type === null) return refusal(`${at}.type: Field required`);
  const allowed = blockTypes[role] ?? [];
  if (!allowed.includes(type) && !(type.endsWith('_tool_result') && role === 'assistant')) {
    return refusal(
      `${at}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${allowed.map((one) => `'${one}'`).join(', ')}`,
    );
  }
  const fields = blockFields[type];
  const extra =
    fields && Object.keys(block).find((name) => name !== 'type' && !fields.includes(name));
  if (extra !== undefined) return refusal(`${at}.${type}.${extra}: Extra inputs are not permitted`);
  switch (type) {
    case 'text':
      return typeof block['text'] === 'string'
        ? textFault(block['text'])
        : refusal(`${at}.text.text: Field required`);
    case 'image':
    case 'document':
      return sourceFault(objectAt(block, 'source'), type, at);
    case 'tool_use':
      return toolUseFault(block, at);
    case 'tool_result':
      return toolResultFault(block, at);
    case 'thinking':
      return thinkingFault(block, at);
    default:
      return null;
  }
}

const imageMediaTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

function sourceFault(source: JsonObject | null, type: string, at: string): VendorFault | null {
  const kind = stringAt(source, 'type');
  const where = `${at}.${type}.source`;
  if (kind === null) return refusal(`${where}: Field required`);
  if (kind === 'url') {
    const isWeb = /^https?:\/\/[^/]/.test(stringAt(source, 'url') ?? '');
    return isWeb ? null : refusal(`${where}.url.url: Only HTTPS URLs are supported.`);
  }
  if (kind !== 'base64') return null;
  const mediaType = stringAt(source, 'media_type') ?? '';
  const allowed = type === 'image' ? imageMediaTypes : ['application/pdf'];
  if (!allowed.includes(mediaType)) {
    return refusal(
      `${where}.base64.media_type: Input should be ${allowed.map((one) => `'${one}'`).join(', ')}`,
    );
  }
  if (base64Bytes(stringAt(source, 'data') ?? '') !== null) return null;
  return refusal(`${where}.base64: invalid base64 data`);
}

const idPattern = /^[a-zA-Z0-9_-]+$/;

function toolUseFault(block: JsonObject, at: string): VendorFault | null {
  const id = stringAt(block, 'id');
  if (id === null) return refusal(`${at}.tool_use.id: Field required`);
  if (!idPattern.test(id)) {
    return refusal(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  const name = stringAt(block, 'name') ?? '';
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
    return refusal(`${at}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  }
  if (!isJsonObject(block['input'])) {
    return refusal(`${at}.tool_use.input: Input should be a valid dictionary`);
  }
  return null;
}

function toolResultFault(block: JsonObject, at: string): VendorFault | null {
  if (!idPattern.test(stringAt(block, 'tool_use_id') ?? '')) {
    return refusal(`${at}.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  const content = block['content'];
  if (content === undefined || typeof content === 'string') return null;
  if (!Array.isArray(content)) {
    return refusal(`${at}.tool_result.content: Input should be a valid string or list`);
  }
  return faultInEach(content, (inner, index) => {
    const where = `${at}.tool_result.content.${index}`;
    const type = stringAt(inner, 'type');
    if (type === 'text') return textFault(stringAt(inner, 'text') ?? '');
    if (type === 'image' || type === 'document')
      return sourceFault(objectAt(inner, 'source'), type, where);
    if (type === 'search_result' || type === 'tool_reference') return null;
    return refusal(`${where}: Input tag '${type ?? ''}' does not match any of the expected tags`);
  });
}

function thinkingFault(block: JsonObject, at: string): VendorFault | null {
  const signature = stringAt(block, 'signature');
  const thinking = stringAt(block, 'thinking');
  if (signature === null) return refusal(`${at}.thinking.signature: Field required`);
  if (thinking === null) return refusal(`${at}.thinking.thinking: Field required`);
  if (isThinkingSignature(signature, thinking)) return null;
  return refusal(`${at}: Invalid \`signature\` in \`thinking\` block`);
}
