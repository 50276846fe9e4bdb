/** The Responses API as a target. */
import type { UpstreamDialect } from '../dialect.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeCall } from './encode-call.ts';
import { hints, readError, rules } from './error-rules.ts';
import { missingAbility } from './missing-ability.ts';
import { streamDecoder } from './stream-decoder.ts';
import { dialectName } from './wire.ts';

export const openaiResponsesUpstream: UpstreamDialect = {
  name: dialectName,
  fieldsFrom: {
    include: ['logprobs'],
    input: ['messages'],
    instructions: ['messages'],
    max_output_tokens: ['max_tokens'],
    reasoning: ['reasoning_effort'],
    text: ['response_format', 'verbosity'],
  },
  missingAbility,
  encodeCall,
  decodeReply,
  streamDecoder,
  readError,
  rules,
  hints,
  writingTools: /^(mcp|shell|local_shell|code_interpreter|computer|apply_patch)/,
};
