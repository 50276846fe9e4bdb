/** Who made a Claude model's thinking: its signature holds for one model alone, on whichever service. */

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
