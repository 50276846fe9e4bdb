/** How likely the simulated model held each token of its words: the same words always as likely. */
import { createHash } from 'node:crypto';
import { textDeltas } from './token-estimate.ts';

/** `logprob`: natural logarithm of its probability. */
export type LikelyToken = { readonly token: string; readonly logprob: number };

/** `top`: the likeliest at its place, the most likely first. */
export type WrittenToken = LikelyToken & { readonly top: readonly LikelyToken[] };

/** An unchecked request may ask for any number. */
const topAtMost = 20;

/** The tokens of `text`, joined they are it, each with `topMax` alternatives; the chosen one is the likeliest. */
export function writtenTokens(text: string, asked: number): readonly WrittenToken[] {
  const topMax = Math.min(asked, topAtMost);
  return textDeltas(text).map((token) => {
    const logprob = -(createHash('sha256').update(token).digest()[0] ?? 0) / 256;
    const others = Array.from({ length: Math.max(0, topMax - 1) }, (_, nth) => ({
      token: `${token}${'~'.repeat(nth + 1)}`,
      logprob: logprob - nth - 1,
    }));
    return { token, logprob, top: topMax > 0 ? [{ token, logprob }, ...others] : [] };
  });
}

/** In the form that OpenAI's two APIs share; `topMax` null: nothing is told. */
export function openaiLogprobs(text: string, topMax: number | null): readonly object[] {
  if (topMax === null) return [];
  const told = ({ token, logprob }: LikelyToken) => ({
    token,
    logprob,
    bytes: [...Buffer.from(token)],
  });
  return writtenTokens(text, topMax).map((token) => ({
    ...told(token),
    top_logprobs: token.top.map(told),
  }));
}
