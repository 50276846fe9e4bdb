/**
 * Thoughts of other services reach a client with what brings their signature back, or under a mark of our
 * own in its place, and are known by it when they return.
 */
import type { ReasoningBlock } from '../../chat/reply.ts';
import type { AssistantPart, Message } from '../../chat/request.ts';
import { isSameModel, modelInSignature } from '../claude-signature.ts';
import { encodeCarrier, isCarrier } from '../reasoning-carrier.ts';
import { dialectName } from './wire.ts';

/** No signature: what a service of this dialect would refuse, so that it can only be taken for ours. */
export const unsignedMark = 'tgu_not-signed';

/** Whether no service of this dialect signed it. */
export function isUnsigned(signature: string): boolean {
  return signature.startsWith('tgu_') || isCarrier(signature);
}

/** What stands in the place of a signature that only its maker takes; null where nothing can come back. */
export function foreignSignature(block: ReasoningBlock, model: string | null): string | null {
  const { signature, isBoundToAccount } = block;
  // Nothing tells later which account it was.
  if (signature === null || isBoundToAccount === true) return null;
  return encodeCarrier({ ...block, redacted: null }, model);
}

/** What of a turn that came in another dialect may go back to `model`: a thought that it made itself. */
export function withoutOthersThoughts(
  messages: readonly Message[],
  model: string,
): readonly Message[] {
  const isOwn = (part: AssistantPart): boolean => {
    if (part.type !== 'reasoning' || part.dialect !== dialectName) return true;
    const { signature } = part;
    const maker = (signature === null ? null : modelInSignature(signature)) ?? part.model ?? null;
    return maker === null || isSameModel(maker, model);
  };
  return messages.map((message) =>
    message.role === 'assistant' ? { ...message, content: message.content.filter(isOwn) } : message,
  );
}
