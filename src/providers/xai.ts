/**
 * xAI's API. Facts: docs.x.ai, models and reasoning pages, November 2026; what it refuses ("Model X does
 * not support parameter Y"): reports of its errors, July to September 2026.
 */
import { chatKind } from './chat-kind.ts';
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';

const model = (contextWindow: number, facts: Partial<ModelFacts> = {}): ModelFacts => ({
  ...unknownModel,
  contextWindow,
  efforts: [],
  ...facts,
});
const reasons = {
  isReasoningModel: true,
  thinksByDefault: true,
  supports: { stop: false },
} as const satisfies Partial<ModelFacts>;
/** `efforts`: none = an effort is an error. */
const reasoning = (contextWindow: number, efforts: readonly string[] = []): ModelFacts =>
  model(contextWindow, { ...reasons, efforts });
/** Two sizes of its window are told (1 and 2 million tokens). */
const unmeasured: ModelFacts = { ...unknownModel, efforts: [] };

const models: ModelTable = {
  'grok-3': model(131_072),
  'grok-3-mini': reasoning(131_072, ['low', 'high']),
  'grok-4': reasoning(256_000),
  'grok-4-0709': reasoning(256_000),
  'grok-4-fast-reasoning': reasoning(2_000_000),
  'grok-4-fast-non-reasoning': model(2_000_000),
  'grok-4-1-fast-reasoning': reasoning(2_000_000),
  'grok-4-1-fast-non-reasoning': model(2_000_000),
  'grok-4.20-reasoning': { ...unmeasured, ...reasons },
  'grok-4.20-0309-reasoning': { ...unmeasured, ...reasons },
  'grok-4.20-non-reasoning': unmeasured,
  'grok-4.20-0309-non-reasoning': unmeasured,
  'grok-4.3': reasoning(1_000_000, ['none', 'low', 'medium', 'high']),
  'grok-4.5': reasoning(500_000, ['low', 'medium', 'high']),
  'grok-4.6': reasoning(500_000, ['low', 'medium', 'high', 'xhigh']),
  'grok-build-0.1': reasoning(256_000),
  'grok-code-fast-1': reasoning(256_000),
};

/** From the fourth generation on a model reasons unless its name says no; older ones are in the table. */
function newerModel(name: string): ModelFacts {
  const isReasoning = /^grok-([4-9]|code|build|latest)/.test(name) && !/non-reasoning/.test(name);
  return isReasoning ? { ...unknownModel, ...reasons } : unknownModel;
}

export const xaiKind = chatKind({
  name: 'xai',
  baseUrl: 'https://api.x.ai/v1',
  keyVariable: 'XAI_API_KEY',
  isKeyRequired: true,
  quirks: {
    outputLimit: 'max_completion_tokens',
    hasEmbeddings: false,
    refusedByReasoning: [],
    refusedFields: [
      // Only the third generation still took them, which is out of the vendor's list; refused at 0 too.
      'presence_penalty',
      'frequency_penalty',
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
  modelFacts: (name) => factsOf(models, name) ?? newerModel(name),
  defaultTargets: {
    fast: { model: 'grok-4.3', params: { reasoning_effort: 'none' } },
    smart: { model: 'grok-4.3', params: {} },
    reasoning: { model: 'grok-4.5', params: { reasoning_effort: 'high' } },
  },
});
