/** Answers whose tokens are told with how likely they were. */
import fc from 'fast-check';
import type { ChatReply, ReplyChoice } from '../../src/chat/reply.ts';
import { type ChatRequest, noParameters } from '../../src/chat/request.ts';
import type { LikelyToken, TokenLogprob } from '../../src/chat/token-logprob.ts';
import { unknownUsage } from '../../src/chat/usage.ts';

export function likely(token: string, logprob: number): LikelyToken {
  return { token, logprob, bytes: [...Buffer.from(token)] };
}

export function written(
  token: string,
  logprob: number,
  top: readonly LikelyToken[] = [],
): TokenLogprob {
  return { ...likely(token, logprob), top };
}

/** What a client asks for; `top` null: for no log probabilities at all. */
export function asking(top: number | null, dialect = 'openai-chat'): ChatRequest {
  return {
    model: 'tier',
    messages: [],
    tools: [],
    providerTools: [],
    toolChoice: null,
    parameters: { ...noParameters, ...(top === null ? {} : { logprobs: true, top_logprobs: top }) },
    isStream: false,
    includeUsage: false,
    otherFields: [],
    original: { dialect, bytes: Buffer.from('{}'), json: {} },
  };
}

export function replyOf(choices: readonly Partial<ReplyChoice>[]): ChatReply {
  return {
    id: 'answer-1',
    model: 'model-1',
    usage: unknownUsage,
    choices: choices.map((choice, index) => ({
      index,
      text: '',
      refusal: null,
      reasoning: [],
      toolCalls: [],
      finish: 'stop',
      rawFinish: 'stop',
      ...choice,
    })),
  };
}

/** Half of all characters have more than one byte. */
const token = fc.string({
  minLength: 1,
  maxLength: 6,
  unit: fc.constantFrom('a', ' ', 'ü', '🌍', '"'),
});
const logprob = fc.double({ min: -20, max: 0, noNaN: true }).map((value) => value + 0);

export const tokens: fc.Arbitrary<readonly TokenLogprob[]> = fc.array(
  fc
    .record({ token, logprob, top: fc.array(fc.record({ token, logprob }), { maxLength: 3 }) })
    .map(({ token, logprob, top }) =>
      written(
        token,
        logprob,
        top.map((other) => likely(other.token, other.logprob)),
      ),
    ),
  { minLength: 1, maxLength: 8 },
);

export function spelled(given: readonly TokenLogprob[]): string {
  return given.map(({ token }) => token).join('');
}
