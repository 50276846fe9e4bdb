/** Anthropic's Messages API, as `https://api.anthropic.com` serves it. */
import type { JsonObject } from '../../../base/json.ts';
import {
  bearerOf,
  headerOf,
  isAccepted,
  type RequestHead,
  type Route,
  type Vendor,
} from '../vendor.ts';
import {
  anthropicErrorBody,
  anthropicErrorEvent,
  anthropicFault,
  anthropicPlainFault,
} from './anthropic-faults.ts';
import { readMessagesBody } from './anthropic-read.ts';
import { messagesBodyFault } from './anthropic-rules.ts';
import { anthropicFrames, anthropicStreamWriter, anthropicWhole } from './anthropic-write.ts';

export const anthropicVendor: Vendor = {
  name: 'anthropic',
  label: 'Anthropic',
  basePath: '',
  eol: '\n',
  modelNames: ['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5'],
  route,
  authorize: (head, rule) => {
    if (rule === 'open') return null;
    // SDK 1.x sends the key as Bearer, 0.x as x-api-key.
    const secret = headerOf(head, 'x-api-key') ?? bearerOf(head);
    if (secret === null || secret === '') {
      return anthropicPlainFault(401, 'x-api-key header is required');
    }
    return isAccepted(secret, rule) ? null : anthropicFault('auth', { model: '', retryAfterMs: 0 });
  },
  validate: messagesBodyFault,
  read: (body: JsonObject) => readMessagesBody(body),
  fault: anthropicFault,
  plainFault: anthropicPlainFault,
  errorBody: anthropicErrorBody,
  errorEvent: (fault, identity) => anthropicErrorEvent(fault, identity.requestId, identity.eol),
  replyHeaders: ({ requestId }) => ({
    'request-id': requestId,
    'anthropic-organization-id': '00000000-0000-4000-8000-000000000000',
    'anthropic-ratelimit-requests-limit': '50',
    'anthropic-ratelimit-requests-remaining': '49',
  }),
  wholeBody: anthropicWhole,
  frames: anthropicFrames,
  streamWriter: (settings) => anthropicStreamWriter(settings),
  countBody: (inputTokens) => JSON.stringify({ input_tokens: inputTokens }),
  modelsBody: (names, model) => {
    const entry = (id: string) => ({
      id,
      type: 'model',
      display_name: id,
      created_at: '2026-01-01T00:00:00Z',
    });
    if (model !== null) return names.includes(model) ? JSON.stringify(entry(model)) : null;
    const data = names.map(entry);
    const ends = { first_id: names[0] ?? null, last_id: names.at(-1) ?? null };
    return JSON.stringify({ data, has_more: false, ...ends });
  },
  messageId: (hex) => `msg_01${hex.slice(0, 22)}`,
  callId: (hex) => `toolu_01${hex.slice(0, 22)}`,
};

function route({ method, path }: RequestHead): Route | null {
  if (method === 'POST' && path === '/v1/messages') {
    return { operation: 'generate', model: null, isStream: null, isArray: false };
  }
  if (method === 'POST' && path === '/v1/messages/count_tokens') {
    return { operation: 'count', model: null };
  }
  if (method !== 'GET') return null;
  if (path === '/v1/models') return { operation: 'models', model: null };
  const model = /^\/v1\/models\/([^/]+)$/.exec(path)?.[1];
  return model === undefined ? null : { operation: 'models', model };
}
