/** OpenAI's Responses API: the same accounts and models as its Chat Completions API, another route. */
import { openaiKind, openaiModelFacts } from './openai.ts';
import type { ProviderKind } from './provider-kind.ts';

const { baseUrl, keyVariable, authHeader, authValue, fixedHeaders, passedHeaders } = openaiKind;

export const openaiResponsesKind: ProviderKind = {
  name: 'openai-responses',
  dialect: 'openai-responses',
  baseUrl,
  keyVariable,
  isKeyRequired: true,
  authHeader,
  authValue,
  fixedHeaders,
  passedHeaders,
  takesIdempotencyKey: true,
  urlFor: (call) => `${call.baseUrl}/responses`,
  modelFacts: openaiModelFacts,
  configShape: {},
  // The same account stands in them already.
  defaultTargets: null,
};
