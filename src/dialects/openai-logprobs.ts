/** Log probabilities as the vendor writes them whose two client dialects share the form. */
import { type JsonObject, numberAt, property, stringAt } from '../base/json.ts';
import type { LikelyToken, TokenLogprob } from '../chat/token-logprob.ts';
import { bytesOfToken } from './token-logprobs.ts';

export function readLogprobs(list: unknown): readonly TokenLogprob[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item): readonly TokenLogprob[] => {
    const likely = readLikely(item);
    if (likely === null) return [];
    const top = property(item, 'top_logprobs');
    const others = Array.isArray(top) ? top.map(readLikely) : [];
    return [{ ...likely, top: others.filter((other) => other !== null) }];
  });
}

function readLikely(item: unknown): LikelyToken | null {
  const token = stringAt(item, 'token');
  const logprob = numberAt(item, 'logprob');
  if (token === null || logprob === null) return null;
  return { token, logprob, bytes: readBytes(property(item, 'bytes'), token) };
}

/** Null says that there are none; events of a stream need not tell them at all. */
function readBytes(bytes: unknown, token: string): readonly number[] | null {
  if (bytes === null) return null;
  return Array.isArray(bytes) && bytes.every(isByte) ? bytes : bytesOfToken(token);
}

function isByte(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255;
}

/** `needsBytes`: the dialect has no word for a token without bytes, and is told those of its text. */
export function writeLogprobs(
  tokens: readonly TokenLogprob[],
  needsBytes: boolean,
): readonly JsonObject[] {
  const written = ({ token, logprob, bytes }: LikelyToken) => ({
    token,
    logprob,
    bytes: bytes ?? (needsBytes ? [...Buffer.from(token)] : null),
  });
  return tokens.map((token) => ({ ...written(token), top_logprobs: token.top.map(written) }));
}
