/** Ids of tool calls as every server of this dialect takes them. */
import { createHash } from 'node:crypto';

/** The vendor refuses longer ids ("string_above_max_length"). */
const charactersMax = 40;

/** Ids with this prefix carry what another vendor signed: none of this dialect's business, and long. */
const carrierPrefix = 'tgs_';

export function isForeignToolCallId(id: string): boolean {
  return id.length > charactersMax || id.startsWith(carrierPrefix);
}

/** `id` itself where it may be sent, else a hash of it: the same for a call and its result, in every turn. */
export function sendableToolCallId(id: string): string {
  if (!isForeignToolCallId(id)) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** `id` where it is `length` letters and digits, else so many made of it. */
export function shortToolCallId(id: string, length: number): string {
  if (id.length === length && /^[A-Za-z0-9]+$/.test(id)) return id;
  const digest = createHash('sha256').update(id).digest();
  return Array.from({ length }, (_, at) => {
    // Two bytes a letter: what is left of the division hardly favours any.
    return alphabet[digest.readUInt16BE((2 * at) % 32) % alphabet.length];
  }).join('');
}

/** An id for a call that came without one: the same for the same bytes, however they were cut. */
export function madeToolCallId(seed: string): string {
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`;
}
