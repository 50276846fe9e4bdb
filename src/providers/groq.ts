/** Groq's API. Fields: console.groq.com, API reference and compatibility page; model facts: its model list, November 2026. */
import type { ChatQuirks } from '../dialects/openai-chat/chat-quirks.ts';
import { chatKind } from './chat-kind.ts';
import { factsOf, type ModelTable, unknownModel } from './model-table.ts';
import type { ModelFacts } from './provider.ts';

const quirks: ChatQuirks = {
  // Any other field is a 400 ("property 'x' is unsupported"); `logprobs`, `top_logprobs`, `logit_bias`,
  // names of messages and `n` above 1 by its compatibility page as well (read again in November 2026).
  onlyFields: [
    'model',
    'messages',
    'temperature',
    'top_p',
    'max_tokens',
    'max_completion_tokens',
    'stream',
    'stream_options',
    'stop',
    'seed',
    'presence_penalty',
    'frequency_penalty',
    'n',
    'user',
    'functions',
    'function_call',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'response_format',
    'reasoning_effort',
    'reasoning_format',
    'include_reasoning',
    'service_tier',
    'citation_options',
    'compound_custom',
    'disable_tool_validation',
    'documents',
    'search_settings',
  ],
  outputLimit: 'max_completion_tokens',
  hasEmbeddings: false,
  refusedByReasoning: [],
  serviceTiers: ['auto', 'on_demand', 'flex', 'performance'],
  stopSequencesMax: 4,
  imagesMax: 5,
  toolChoice: 'no_subset',
  providerTools: ['browser_search', 'code_interpreter', 'mcp'],
  refusedParts: ['file', 'audio'],
  messages: {
    onlyFields: ['role', 'content', 'tool_calls', 'tool_call_id', 'function_call'],
    takesDeveloperRole: false,
    takesNames: false,
  },
};

const unknown: ModelFacts = { ...unknownModel, supports: { logprobs: false, n: false } };

const openWeights: ModelFacts = {
  ...unknown,
  contextWindow: 131_072,
  maxOutputTokens: 32_768,
  isReasoningModel: true,
  thinksByDefault: true,
  efforts: ['low', 'medium', 'high'],
  supports: { ...unknown.supports, images: false },
};

const models: ModelTable = {
  'openai/gpt-oss-20b': openWeights,
  'openai/gpt-oss-120b': openWeights,
  'llama-3.3-70b-versatile': {
    ...unknown,
    contextWindow: 131_072,
    maxOutputTokens: 32_768,
    efforts: [],
    supports: { ...unknown.supports, images: false, json_schema: false },
  },
};

export const groqKind = chatKind({
  name: 'groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  keyVariable: 'GROQ_API_KEY',
  isKeyRequired: true,
  quirks,
  modelFacts: (name) => factsOf(models, name) ?? unknown,
  defaultTargets: {
    fast: { model: 'openai/gpt-oss-20b', params: {} },
    smart: { model: 'openai/gpt-oss-120b', params: {} },
    reasoning: { model: 'openai/gpt-oss-120b', params: { reasoning_effort: 'high' } },
  },
});
