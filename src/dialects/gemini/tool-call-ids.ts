/**
 * Ids of tool calls that bring back what a client's dialect has no field for: the provider's own id
 * and the signature of the thought behind the call. Nothing is stored, so a restart loses nothing.
 *
 *     tgs_ <family: 8> <origin: 1> <id length: 2 hex digits> <id> [<spelling: 1> <signature>]
 */
import { createHash } from 'node:crypto';

const mark = 'tgs_';
const tagCharacters = 8;
const idStart = mark.length + tagCharacters + 3;

/** A longer signature is left out: the call is then told as one of another provider. */
const signatureCharactersMax = 65_536;

/** p: the provider's id as it is. b: in base64url. m: made here. */
type Origin = 'p' | 'b' | 'm';

export type CarriedCall = {
  /** What the provider called it; null where it named none. */
  readonly providerId: string | null;
  /** Null where there was none, or another family of models made it. */
  readonly signature: string | null;
};

/** `seed`: different for every call that ever was; only used where the provider gave no id. */
export function encodeCallId(call: {
  readonly family: string;
  readonly providerId: string | null;
  readonly signature: string | null;
  readonly seed: string;
}): string {
  const { origin, id } = spellId(call.providerId, call.seed);
  const length = id.length.toString(16).padStart(2, '0');
  return `${mark}${tagOf(call.family)}${origin}${length}${id}${spellSignature(call.signature)}`;
}

/** What `callId` carries for a model of `family`; null when it is an id of another make. */
export function decodeCallId(callId: string, family: string): CarriedCall | null {
  if (!/^tgs_[\w-]{8}[pbm][0-9a-f]{2}/.test(callId)) return null;
  const idEnd = idStart + Number.parseInt(callId.slice(idStart - 2, idStart), 16);
  if (callId.length < idEnd) return null;
  const id = callId.slice(idStart, idEnd);
  const origin = callId.charAt(mark.length + tagCharacters);
  const isOwnFamily = callId.slice(mark.length, mark.length + tagCharacters) === tagOf(family);
  return {
    providerId: origin === 'm' ? null : origin === 'b' ? textOf(id) : id,
    signature: isOwnFamily ? readSignature(callId.slice(idEnd)) : null,
  };
}

function tagOf(family: string): string {
  return digest(family).slice(0, tagCharacters);
}

function spellId(providerId: string | null, seed: string): { origin: Origin; id: string } {
  if (providerId !== null && /^[\w-]{1,255}$/.test(providerId)) {
    return { origin: 'p', id: providerId };
  }
  const encoded = Buffer.from(providerId ?? '', 'utf8').toString('base64url');
  if (encoded !== '' && encoded.length <= 255) return { origin: 'b', id: encoded };
  return { origin: 'm', id: digest(seed).slice(0, 16) };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** s: base64. u: base64url. v: base64url with padding. t: any other text. The very spelling comes back. */
function spellSignature(signature: string | null): string {
  if (signature === null || signature === '') return '';
  if (signature.length > signatureCharactersMax) return '';
  for (const spelling of ['s', 'u', 'v', 't']) {
    const body = Buffer.from(signature, spelling === 't' ? 'utf8' : 'base64').toString('base64url');
    if (readSignature(spelling + body) === signature) return spelling + body;
  }
  return '';
}

function readSignature(spelled: string): string | null {
  const body = spelled.slice(1);
  switch (spelled.charAt(0)) {
    case 's':
      return Buffer.from(body, 'base64url').toString('base64');
    case 'u':
      return body;
    case 'v':
      return body.padEnd(Math.ceil(body.length / 4) * 4, '=');
    case 't':
      return textOf(body);
    default:
      return null;
  }
}

function textOf(encoded: string): string {
  return Buffer.from(encoded, 'base64url').toString('utf8');
}
