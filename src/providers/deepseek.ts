/** DeepSeek's API. Facts: api-docs.deepseek.com, reports of its errors, and recorded answers, November 2026. */
import { chatKind } from './chat-kind.ts';
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';

const unknown: ModelFacts = {
  ...unknownModel,
  supports: { images: false, documents: false, audio: false, json_schema: false, n: false },
};

const hybrid: ModelFacts = {
  ...unknown,
  contextWindow: 1_000_000,
  maxOutputTokens: 384_000,
  isReasoningModel: true,
  thinksByDefault: true,
  // The lower ones are taken for high there.
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  supports: { ...unknown.supports, logprobs: false },
};

const models: ModelTable = {
  'deepseek-v4-flash': hybrid,
  'deepseek-v4-pro': hybrid,
  'deepseek-reasoner': { ...hybrid, contextWindow: 128_000, maxOutputTokens: 64_000 },
};

export const deepseekKind = chatKind({
  name: 'deepseek',
  baseUrl: 'https://api.deepseek.com',
  keyVariable: 'DEEPSEEK_API_KEY',
  isKeyRequired: true,
  quirks: {
    outputLimit: 'max_tokens',
    hasEmbeddings: false,
    refusedByReasoning: [],
    effortFields: { none: { thinking: { type: 'disabled' } } },
    refusedFields: [
      'seed',
      'user',
      'logit_bias',
      'verbosity',
      'service_tier',
      'store',
      'metadata',
      'parallel_tool_calls',
      'web_search_options',
      'prediction',
      'audio',
      'moderation',
      'functions',
      'function_call',
      'modalities',
    ],
    stopSequencesMax: 16,
    toolChoice: 'no_subset',
    providerTools: [],
    refusedParts: ['image', 'file', 'audio'],
    messages: {
      takesDeveloperRole: false,
      // Without it a thinking model refuses a tool loop; in plain turns older ones refuse it.
      echo: {
        service: 'deepseek',
        place: 'reasoning_content',
        isForCallsAlone: true,
        isRequiredWithCalls: true,
      },
    },
  },
  modelFacts: (name) => factsOf(models, name) ?? unknown,
  defaultTargets: {
    fast: { model: 'deepseek-v4-flash', params: { reasoning_effort: 'none' } },
    smart: { model: 'deepseek-v4-pro', params: {} },
    reasoning: { model: 'deepseek-v4-pro', params: { reasoning_effort: 'max' } },
  },
});
