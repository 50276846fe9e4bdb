/** Counting tokens as a target of the generateContent API is asked for it. */
import { type Result, success } from '../../base/result.ts';
import { countedParts } from '../counted-parts.ts';
import type { EncodedCall, RequestFault, UpstreamCall, UpstreamOperation } from '../dialect.ts';
import { encodeCall as encodeChat } from './encode-call.ts';
import { dialectName } from './wire.ts';

export const countTokensUpstream: UpstreamOperation = {
  urlFrom: (chatUrl) => chatUrl.replace(/:generateContent(?=$|\?)/, ':countTokens'),
  missingAbility: ({ original }) => (original.dialect === dialectName ? null : 'count_tokens'),
  encodeCall,
  decodeReply: (body) => countedParts(body, 'totalTokens'),
};

/** The whole chat, wrapped: beside bare contents the endpoint takes no system words and no tools. */
function encodeCall(call: UpstreamCall): Result<EncodedCall, RequestFault> {
  const chat = encodeChat(call);
  if (!chat.ok) return chat;
  const body = Buffer.from(chat.value.body).toString('utf8').trimStart();
  const model = JSON.stringify(`models/${call.model}`);
  const rest = body.slice(1).trimStart();
  const comma = rest.startsWith('}') ? '' : ',';
  return success({
    body: `{"generateContentRequest":{"model":${model}${comma}${rest}}`,
    dropped: [],
  });
}
