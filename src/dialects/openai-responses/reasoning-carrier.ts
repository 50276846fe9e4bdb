/**
 * What brings another vendor's signature back: it travels as a reasoning item's `encrypted_content`,
 * which clients return unread. It says who made it, so that nobody else is ever shown it, and which
 * text it was made for, since a signature over another text is refused.
 */
import { createHash } from 'node:crypto';
import { isJsonObject, parseJson, stringAt } from '../../base/json.ts';
import type { ReasoningBlock } from '../../chat/reply.ts';
import type { ReasoningPart } from '../../chat/request.ts';
import { dialectName } from './wire.ts';

/** No service of this dialect writes an underscore there: theirs is base64. */
const mark = 'tgr_';

/** A longer one is left out: the thought is then told as one that nobody signed. */
const charactersMax = 1 << 20;

/** Null: there is nothing to bring back. What is of this dialect is itself. */
export function encodeCarrier(block: ReasoningBlock, model: string | null): string | null {
  const { dialect, signature, redacted, text } = block;
  if (dialect === undefined || (signature === null && redacted === null)) return null;
  if (dialect === dialectName) return signature ?? redacted;
  const fields = {
    d: dialect,
    ...(model === null ? {} : { m: model }),
    ...(signature === null ? {} : { s: signature, h: hashOf(text) }),
    ...(redacted === null ? {} : { r: redacted }),
  };
  const carrier = mark + Buffer.from(JSON.stringify(fields)).toString('base64url');
  return carrier.length <= charactersMax ? carrier : null;
}

export function isCarrier(encrypted: string): boolean {
  return encrypted.startsWith(mark);
}

/** The thought as its maker gets it back. */
export function decodeCarrier(encrypted: string, text: string): ReasoningPart {
  const none: ReasoningPart = {
    type: 'reasoning',
    text,
    signature: null,
    redacted: null,
    dialect: dialectName,
  };
  if (!isCarrier(encrypted)) return { ...none, signature: encrypted };
  const parsed = parseJson(Buffer.from(encrypted.slice(mark.length), 'base64url').toString('utf8'));
  const fields = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  const dialect = stringAt(fields, 'd');
  if (dialect === null) return none;
  const isSameText = stringAt(fields, 'h') === hashOf(text);
  const model = stringAt(fields, 'm');
  return {
    ...none,
    dialect,
    signature: isSameText ? stringAt(fields, 's') : null,
    redacted: stringAt(fields, 'r'),
    ...(model === null ? {} : { model }),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
