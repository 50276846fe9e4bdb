/**
 * Thoughts of other vendors reach a client under a mark of our own in place of a signature, and are
 * known by it when they return.
 */
import type { AssistantPart, Message } from '../../chat/request.ts';
import { isSameModel, modelInSignature } from '../claude-signature.ts';
import { dialectName } from './wire.ts';

/** No signature: what a service of this dialect would refuse, so that it can only be taken for ours. */
export const unsignedMark = 'tgu_not-signed';

export function isUnsigned(signature: string): boolean {
  return signature.startsWith('tgu_');
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
