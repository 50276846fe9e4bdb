/** The dialects there are, by name. A new one is one folder and one line here. */
import type { DialectName } from '../chat/request.ts';
import { anthropicMessagesClient } from './anthropic-messages/client.ts';
import { anthropicMessagesUpstream } from './anthropic-messages/upstream.ts';
import { bedrockConverseUpstream } from './bedrock-converse/upstream.ts';
import type { ClientDialect, UpstreamDialect } from './dialect.ts';
import { geminiClient } from './gemini/client.ts';
import { geminiUpstream } from './gemini/upstream.ts';
import { openaiChatClient } from './openai-chat/client.ts';
import { openaiChatUpstream } from './openai-chat/upstream.ts';
import { openaiResponsesClient } from './openai-responses/client.ts';
import { openaiResponsesUpstream } from './openai-responses/upstream.ts';

export const clientDialects: ReadonlyMap<DialectName, ClientDialect> = new Map(
  [openaiChatClient, openaiResponsesClient, anthropicMessagesClient, geminiClient].map(
    (dialect) => [dialect.name, dialect],
  ),
);

export const upstreamDialects: ReadonlyMap<DialectName, UpstreamDialect> = new Map(
  [
    openaiChatUpstream,
    openaiResponsesUpstream,
    anthropicMessagesUpstream,
    geminiUpstream,
    bedrockConverseUpstream,
  ].map((dialect) => [dialect.name, dialect]),
);
