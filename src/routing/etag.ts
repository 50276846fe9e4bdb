/** Identity of documents and tiers by content. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../base/json.ts';

/** JSON with sorted keys and no white space: equal values give equal text. Depth is bounded by validation. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Hex SHA-256 of the canonical document. */
export function documentHash(document: JsonObject): string {
  return createHash('sha256').update(canonicalJson(document)).digest('hex');
}

/** The `ETag` of a tier's config: its hash, quoted. */
export function tierEtag(config: unknown): string {
  return `"${createHash('sha256').update(canonicalJson(config)).digest('hex')}"`;
}

/** Whether an `If-Match` header (a list, or `*`) names `etag`. Compared strongly: `W/` never matches. */
export function isMatch(header: string, etag: string): boolean {
  return header.split(',').some((listed) => listed.trim() === '*' || listed.trim() === etag);
}
