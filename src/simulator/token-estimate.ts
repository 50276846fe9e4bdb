/** Token counts without a tokenizer: the same text always counts the same. */

const charactersPerToken = 4;

/** 0 for '', else at least 1. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken);
}

/** The longest start of `text` that counts at most `tokens`; never ends inside a surrogate pair. */
export function cutToTokens(text: string, tokens: number): string {
  const end = Math.max(0, tokens) * charactersPerToken;
  if (text.length <= end) return text;
  const last = text.charCodeAt(end - 1);
  const isSplitPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isSplitPair ? end - 1 : end);
}

/** The prefix that a vendor's automatic cache would hold: whole blocks of 128 from 1,024 tokens on. */
export function estimateCachedTokens(inputTokens: number): number {
  if (inputTokens < 1024) return 0;
  return Math.floor((inputTokens * 0.8) / 128) * 128;
}

/** Cuts an answer's text into stream deltas of about a word each; joined they are `text`. */
export function textDeltas(text: string): readonly string[] {
  return text.match(/\s*\S{1,16}|\s+/gu) ?? [];
}

/** Cuts tool arguments into deltas of at most `size` code points; joined they are `text`. */
export function fragmentDeltas(text: string, size: number): readonly string[] {
  const points = [...text];
  const deltas: string[] = [];
  for (let at = 0; at < points.length; at += size)
    deltas.push(points.slice(at, at + size).join(''));
  return deltas;
}
