/** Any server that speaks Chat Completions at a URL of its own; nothing is known about its models. */
import { chatKind } from './chat-kind.ts';

export const openaiCompatibleKind = chatKind({
  name: 'openai-compatible',
  baseUrl: null,
  keyVariable: null,
  isKeyRequired: false,
  quirks: { takesLongToolNames: true },
  passedHeaders: ['openai-beta'],
});
