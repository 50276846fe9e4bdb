/**
 * Who made a thinking block: its signature holds for one model alone. Thoughts of other vendors
 * reach a client under a mark of our own in place of a signature, and are known by it when they return.
 */
import type { AssistantPart, Message } from '../../chat/request.ts';
import { dialectName } from './wire.ts';

/** No signature: what a service of this dialect would refuse, so that it can only be taken for ours. */
export const unsignedMark = 'tgu_not-signed';

export function isUnsigned(signature: string): boolean {
  return signature.startsWith('tgu_');
}

/** The signature names its model near its beginning. */
const headCharacters = 400;

/**
 * The model that a signature names: those of version 4.5 and later do, as a field with its length
 * before it (seen in recorded answers, November 2026). Null = it names none.
 */
export function modelInSignature(signature: string): string | null {
  const bytes = Buffer.from(signature.slice(0, headCharacters), 'base64');
  const at = bytes.indexOf('claude-');
  const length = at > 0 ? (bytes[at - 1] ?? 0) : 0;
  const name = bytes.toString('latin1', at, at + length);
  return at > 0 && name.length === length && /^claude-[a-z0-9.-]{3,}$/.test(name) ? name : null;
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

/**
 * Whether two names mean one model, whatever snapshot, alias or platform: `claude-sonnet-4-5`,
 * `claude-sonnet-4-5-20250929`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0`.
 */
export function isSameModel(one: string, other: string): boolean {
  return familyOf(one) === familyOf(other);
}

function familyOf(model: string): string {
  const name = /claude-[a-z0-9.-]+/.exec(model.toLowerCase())?.[0] ?? model;
  return name
    .replaceAll('.', '-')
    .replace(/-v\d+$/, '')
    .replace(/-(\d{8}|latest)$/, '')
    .replace(/-0$/, '');
}
