/** The extra object of `x-tiergate-meta: body` in an answer that the provider wrote. */
import type { AnswerMeta } from './dialect.ts';
import { applySplices, scanJson } from './json-spans.ts';

const openBrace = 0x7b;

/** `body` with `meta` as its last field; as it is where it is no JSON object, or nothing is wanted. */
export function withMeta(body: Buffer, meta: (() => AnswerMeta) | null): Buffer {
  const document = meta === null ? null : scanJson(body);
  if (document === null || body[document.openAt] !== openBrace) return body;
  const comma = document.members.length === 0 ? '' : ',';
  const text = `${comma}"tiergate":${JSON.stringify(meta?.())}`;
  return applySplices(body, [{ start: document.closeAt, end: document.closeAt, text }]);
}
