/** What stands in a reasoning item's `encrypted_content`: a service's own, or what brings another vendor's back. */
import type { ReasoningBlock } from '../../chat/reply.ts';
import type { ReasoningPart } from '../../chat/request.ts';
import { decodeCarrier, encodeCarrier, isCarrier } from '../reasoning-carrier.ts';
import { dialectName } from './wire.ts';

/** Null: there is nothing to bring back. */
export function writeEncrypted(block: ReasoningBlock, model: string | null): string | null {
  if (block.dialect === dialectName) return block.signature ?? block.redacted;
  return encodeCarrier(block, model);
}

/** The thought as its maker gets it back. */
export function readEncrypted(encrypted: string, text: string): ReasoningPart {
  const own = { type: 'reasoning', text, redacted: null, dialect: dialectName } as const;
  if (!isCarrier(encrypted)) return { ...own, signature: encrypted };
  return decodeCarrier(encrypted, text) ?? { ...own, signature: null };
}
