/**
 * Mistral's API. Fields: its API reference, its own client (client-python) and what it was recorded to
 * take; model facts: docs.mistral.ai, November 2026.
 */
import type { ChatQuirks } from '../dialects/openai-chat/chat-quirks.ts';
import { chatKind } from './chat-kind.ts';
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';

const quirks: ChatQuirks = {
  // Any other field is a 422 (extra_forbidden).
  onlyFields: [
    'model',
    'messages',
    'temperature',
    'top_p',
    'max_tokens',
    'stream',
    'stop',
    'random_seed',
    'presence_penalty',
    'frequency_penalty',
    'n',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'response_format',
    'prediction',
    'reasoning_effort',
    'prompt_mode',
    'prompt_cache_key',
    'safe_prompt',
    'guardrails',
    'metadata',
  ],
  outputLimit: 'max_tokens',
  renamedFields: { seed: 'random_seed' },
  takesStreamOptions: false,
  refusedByReasoning: [],
  toolChoice: 'no_subset',
  providerTools: ['content:document_url'],
  // It knows documents by link and sound as bare text, which clients of this dialect do not write.
  refusedParts: ['file', 'audio'],
  messages: {
    onlyFields: ['role', 'content', 'tool_calls', 'tool_call_id', 'prefix'],
    takesDeveloperRole: false,
    takesNames: false,
    callIdLength: 9,
    echo: {
      service: 'mistral',
      place: 'thinking',
      isForCallsAlone: false,
      isRequiredWithCalls: false,
    },
    // Otherwise the last message must be a user's or a tool's.
    prefillMark: { prefix: true },
  },
};

const unknown: ModelFacts = {
  ...unknownModel,
  acceptsPrefill: true,
  supports: { logprobs: false },
};

const model = (facts: Partial<ModelFacts>): ModelFacts => ({
  ...unknown,
  contextWindow: 256_000,
  ...facts,
});
/** Think when they are told to. */
const hybrid = model({ isReasoningModel: true, efforts: ['none', 'high'] });
const noEffort = model({ efforts: [] });
const magistral = model({ contextWindow: 128_000, thinksByDefault: true, efforts: [] });

const models: ModelTable = {
  'mistral-large': noEffort,
  'mistral-large-2512': noEffort,
  'mistral-medium': hybrid,
  'mistral-medium-3-5': hybrid,
  'mistral-small': hybrid,
  'mistral-small-2603': hybrid,
  'magistral-medium': magistral,
  'magistral-small': magistral,
};

export const mistralKind = chatKind({
  name: 'mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  keyVariable: 'MISTRAL_API_KEY',
  isKeyRequired: true,
  quirks,
  modelFacts: (name) => factsOf(models, name) ?? unknown,
  defaultTargets: {
    fast: { model: 'mistral-small-latest', params: {} },
    smart: { model: 'mistral-large-latest', params: {} },
    reasoning: { model: 'mistral-medium-latest', params: { reasoning_effort: 'high' } },
  },
});
