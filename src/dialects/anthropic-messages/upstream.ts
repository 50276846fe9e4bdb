/** The Messages API as a target. */
import type { UpstreamDialect } from '../dialect.ts';
import { countTokensUpstream } from './count-tokens-upstream.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeCall } from './encode-call.ts';
import { hints, readError, rules } from './error-rules.ts';
import { missingAbility } from './missing-ability.ts';
import { streamDecoder } from './stream-decoder.ts';
import { dialectName } from './wire.ts';

export const anthropicMessagesUpstream: UpstreamDialect = {
  name: dialectName,
  operations: { count_tokens: countTokensUpstream },
  missingAbility,
  encodeCall,
  decodeReply,
  streamDecoder,
  readError,
  rules,
  hints,
  writingTools: /^(code_execution|mcp)/,
};
