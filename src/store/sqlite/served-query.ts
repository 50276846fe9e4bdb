/** Reads the served-by log: pages newest first, by any filters, and single rows. */
import { and, asc, desc, eq, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { AttemptRow, RequestRow } from '../../served-by/row.ts';
import type { ServedFilter, ServedQuery, ServedRow } from '../../served-by/served-query.ts';
import { servedRowOf } from '../../served-by/served-row.ts';
import type { DatabaseAccess, Orm } from './database-access.ts';
import { isOfClientRequest, isOfUpstreamRequest } from './request-key-search.ts';
import { attempts, requests } from './schema.ts';
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
  const conditions = conditionsOf(filter, after);
  const select = (range: TimeRange | null, rowsMax: number): StoredRequest[] =>
    orm
      .select()
      .from(requests)
      .where(and(...conditions, ...(range === null ? [] : conditionsOfRange(range))))
      .orderBy(desc(requests.started_at), desc(requests.seq))
      .limit(rowsMax)
      .all();
  if (!hasSlotFilter(filter) || isPrecise(filter)) return select(null, limit);
  const found: StoredRequest[] = [];
  const untilMs = after === null ? null : after.startedAtMs + 1;
  for (const range of slotRanges(orm, filter, untilMs)) {
    found.push(...select(range, limit - found.length));
    if (found.length >= limit) break;
  }
  return found;
}

/** Names one operation, run or conversation: its own index finds the few rows there are. */
function isPrecise(filter: ServedFilter): boolean {
  return [
    filter.clientRequestId,
    filter.upstreamRequestId,
    filter.runId,
    filter.session,
    filter.evalRun,
  ].some((value) => value !== undefined);
}

function conditionsOf(filter: ServedFilter, after: Position | null): SQL[] {
  const found: SQL[] = [];
  const equal = (column: SQLiteColumn, value: string | number | undefined): void => {
    if (value !== undefined) found.push(eq(column, value));
  };
  equal(requests.tier, filter.tier);
  equal(requests.provider, filter.provider);
  equal(requests.model, filter.model);
  equal(requests.target, filter.target);
  equal(requests.variant, filter.variant);
  equal(requests.config_version, filter.configVersion);
  equal(requests.outcome, filter.outcome);
  equal(requests.error_class, filter.errorClass);
  equal(requests.eval_run, filter.evalRun);
  equal(requests.run_id, filter.runId);
  equal(requests.session, filter.session);
  equal(requests.key_id, filter.keyId);
  equal(requests.recovery, filter.recovery);
  found.push(...literalConditionsOf(filter));
  if (filter.clientRequestId !== undefined) {
    found.push(...isOfClientRequest(filter.clientRequestId));
  }
  if (filter.upstreamRequestId !== undefined) {
    found.push(isOfUpstreamRequest(filter.upstreamRequestId));
  }
  if (filter.fromMs !== undefined) found.push(gte(requests.started_at, filter.fromMs));
  if (filter.toMs !== undefined) found.push(lt(requests.started_at, filter.toMs));
  if (after !== null) found.push(...conditionsAfter(after));
  return found;
}

/** An index that holds some rows only is used when the query repeats its condition word for word. */
function literalConditionsOf(filter: ServedFilter): SQL[] {
  const found: SQL[] = [];
  if (filter.outcome !== undefined && filter.outcome !== 'served') {
    found.push(sql.raw("outcome <> 'served'"));
  }
  if (filter.recovery !== undefined && filter.recovery !== 'none') {
    found.push(sql.raw("recovery <> 'none'"));
  }
  if (filter.isFailedOver !== undefined) {
    found.push(sql.raw(filter.isFailedOver ? 'failed_over = 1' : 'failed_over = 0'));
  }
  return found;
}

function conditionsAfter({ startedAtMs, seq }: Position): SQL[] {
  const earlier = or(lt(requests.started_at, startedAtMs), lt(requests.seq, seq));
  return [lte(requests.started_at, startedAtMs), ...(earlier === undefined ? [] : [earlier])];
}

function conditionsOfRange(range: TimeRange): SQL[] {
  return [gte(requests.started_at, range.fromMs), lt(requests.started_at, range.toMs)];
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
