/** OpenAI's servers, as `https://api.openai.com/v1`: chat completions, and beside them the Responses API. */
import type { JsonObject } from '../../../base/json.ts';
import { responsesWire } from '../openai-responses/responses-wire.ts';
import {
  bearerOf,
  faultOf,
  isAccepted,
  type RequestHead,
  type Route,
  type Vendor,
} from '../vendor.ts';
import { embeddingsFault, openaiEmbeddings } from './openai-embeddings.ts';
import {
  openaiErrorBody,
  openaiErrorEvent,
  openaiFault,
  openaiPlainFault,
} from './openai-faults.ts';
import { readChatBody } from './openai-read.ts';
import { chatBodyFault } from './openai-rules.ts';
import { openaiFrames, openaiStreamWriter, openaiWhole } from './openai-write.ts';

const chatWire: Vendor = {
  name: 'openai',
  label: 'OpenAI',
  basePath: '/v1',
  eol: '\n',
  modelNames: ['gpt-5.1', 'gpt-5-mini', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4o-mini'],
  route,
  authorize: (head, rule) => {
    if (rule === 'open') return null;
    const secret = bearerOf(head);
    if (secret === null) {
      return faultOf({
        status: 401,
        type: 'invalid_request_error',
        message: `You didn't provide an API key. Send it as 'Authorization: Bearer YOUR_KEY'.`,
      });
    }
    return isAccepted(secret, rule) ? null : openaiFault('auth', { model: '', retryAfterMs: 0 });
  },
  validate: (body, { operation }) =>
    operation === 'embed' ? embeddingsFault(body) : chatBodyFault(body),
  read: (body: JsonObject) => readChatBody(body),
  fault: openaiFault,
  plainFault: openaiPlainFault,
  errorBody: openaiErrorBody,
  errorEvent: (fault, identity) => openaiErrorEvent(fault, identity.eol),
  replyHeaders: ({ requestId }) => ({
    'x-request-id': requestId,
    'openai-organization': 'org-simulated',
    'openai-processing-ms': '12',
    'openai-version': '2020-10-01',
    'x-ratelimit-limit-requests': '500',
    'x-ratelimit-remaining-requests': '499',
    'x-ratelimit-reset-requests': '120ms',
  }),
  wholeBody: openaiWhole,
  frames: openaiFrames,
  streamWriter: openaiStreamWriter,
  countBody: () => '{}',
  embedBody: openaiEmbeddings,
  modelsBody: (names, model) => {
    const entry = (id: string) => ({
      id,
      object: 'model',
      created: 1_767_225_600,
      owned_by: 'openai',
    });
    if (model === null) return JSON.stringify({ object: 'list', data: names.map(entry) });
    return names.includes(model) ? JSON.stringify(entry(model)) : null;
  },
  messageId: (hex) => `chatcmpl-sim${hex}`,
  callId: (hex) => `call_${hex}`,
};

export const openaiVendor: Vendor = { ...chatWire, wires: [responsesWire(chatWire)] };

function route({ method, path }: RequestHead): Route | null {
  if (path === '/v1/chat/completions') {
    return method === 'POST'
      ? { operation: 'generate', model: null, isStream: null, isArray: false }
      : null;
  }
  if (path === '/v1/embeddings' && method === 'POST') return { operation: 'embed', model: null };
  if (method !== 'GET') return null;
  if (path === '/v1/models') return { operation: 'models', model: null };
  const model = /^\/v1\/models\/([^/]+)$/.exec(path)?.[1];
  return model === undefined ? null : { operation: 'models', model };
}
