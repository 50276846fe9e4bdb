/** OpenRouter, which hands requests on to many services. Facts: openrouter.ai/docs, parameters and reasoning, November 2026. */
import { chatKind } from './chat-kind.ts';
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';

/** A field that the chosen service does not know is left out without a word, and it knows no `n` at all. */
const unknown: ModelFacts = { ...unknownModel, supports: { n: false } };

const models: ModelTable = {
  'anthropic/claude-haiku-4.5': {
    ...unknown,
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    supports: { n: false, audio: false, logprobs: false },
  },
  'anthropic/claude-sonnet-4.5': {
    ...unknown,
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    supports: { n: false, audio: false, logprobs: false },
  },
};

export const openrouterKind = chatKind({
  name: 'openrouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  keyVariable: 'OPENROUTER_API_KEY',
  isKeyRequired: true,
  quirks: {
    outputLimit: 'max_tokens',
    refusedByReasoning: [],
    carriedParameters: ['top_k', 'reasoning_effort'],
    toolChoice: 'no_subset',
    // Wanted back as it came, signatures and all; nobody else writes it.
    messages: {
      echo: { place: 'reasoning_details', isForCallsAlone: false, isRequiredWithCalls: false },
    },
  },
  modelFacts: (name) => factsOf(models, name) ?? unknown,
  defaultTargets: {
    fast: { model: 'anthropic/claude-haiku-4.5', params: {} },
    smart: { model: 'anthropic/claude-sonnet-4.5', params: {} },
    reasoning: { model: 'anthropic/claude-sonnet-4.5', params: { reasoning_effort: 'high' } },
  },
});
