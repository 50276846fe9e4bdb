/** Google's Gemini API, as `https://generativelanguage.googleapis.com` serves it. */
import type { JsonObject } from '../../../base/json.ts';
import {
  faultOf,
  headerOf,
  isAccepted,
  type RequestHead,
  type Route,
  type Vendor,
} from '../vendor.ts';
import {
  geminiErrorBody,
  geminiErrorEvent,
  geminiFault,
  geminiPlainFault,
} from './gemini-faults.ts';
import { readGenerateBody } from './gemini-read.ts';
import { generateBodyFault } from './gemini-rules.ts';
import { geminiFrames, geminiStreamWriter, geminiWhole } from './gemini-write.ts';

export const geminiVendor: Vendor = {
  name: 'gemini',
  label: 'Gemini',
  basePath: '',
  eol: '\r\n',
  modelNames: ['gemini-3-pro', 'gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.0-flash'],
  route,
  authorize: (head, rule) => {
    if (rule === 'open') return null;
    const secret = headerOf(head, 'x-goog-api-key') ?? head.query.get('key');
    if (secret === null || secret === '') {
      // A request without a key is 403 here, one with a bad key 400.
      return faultOf({
        status: 403,
        type: 'PERMISSION_DENIED',
        message: "Method doesn't allow unregistered callers. Please use API Key.",
      });
    }
    return isAccepted(secret, rule) ? null : geminiFault('auth', { model: '', retryAfterMs: 0 });
  },
  validate: (body, route) => generateBodyFault(body, route),
  read: (body: JsonObject, route) => readGenerateBody(body, route),
  fault: geminiFault,
  plainFault: geminiPlainFault,
  errorBody: geminiErrorBody,
  errorEvent: (fault, identity) => geminiErrorEvent(fault, identity.eol),
  replyHeaders: () => ({ 'x-gemini-service-tier': 'standard', 'server-timing': 'gfet4t7; dur=12' }),
  wholeBody: geminiWhole,
  frames: geminiFrames,
  streamWriter: geminiStreamWriter,
  countBody: (tokens) =>
    JSON.stringify({
      totalTokens: tokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }],
    }),
  modelsBody: (names, model) => {
    const entry = (id: string) => ({
      name: `models/${id}`,
      version: '001',
      displayName: id,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    });
    if (model === null) return JSON.stringify({ models: names.map(entry) });
    return names.includes(model) ? JSON.stringify(entry(model)) : null;
  },
  messageId: (hex) => `sim${hex.slice(0, 20)}`,
  callId: (hex) => hex.slice(0, 8),
};

function route({ method, path, query }: RequestHead): Route | null {
  const match = /^\/v1(?:beta)?\/models(?:\/([^/:]+))?(?::([A-Za-z]+))?$/.exec(path);
  if (match === null) return null;
  const model = match[1] ?? null;
  const action = match[2];
  if (action === undefined) return method === 'GET' ? { operation: 'models', model } : null;
  if (method !== 'POST' || model === null) return null;
  if (action === 'countTokens') return { operation: 'count', model };
  if (action === 'generateContent') {
    return { operation: 'generate', model, isStream: false, isArray: false };
  }
  if (action !== 'streamGenerateContent') return null;
  return { operation: 'generate', model, isStream: true, isArray: query.get('alt') !== 'sse' };
}
