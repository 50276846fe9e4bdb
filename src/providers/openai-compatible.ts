/** Any server that speaks Chat Completions at a URL of its own; nothing is known about its models. */
import { unknownModel } from './model-table.ts';
import type { ProviderKind } from './provider-kind.ts';

export const openaiCompatibleKind: ProviderKind = {
  name: 'openai-compatible',
  dialect: 'openai-chat',
  baseUrl: null,
  keyVariable: null,
  isKeyRequired: false,
  authHeader: 'authorization',
  authValue: (secret) => `Bearer ${secret}`,
  fixedHeaders: {},
  passedHeaders: ['openai-beta'],
  takesIdempotencyKey: false,
  urlFor: ({ baseUrl }) => `${baseUrl}/chat/completions`,
  modelFacts: () => unknownModel,
  configShape: {},
  defaultTargets: null,
};
