/**
 * Together's API. Facts: docs.together.ai, chat completions reference, and the fields that its own
 * client knows (together-py), November 2026.
 */
import { chatKind } from './chat-kind.ts';
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';

/** It takes a number for `logprobs`, and tells them in a form of its own. */
const unknown: ModelFacts = { ...unknownModel, supports: { logprobs: false } };

const openWeights: ModelFacts = {
  ...unknown,
  contextWindow: 131_072,
  isReasoningModel: true,
  thinksByDefault: true,
  efforts: ['low', 'medium', 'high'],
  supports: { ...unknown.supports, images: false },
};

const models: ModelTable = {
  'openai/gpt-oss-20b': openWeights,
  'openai/gpt-oss-120b': openWeights,
};

export const togetherKind = chatKind({
  name: 'together',
  baseUrl: 'https://api.together.xyz/v1',
  keyVariable: 'TOGETHER_API_KEY',
  isKeyRequired: true,
  quirks: {
    outputLimit: 'max_tokens',
    refusedByReasoning: [],
    carriedParameters: ['top_k'],
    refusedFields: [
      'user',
      'verbosity',
      'service_tier',
      'store',
      'metadata',
      'parallel_tool_calls',
      'web_search_options',
      'prediction',
      'audio',
      'moderation',
      'modalities',
    ],
    toolChoice: 'no_subset',
    providerTools: [],
    refusedParts: ['file', 'audio'],
    messages: { takesDeveloperRole: false },
  },
  modelFacts: (name) => factsOf(models, name) ?? unknown,
  defaultTargets: {
    fast: { model: 'openai/gpt-oss-20b', params: {} },
    smart: { model: 'openai/gpt-oss-120b', params: {} },
    reasoning: { model: 'openai/gpt-oss-120b', params: { reasoning_effort: 'high' } },
  },
});
