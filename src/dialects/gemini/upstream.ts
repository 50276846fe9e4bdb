/** The generateContent API as a target: of its first service, or of another that serves the same models. */
import type { UpstreamDialect } from '../dialect.ts';
import { countTokensUpstream, countTokensWith } from './count-tokens-upstream.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeCall } from './encode-call.ts';
import { hints, readError, rules } from './error-rules.ts';
import type { GeminiQuirks } from './gemini-quirks.ts';
import { missingAbility } from './missing-ability.ts';
import { streamDecoder } from './stream-decoder.ts';
import { dialectName } from './wire.ts';

export const geminiUpstream: UpstreamDialect = {
  name: dialectName,
  fieldsFrom: {
    contents: ['messages'],
    system_instruction: ['messages'],
    tool_config: ['tool_choice'],
    generation_config: [
      'max_tokens',
      'temperature',
      'top_p',
      'top_k',
      'stop',
      'seed',
      'presence_penalty',
      'frequency_penalty',
      'logprobs',
      'top_logprobs',
      'n',
      'reasoning_effort',
      'response_format',
    ],
  },
  operations: { count_tokens: countTokensUpstream },
  missingAbility: (request, model) => missingAbility(request, model),
  encodeCall,
  decodeReply,
  streamDecoder,
  readError,
  rules,
  hints,
  writingTools: /^(code_?execution|computer|mcp)/i,
  asksAgainWhenEmpty: true,
};

/** The same, with what is known of another service. */
export function geminiWith(quirks: GeminiQuirks): UpstreamDialect {
  return {
    ...geminiUpstream,
    operations: { count_tokens: countTokensWith(quirks) },
    missingAbility: (request, model) => missingAbility(request, model, quirks),
  };
}
