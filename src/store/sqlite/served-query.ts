/** Reads the served-by log: pages newest first, by any filters, and single rows. */
import type { SQL } from 'drizzle-orm';
import type { AttemptRow, RequestRow } from '../../served-by/row.ts';
import type { ServedFilter, ServedQuery, ServedRow } from '../../served-by/served-query.ts';
import { servedRowOf } from '../../served-by/served-row.ts';
import type { DatabaseAccess, Orm } from './database-access.ts';
import { and, asc, desc, eq, sql } from './drizzle.ts';
import { isOfClientRequest } from './request-key-search.ts';
import { attempts, requests } from './schema.ts';
import { conditionsOf, isPrecise } from './served-conditions.ts';
import { decodeCursor, encodeCursor, type Position } from './served-cursor.ts';
import { hasSlotFilter, slotRanges, type TimeRange } from './slot-ranges.ts';

type StoredRequest = typeof requests.$inferSelect;

export const pageRowsMax = 1_000;

/** Its methods throw `StoreUnavailableError` when the database cannot be used. */
export function createServedQuery(access: DatabaseAccess): ServedQuery {
  return {
    page: ({ filter, limit, cursor }) => {
      const after = cursor === null ? null : decodeCursor(cursor);
      if (cursor !== null && after === null) return null;
      const wanted = Math.min(Math.max(1, Math.floor(limit)), pageRowsMax);
      const found = access.read((orm) => findRows({ orm, filter, after, limit: wanted + 1 }));
      const rows = found.slice(0, wanted);
      const last = rows.at(-1);
      const nextCursor =
        found.length > wanted && last !== undefined
          ? encodeCursor({ startedAtMs: last.started_at, seq: last.seq })
          : null;
      return { rows: rows.map((row) => servedRowOf(requestRowOf(row), null)), nextCursor };
    },
    byId: (id) => access.read((orm) => withAttempts(orm, requestById(orm, id))),
    ownRow: ({ id, keyId }) =>
      access.read((orm) => {
        const byId = requestById(orm, id);
        const isOwn = byId !== undefined && (keyId === null || byId.key_id === keyId);
        return withAttempts(orm, isOwn ? byId : newestByClientRequest(orm, id, keyId));
      }),
  };
}

function findRows(input: {
  readonly orm: Orm;
  readonly filter: ServedFilter;
  readonly after: Position | null;
  readonly limit: number;
}): StoredRequest[] {
  const { orm, filter, after, limit } = input;
  const select = (range: TimeRange | null, rowsMax: number): StoredRequest[] =>
    selectRequests(orm, conditionsOf({ filter, after, range }), rowsMax).all();
  if (!hasSlotFilter(filter) || isPrecise(filter)) return select(null, limit);
  const found: StoredRequest[] = [];
  const untilMs = after === null ? null : after.startedAtMs + 1;
  for (const range of slotRanges(orm, filter, untilMs)) {
    found.push(...select(range, limit - found.length));
    if (found.length >= limit) break;
  }
  return found;
}

/** Newest first. */
export function selectRequests(orm: Orm, conditions: readonly SQL[], limit: number) {
  return orm
    .select()
    .from(requests)
    .where(and(...conditions))
    .orderBy(desc(requests.started_at), desc(requests.seq))
    .limit(limit);
}

function requestById(orm: Orm, id: string): StoredRequest | undefined {
  return orm.select().from(requests).where(eq(requests.id, id)).get();
}

function newestByClientRequest(
  orm: Orm,
  clientRequestId: string,
  keyId: string | null,
): StoredRequest | undefined {
  const own = keyId === null ? [] : [sql`+${requests.key_id} = ${keyId}`];
  return orm
    .select()
    .from(requests)
    .where(and(...isOfClientRequest(clientRequestId), ...own))
    .orderBy(desc(requests.started_at), desc(requests.seq))
    .limit(1)
    .get();
}

function withAttempts(orm: Orm, request: StoredRequest | undefined): ServedRow | null {
  if (request === undefined) return null;
  const rows = orm
    .select()
    .from(attempts)
    .where(eq(attempts.request_seq, request.seq))
    .orderBy(asc(attempts.n))
    .all()
    .map(({ request_seq: _, ...row }): AttemptRow => row);
  return servedRowOf(requestRowOf(request), rows);
}

function requestRowOf({ seq: _, ...row }: StoredRequest): RequestRow {
  return {
    ...row,
    skipped: row.skipped ?? [],
    seams: row.seams ?? [],
    dropped: row.dropped ?? [],
    tags: row.tags ?? {},
  };
}
