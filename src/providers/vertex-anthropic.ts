/** Claude models on Vertex AI. Facts: platform.claude.com, Claude on Vertex AI, November 2026. */
import type { MessagesQuirks } from '../dialects/anthropic-messages/messages-quirks.ts';
import { anthropicMessagesWith } from '../dialects/anthropic-messages/upstream.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import { geminiUpstream } from '../dialects/gemini/upstream.ts';
import { anthropicKind } from './anthropic.ts';
import type { ProviderKind } from './provider-kind.ts';
import { vertexSurface, vertexUrl } from './vertex-surface.ts';

const quirks: MessagesQuirks = {
  // The model stands in the path; what elsewhere is a header stands in the body.
  namesModel: false,
  fixedFields: { anthropic_version: 'vertex-2023-10-16' },
  headerFields: { 'anthropic-beta': 'anthropic_beta' },
  fetchesLinks: false,
  hasFileStore: false,
  refusedFields: ['mcp_servers', 'container'],
  refusedTools: /^(code_execution|web_fetch|mcp)/,
  countUrl: (chatUrl) => chatUrl.replace(/\/models\/[^/]+$/, '/models/count-tokens:rawPredict'),
};

const claude = anthropicMessagesWith(quirks);

/** Errors are the model's vendor's, or the cloud's: `{error: {code, message, status}}`. */
const upstream: UpstreamDialect = {
  ...claude,
  readError: (input) => {
    const facts = geminiUpstream.readError(input);
    return facts.type !== null && /^[A-Z_]+$/.test(facts.type) ? facts : claude.readError(input);
  },
  rules: [...claude.rules, ...geminiUpstream.rules],
  hints: {
    limits: claude.hints.limits,
    bodyDelay: (body) => claude.hints.bodyDelay(body) ?? geminiUpstream.hints.bodyDelay(body),
  },
};

export const vertexAnthropicKind: ProviderKind = {
  ...vertexSurface,
  name: 'vertex-anthropic',
  dialect: 'anthropic-messages',
  upstreamOf: () => upstream,
  differences: { dialect: 'anthropic-messages', quirks },
  urlFor: ({ baseUrl, model, isStream, own }) =>
    vertexUrl({
      baseUrl,
      version: 'v1',
      publisher: 'anthropic',
      model,
      method: isStream ? ':streamRawPredict' : ':rawPredict',
      own,
    }),
  // A version stands behind an @ here.
  modelFacts: (model) => anthropicKind.modelFacts(model.replace(/@.*$/, '')),
};
