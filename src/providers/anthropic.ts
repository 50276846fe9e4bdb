/** Anthropic's Messages API. Model facts: platform.claude.com, models overview and migration guides, November 2026. */
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';
import type { ProviderKind } from './provider-kind.ts';

/** Up to 4.5: sampling fields and a prefilled answer are taken. */
const upTo45 = (maxOutputTokens: number): ModelFacts => ({
  contextWindow: 200_000,
  maxOutputTokens,
  isReasoningModel: false,
  acceptsPrefill: true,
  supports: { audio: false, logprobs: false, n: false },
});

/** 4.6 took the prefill away, and reads a million tokens. */
const from46 = (maxOutputTokens: number): ModelFacts => ({
  ...upTo45(maxOutputTokens),
  contextWindow: 1_000_000,
  acceptsPrefill: false,
});

/** From Opus 4.7 on sampling fields are refused. */
const from47: ModelFacts = { ...from46(128_000), isReasoningModel: true };

/** From 5 on the model thinks unless it is told not to. */
const from5: ModelFacts = { ...from47, thinksByDefault: true };

const models: ModelTable = {
  'claude-3-haiku': upTo45(4_096),
  'claude-3-5-haiku': upTo45(8_192),
  'claude-3-7-sonnet': upTo45(64_000),
  'claude-opus-4': upTo45(32_000),
  'claude-opus-4-0': upTo45(32_000),
  'claude-opus-4-1': upTo45(32_000),
  'claude-sonnet-4': upTo45(64_000),
  'claude-sonnet-4-0': upTo45(64_000),
  'claude-sonnet-4-5': upTo45(64_000),
  'claude-haiku-4-5': upTo45(64_000),
  'claude-opus-4-5': upTo45(64_000),
  'claude-opus-4-6': from46(128_000),
  // The ceiling has been given as 64,000 and as 128,000; the lower one is never refused.
  'claude-sonnet-4-6': from46(64_000),
  'claude-opus-4-7': from47,
  'claude-opus-4-8': from47,
  'claude-sonnet-5': from5,
  'claude-opus-5': from5,
  'claude-fable-5': from5,
  'claude-fable-5-1': from5,
  'claude-haiku-5-5': from5,
  'claude-sonnet-5-5': from5,
  'claude-opus-5-5': from5,
};

/** Every model since Sonnet 4 writes at least this much, except Opus 4 and 4.1, which stand above. */
const laterModel: ModelFacts = { ...unknownModel, maxOutputTokens: 64_000 };

function modelFacts(model: string): ModelFacts {
  const known = factsOf(models, model);
  if (known !== null) return known;
  return /^claude-(opus|sonnet|haiku|fable|mythos)-\d/.test(model) ? laterModel : unknownModel;
}

export const anthropicKind: ProviderKind = {
  name: 'anthropic',
  dialect: 'anthropic-messages',
  baseUrl: 'https://api.anthropic.com',
  keyVariable: 'ANTHROPIC_API_KEY',
  isKeyRequired: true,
  authHeader: 'x-api-key',
  authValue: (secret) => secret,
  // Unless the client asked for another: then its own header is passed over this one.
  fixedHeaders: { 'anthropic-version': '2023-06-01' },
  passedHeaders: ['anthropic-version', 'anthropic-beta'],
  takesIdempotencyKey: false,
  urlFor: ({ baseUrl }) => `${baseUrl}${baseUrl.endsWith('/v1') ? '' : '/v1'}/messages`,
  modelFacts,
  configShape: {},
  defaultTargets: {
    fast: { model: 'claude-haiku-5-5', params: {} },
    smart: { model: 'claude-sonnet-5', params: {} },
    reasoning: { model: 'claude-opus-5-5', params: { reasoning_effort: 'high' } },
  },
};
