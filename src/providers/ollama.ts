/** Ollama, on this machine or another. Facts: docs.ollama.com, compatibility page, and its issues, November 2026. */
import { chatKind } from './chat-kind.ts';
import { unknownModel } from './model-table.ts';

export const ollamaKind = chatKind({
  name: 'ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  keyVariable: null,
  isKeyRequired: false,
  quirks: {
    takesLongToolNames: true,
    outputLimit: 'max_tokens',
    refusedByReasoning: [],
    refusedFields: [
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
    // Tools are called or not as the model likes, whatever is asked.
    toolChoice: 'ignored',
    providerTools: [],
    refusedParts: ['image_link', 'file', 'audio'],
    messages: { takesDeveloperRole: false },
  },
  // The window is what the server was started with: a longer prompt is cut there without a word.
  modelFacts: () => ({ ...unknownModel, supports: { n: false } }),
});
