/** Gemini models on Vertex AI. What differs from the Gemini API: cloud.google.com, Vertex AI reference, November 2026. */
import type { GeminiQuirks } from '../dialects/gemini/gemini-quirks.ts';
import { geminiWith } from '../dialects/gemini/upstream.ts';
import { geminiKind } from './gemini.ts';
import type { ProviderKind } from './provider-kind.ts';
import { vertexSurface, vertexUrl } from './vertex-surface.ts';

const quirks: GeminiQuirks = {
  fetchesLinks: () => true,
  hasFileStore: false,
  wrapsCountedChat: false,
};

const upstream = geminiWith(quirks);

export const vertexGeminiKind: ProviderKind = {
  ...vertexSurface,
  name: 'vertex-gemini',
  dialect: 'gemini',
  upstreamOf: () => upstream,
  differences: { dialect: 'gemini', quirks },
  urlFor: ({ baseUrl, model, isStream, own }) =>
    vertexUrl({
      baseUrl,
      version: 'v1beta1',
      publisher: 'google',
      model,
      method: isStream ? ':streamGenerateContent?alt=sse' : ':generateContent',
      own,
    }),
  modelFacts: geminiKind.modelFacts,
};
