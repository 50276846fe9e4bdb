/** `If-Match` and `If-None-Match` (RFC 9110, 13.1) as conditions of a write. */
import type { WriteCondition } from '../../admin/tier-admin.ts';

/** Null when a value is no list of entity tags. Weak tags are kept: they match nothing in a write. */
export function parseEntityTags(value: string): readonly string[] | null {
  const tags: string[] = [];
  const pattern = /\s*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)/y;
  while (pattern.lastIndex < value.length) {
    const tag = pattern.exec(value)?.[1];
    if (tag === undefined) return null;
    tags.push(tag);
  }
  return tags.length > 0 ? tags : null;
}

/** `missing`: neither header; `malformed`: one that cannot be read, or both. */
export function writeCondition(
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
): WriteCondition | 'missing' | 'malformed' {
  if (ifMatch !== undefined && ifNoneMatch !== undefined) return 'malformed';
  if (ifNoneMatch !== undefined) {
    return ifNoneMatch.trim() === '*' ? { kind: 'must_not_exist' } : 'malformed';
  }
  if (ifMatch === undefined) return 'missing';
  if (ifMatch.trim() === '*') return { kind: 'any' };
  const etags = parseEntityTags(ifMatch);
  return etags === null ? 'malformed' : { kind: 'etags', etags };
}

/** Whether a cached copy is still good (`If-None-Match` of a GET; weak comparison). */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const tags = parseEntityTags(ifNoneMatch) ?? [];
  return tags.some((tag) => tag.replace(/^W\//, '') === etag);
}
