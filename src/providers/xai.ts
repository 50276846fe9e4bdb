/** xAI's API. Facts: docs.x.ai, models and reasoning pages, November 2026. */
import { chatKind } from './chat-kind.ts';
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';

const model = (contextWindow: number, facts: Partial<ModelFacts> = {}): ModelFacts => ({
  ...unknownModel,
  contextWindow,
  efforts: [],
  ...facts,
});
/** `efforts`: none = an effort is an error. */
const reasoning = (contextWindow: number, efforts: readonly string[] = []): ModelFacts =>
  model(contextWindow, {
    isReasoningModel: true,
    thinksByDefault: true,
    efforts,
    supports: { stop: false },
  });

const models: ModelTable = {
  'grok-3': model(131_072),
  'grok-3-mini': reasoning(131_072, ['low', 'high']),
  'grok-4': reasoning(256_000),
  'grok-4-0709': reasoning(256_000),
  'grok-4-fast-reasoning': reasoning(2_000_000),
  'grok-4-fast-non-reasoning': model(2_000_000),
  'grok-4-1-fast-reasoning': reasoning(2_000_000),
  'grok-4-1-fast-non-reasoning': model(2_000_000),
  'grok-4.3': reasoning(1_000_000, ['none', 'low', 'medium', 'high']),
  'grok-4.5': reasoning(500_000, ['low', 'medium', 'high']),
};

export const xaiKind = chatKind({
  name: 'xai',
  baseUrl: 'https://api.x.ai/v1',
  keyVariable: 'XAI_API_KEY',
  isKeyRequired: true,
  quirks: {
    outputLimit: 'max_completion_tokens',
    hasEmbeddings: false,
    refusedByReasoning: ['presence_penalty', 'frequency_penalty'],
    refusedFields: [
      'logit_bias',
      'verbosity',
      'store',
      'prediction',
      'web_search_options',
      'audio',
    ],
    stopSequencesMax: 4,
    toolChoice: 'no_subset',
    providerTools: [],
    refusedParts: ['file', 'audio'],
  },
  modelFacts: (name) => factsOf(models, name) ?? unknownModel,
  defaultTargets: {
    fast: { model: 'grok-4.3', params: { reasoning_effort: 'none' } },
    smart: { model: 'grok-4.3', params: {} },
    reasoning: { model: 'grok-4.5', params: { reasoning_effort: 'high' } },
  },
});
