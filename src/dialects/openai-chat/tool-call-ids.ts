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

/** An id for a call that came without one: the same for the same bytes, however they were cut. */
export function madeToolCallId(seed: string): string {
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`;
}
