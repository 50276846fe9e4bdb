/** What changed between two documents, place by place. */
import { isJsonObject } from '../base/json.ts';
import { formatPath } from './document/config-fault.ts';

export type Change =
  | { readonly path: string; readonly kind: 'added'; readonly after: unknown }
  | { readonly path: string; readonly kind: 'removed'; readonly before: unknown }
  | {
      readonly path: string;
      readonly kind: 'changed';
      readonly before: unknown;
      readonly after: unknown;
    };

/** Valid documents are shallower; what lies deeper is one change. */
const depthMax = 40;

/** In the order of `before`, then what `after` adds. Lists are compared by position. */
export function diffDocuments(before: unknown, after: unknown): readonly Change[] {
  const changes: Change[] = [];
  compare({ before, after, path: [] }, changes);
  return changes;
}

function compare(
  place: {
    readonly before: unknown;
    readonly after: unknown;
    readonly path: readonly PropertyKey[];
  },
  changes: Change[],
): void {
  const { before, after, path } = place;
  const old = membersOf(before);
  const now = membersOf(after);
  const isSameShape =
    old !== null && now !== null && Array.isArray(before) === Array.isArray(after);
  if (!isSameShape || path.length >= depthMax) {
    if (before !== after) changes.push({ path: formatPath(path), kind: 'changed', before, after });
    return;
  }
  for (const [key, value] of old) {
    const inner = [...path, key];
    if (now.has(key)) compare({ before: value, after: now.get(key), path: inner }, changes);
    else changes.push({ path: formatPath(inner), kind: 'removed', before: value });
  }
  for (const [key, value] of now) {
    if (!old.has(key)) {
      changes.push({ path: formatPath([...path, key]), kind: 'added', after: value });
    }
  }
}

function membersOf(value: unknown): ReadonlyMap<PropertyKey, unknown> | null {
  if (Array.isArray(value)) return new Map(value.entries());
  return isJsonObject(value) ? new Map<PropertyKey, unknown>(Object.entries(value)) : null;
}
