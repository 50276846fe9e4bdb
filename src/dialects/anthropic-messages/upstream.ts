/** The Messages API as a target: of its own vendor, or of another service that serves the same models. */

import { success } from '../../base/result.ts';
import type { UpstreamCall, UpstreamDialect } from '../dialect.ts';
import { countTokensUpstream } from './count-tokens-upstream.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeCall } from './encode-call.ts';
import { hints, readError, rules } from './error-rules.ts';
import { fitBody } from './fit-body.ts';
import type { MessagesQuirks } from './messages-quirks.ts';
import { missingAbility } from './missing-ability.ts';
import { streamDecoder } from './stream-decoder.ts';
import { dialectName } from './wire.ts';

export const anthropicMessagesUpstream: UpstreamDialect = {
  name: dialectName,
  operations: { count_tokens: countTokensUpstream },
  missingAbility: (request) => missingAbility(request),
  encodeCall,
  decodeReply,
  streamDecoder,
  readError,
  rules,
  hints,
  writingTools: /^(code_execution|mcp)/,
};

/** The same, with what is known of another service. */
export function anthropicMessagesWith(quirks: MessagesQuirks): UpstreamDialect {
  return {
    ...anthropicMessagesUpstream,
    operations: {
      count_tokens: {
        ...countTokensUpstream,
        urlFrom: quirks.countUrl,
        missingAbility: (request) =>
          countTokensUpstream.missingAbility(request) ?? missingAbility(request, quirks),
        // Counting has one path for all models, so that the body names them.
        encodeCall: (call) => {
          const counted = countTokensUpstream.encodeCall(call);
          return counted.ok
            ? success(fitBody(counted.value, call, { ...quirks, namesModel: true }))
            : counted;
        },
      },
    },
    missingAbility: (request) => missingAbility(request, quirks),
    encodeCall: (call) => {
      const encoded = encodeCall(withoutVersion(call));
      return encoded.ok ? success(fitBody(encoded.value, call, quirks)) : encoded;
    },
  };
}

/** Such a service has one version of its own, whatever the client asked its vendor for. */
function withoutVersion(call: UpstreamCall): UpstreamCall {
  if (call.clientHeaders === undefined) return call;
  const { 'anthropic-version': _, ...clientHeaders } = call.clientHeaders;
  return { ...call, clientHeaders };
}
