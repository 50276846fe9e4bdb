/** The Converse API as a target. */
import type { UpstreamDialect } from '../dialect.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeCall } from './encode-call.ts';
import { hints, readError, rules } from './error-rules.ts';
import { missingAbility } from './missing-ability.ts';
import { streamDecoder } from './stream-decoder.ts';
import { dialectName } from './wire.ts';

export const bedrockConverseUpstream: UpstreamDialect = {
  name: dialectName,
  streamType: 'application/vnd.amazon.eventstream',
  missingAbility,
  encodeCall,
  decodeReply,
  streamDecoder,
  readError,
  rules,
  hints,
  writingTools: /code_interpreter/,
};
