/**
 * Who made a thinking block: its signature holds for one model alone. Thoughts of other vendors
 * reach a client under a mark of our own in place of a signature, and are known by it when they return.
 */

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
