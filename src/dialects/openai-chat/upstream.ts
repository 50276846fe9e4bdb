/** Chat completions as a target: as the dialect's own vendor serves them, or as another server does. */
import type { UpstreamDialect } from '../dialect.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { decodeReply } from './decode-reply.ts';
import { embeddingsUpstream } from './embeddings-upstream.ts';
import { encodeCall } from './encode-call.ts';
import { hints, readError, rules } from './error-rules.ts';
import { missingAbility } from './missing-ability.ts';
import { namingService } from './reasoning-echo.ts';
import { streamDecoder } from './stream-decoder.ts';
import { dialectName } from './wire.ts';

export const openaiChatUpstream: UpstreamDialect = {
  name: dialectName,
  fieldsFrom: { max_completion_tokens: ['max_tokens'], safety_identifier: ['user'] },
  operations: { embeddings: embeddingsUpstream },
  missingAbility: (request) => missingAbility(request),
  encodeCall: (call) => encodeCall(call),
  decodeReply,
  streamDecoder,
  readError,
  rules,
  hints,
  writingTools: /^(mcp|shell|local_shell|code_interpreter|computer|apply_patch)/,
};

/** The same, with what is known of one server that speaks it. */
export function openaiChatWith(quirks: ChatQuirks): UpstreamDialect {
  const service = quirks.messages?.echo?.service;
  return {
    ...openaiChatUpstream,
    ...(service === undefined ? {} : namingService(openaiChatUpstream, service)),
    ...(quirks.hasEmbeddings === false ? { operations: {} } : {}),
    missingAbility: (request) => missingAbility(request, quirks),
    encodeCall: (call) => encodeCall(call, quirks),
    rules: [...(quirks.errorRules ?? []), ...rules],
  };
}
