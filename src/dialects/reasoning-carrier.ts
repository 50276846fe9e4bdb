/**
 * What brings another vendor's signature back: it travels where a client's own dialect keeps the like,
 * which clients return unread. It says who made it, so that nobody else is ever shown it, and which
 * text it was made for, since a signature over another text is refused.
 */
import { createHash } from 'node:crypto';
import { isJsonObject, parseJson, stringAt } from '../base/json.ts';
import type { ReasoningBlock } from '../chat/reply.ts';
import type { ReasoningPart } from '../chat/request.ts';

/** No service writes an underscore there: theirs is base64. */
const mark = 'tgr_';

/** A longer one is left out: the thought is then told as one that nobody signed. */
const charactersMax = 1 << 20;

/** Null: there is nothing to bring back. */
export function encodeCarrier(block: ReasoningBlock, model: string | null): string | null {
  const { dialect, signature, redacted, text } = block;
  if (dialect === undefined || (signature === null && redacted === null)) return null;
  const fields = {
    d: dialect,
    ...(model === null ? {} : { m: model }),
    ...(signature === null ? {} : { s: signature, h: hashOf(text) }),
    ...(redacted === null ? {} : { r: redacted }),
  };
  const carrier = mark + Buffer.from(JSON.stringify(fields)).toString('base64url');
  return carrier.length <= charactersMax ? carrier : null;
}

export function isCarrier(text: string): boolean {
  return text.startsWith(mark);
}

/** The thought as its maker gets it back; null where the carrier is broken. */
export function decodeCarrier(carrier: string, text: string): ReasoningPart | null {
  const parsed = parseJson(Buffer.from(carrier.slice(mark.length), 'base64url').toString('utf8'));
  const fields = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  const dialect = stringAt(fields, 'd');
  if (dialect === null) return null;
  const isSameText = stringAt(fields, 'h') === hashOf(text);
  const model = stringAt(fields, 'm');
  return {
    type: 'reasoning',
    text,
    signature: isSameText ? stringAt(fields, 's') : null,
    redacted: stringAt(fields, 'r'),
    dialect,
    ...(model === null ? {} : { model }),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
