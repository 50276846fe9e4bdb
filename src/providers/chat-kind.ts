/** What services that speak Chat Completions have in common: a bearer key, one path, a table of differences. */
import type { ChatQuirks } from '../dialects/openai-chat/chat-quirks.ts';
import { openaiChatWith } from '../dialects/openai-chat/upstream.ts';
import { unknownModel } from './model-table.ts';
import type { ProviderKind } from './provider-kind.ts';

type Difference = Pick<ProviderKind, 'name' | 'baseUrl' | 'keyVariable' | 'isKeyRequired'> &
  Partial<ProviderKind> & { readonly quirks: ChatQuirks };

export function chatKind({ quirks, ...difference }: Difference): ProviderKind {
  const upstream = openaiChatWith(quirks);
  return {
    dialect: 'openai-chat',
    upstreamOf: () => upstream,
    differences: { dialect: 'openai-chat', quirks },
    authHeader: 'authorization',
    authValue: (secret) => `Bearer ${secret}`,
    fixedHeaders: {},
    passedHeaders: [],
    takesIdempotencyKey: false,
    urlFor: ({ baseUrl }) => `${baseUrl}/chat/completions`,
    modelFacts: () => unknownModel,
    configShape: {},
    defaultTargets: null,
    ...difference,
  };
}
