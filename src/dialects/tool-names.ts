/**
 * Tool names for providers that take fewer characters than the client's dialect. The mapping is its
 * own inverse table: a decoder, which does not know the request, gives the client its name back.
 */
import type { RequestFault } from './dialect.ts';

/** Marks a mapped name. */
const mark = 'tgn_';

/**
 * `name` itself where `accepted` takes it; otherwise `tgn_` and the name with every byte but letters,
 * digits and `_` written as `-` and two hex digits. Null when that is longer than `charactersMax`.
 */
export function encodeToolName(
  name: string,
  { accepted, charactersMax }: { readonly accepted: RegExp; readonly charactersMax: number },
): string | null {
  if (accepted.test(name) && !name.startsWith(mark)) return name;
  let mapped = mark;
  for (const byte of Buffer.from(name, 'utf8')) {
    const character = String.fromCharCode(byte);
    mapped += /\w/.test(character) ? character : `-${byte.toString(16).padStart(2, '0')}`;
  }
  return mapped.length <= charactersMax && name !== '' ? mapped : null;
}

/** For a name that `encodeToolName` has none for. */
export function unwritableName(name: string): RequestFault {
  const shown = name.length <= 80 ? name : `${name.slice(0, 79)}…`;
  return { message: `The tool name "${shown}" cannot be written for this target.`, param: 'tools' };
}

/** The name that `encodeToolName` was given; any other name as it is. */
export function decodeToolName(mapped: string): string {
  const body = mapped.slice(mark.length);
  if (!mapped.startsWith(mark) || !/^(\w|-[0-9a-f]{2})+$/.test(body)) return mapped;
  const bytes: number[] = [];
  for (let at = 0; at < body.length; at += 1) {
    const isEscaped = body[at] === '-';
    bytes.push(isEscaped ? Number.parseInt(body.slice(at + 1, at + 3), 16) : body.charCodeAt(at));
    if (isEscaped) at += 2;
  }
  return Buffer.from(bytes).toString('utf8');
}
