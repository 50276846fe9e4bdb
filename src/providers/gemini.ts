/** Google's Gemini API. Model facts: the API's own model list and ai.google.dev, November 2026. */
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';
import type { ProviderKind } from './provider-kind.ts';

/** All current text models: they think, and still take sampling fields. */
const thinking: ModelFacts = {
  contextWindow: 1_048_576,
  maxOutputTokens: 65_536,
  isReasoningModel: false,
  thinksByDefault: true,
  acceptsPrefill: false,
  supports: {},
};

/** The vendor tells no log probabilities of these (its answers in its forum and issues, June 2026). */
const from3: ModelFacts = { ...thinking, supports: { logprobs: false } };

const models: ModelTable = {
  'gemini-2.0-flash': { ...thinking, maxOutputTokens: 8_192, thinksByDefault: false },
  'gemini-2.0-flash-lite': { ...thinking, maxOutputTokens: 8_192, thinksByDefault: false },
  'gemini-2.5-pro': thinking,
  'gemini-2.5-flash': thinking,
  'gemini-2.5-flash-lite': { ...thinking, thinksByDefault: false },
  'gemini-3-pro-preview': from3,
  'gemini-3-flash-preview': from3,
  'gemini-3.1-pro-preview': from3,
  'gemini-3.1-flash-lite': from3,
  'gemini-3.5-flash': from3,
  'gemini-3.5-flash-lite': from3,
  'gemini-3.6-flash': from3,
  'gemini-3.7-flash': from3,
  'gemini-3.8-flash': from3,
  'gemini-pro-latest': from3,
  'gemini-flash-latest': from3,
  'gemini-flash-lite-latest': from3,
};

export const geminiKind: ProviderKind = {
  name: 'gemini',
  dialect: 'gemini',
  baseUrl: 'https://generativelanguage.googleapis.com',
  keyVariable: 'GEMINI_API_KEY',
  isKeyRequired: true,
  authHeader: 'x-goog-api-key',
  authValue: (secret) => secret,
  fixedHeaders: {},
  passedHeaders: [],
  takesIdempotencyKey: false,
  deadlineHeader: 'x-server-timeout',
  urlFor: ({ baseUrl, model, isStream }) => {
    const versioned = /\/v1(beta|alpha)?$/.test(baseUrl) ? baseUrl : `${baseUrl}/v1beta`;
    const name = encodeURIComponent(model.replace(/^models\//, ''));
    const operation = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    return `${versioned}/models/${name}:${operation}`;
  },
  modelFacts: (model) => factsOf(models, model.replace(/^models\//, '')) ?? unknownModel,
  configShape: {},
  defaultTargets: {
    fast: { model: 'gemini-3.5-flash-lite', params: {} },
    smart: { model: 'gemini-3.8-flash', params: {} },
    reasoning: { model: 'gemini-3.8-flash', params: { reasoning_effort: 'high' } },
  },
};
