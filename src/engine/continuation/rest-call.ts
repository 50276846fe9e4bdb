/** The call that asks for the rest: what the first part has used of the answer's length is used up. */
import { isThinkingAsked } from '../../chat/request.ts';
import type { UpstreamCall } from '../../dialects/dialect.ts';
import type { RestRequest } from './rest-request.ts';

const charactersPerToken = 4;
/** What is left to an answer that had come near its limit, in tokens. */
const tokensMin = 16;

export function restCall(call: UpstreamCall, { mode, sent, anchor }: RestRequest): UpstreamCall {
  const { parameters } = call;
  const isThinking = parameters.reasoning_effort !== null || isThinkingAsked(call.request);
  const limited = { ...call, isToBeContinued: mode === 'prefill' };
  // Thinking has a share of the limit, which may not fall short of it.
  if (parameters.max_tokens === null || isThinking) return limited;
  const left = parameters.max_tokens - Math.floor(sent.length / charactersPerToken);
  // Words that are repeated are no part of the answer, and in some scripts every letter is a token.
  const wanted = Math.max(tokensMin, left) + Math.ceil(anchor.length / 2);
  return {
    ...limited,
    parameters: { ...parameters, max_tokens: Math.min(parameters.max_tokens, wanted) },
    ownedParameters: [...new Set([...call.ownedParameters, 'max_tokens' as const])],
  };
}
