/** Chat completions as a target. */
import type { UpstreamDialect } from '../dialect.ts';
import { decodeReply } from './decode-reply.ts';
import { embeddingsUpstream } from './embeddings-upstream.ts';
import { encodeCall } from './encode-call.ts';
import { hints, readError, rules } from './error-rules.ts';
import { missingAbility } from './missing-ability.ts';
import { streamDecoder } from './stream-decoder.ts';
import { dialectName } from './wire.ts';

export const openaiChatUpstream: UpstreamDialect = {
  name: dialectName,
  operations: { embeddings: embeddingsUpstream },
  missingAbility,
  encodeCall,
  decodeReply,
  streamDecoder,
  readError,
  rules,
  hints,
  writingTools: /^(mcp|shell|local_shell|code_interpreter|computer|apply_patch)/,
};
