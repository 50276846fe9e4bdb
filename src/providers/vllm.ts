/** vLLM and its kin (SGLang, LM Studio), wherever they run. Facts: docs.vllm.ai, compatible server, November 2026. */
import { chatKind } from './chat-kind.ts';

export const vllmKind = chatKind({
  name: 'vllm',
  baseUrl: 'http://127.0.0.1:8000/v1',
  keyVariable: null,
  isKeyRequired: false,
  quirks: {
    takesLongToolNames: true,
    outputLimit: 'max_tokens',
    refusedByReasoning: [],
    carriedParameters: ['top_k'],
    refusedFields: [
      'verbosity',
      'service_tier',
      'store',
      'web_search_options',
      'prediction',
      'audio',
    ],
    toolChoice: 'no_subset',
    providerTools: ['content:video_url', 'content:audio_url'],
    refusedParts: ['file'],
    messages: { takesDeveloperRole: false },
    errorRules: [
      {
        // Of the window less than nothing is left for the answer; who asked for -1 of others is told so.
        name: 'vllm.no-room',
        status: [400],
        message: /max_tokens must be at least 1, got -\d/i,
        errorClass: 'context_length',
      },
    ],
  },
});
