/** What a filter asks of a row, written so that the right index finds it. */
import type { SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { ServedFilter } from '../../served-by/served-query.ts';
import { gte, lt, lte, or, sql } from './drizzle.ts';
import { isOfClientRequest, isOfUpstreamRequest } from './request-key-search.ts';
import { requests } from './schema.ts';
import type { Position } from './served-cursor.ts';
import type { TimeRange } from './slot-ranges.ts';

/** Names one operation, run or conversation: its own index finds the few rows there are. */
export function isPrecise(filter: ServedFilter): boolean {
  return narrowValuesOf(filter).some((value) => value !== undefined);
}

function narrowValuesOf(filter: ServedFilter) {
  const { clientRequestId, upstreamRequestId, runId, session, evalRun } = filter;
  return [clientRequestId, upstreamRequestId, runId, session, evalRun];
}

/** Ids in the order in which they narrow: the first given one drives, the rest check its rows. */
const narrowColumns = [
  ['runId', requests.run_id],
  ['session', requests.session],
  ['evalRun', requests.eval_run],
] as const;
/** Columns with few values: each may drive when no id is given. */
const broadColumns = [
  ['errorClass', requests.error_class],
  ['recovery', requests.recovery],
  ['outcome', requests.outcome],
  ['keyId', requests.key_id],
] as const;
/** Columns that no index begins with: the time range and `served_slots` narrow them. */
const sharedColumns = [
  ['tier', requests.tier],
  ['provider', requests.provider],
  ['model', requests.model],
  ['target', requests.target],
  ['variant', requests.variant],
  ['configVersion', requests.config_version],
] as const;

/** `after` = rows that come later in a list, newest first; `range` bounds the search further. */
export function conditionsOf(input: {
  readonly filter: ServedFilter;
  readonly after: Position | null;
  readonly range: TimeRange | null;
}): SQL[] {
  const { filter, after, range } = input;
  const found: SQL[] = [];
  let hasDriver = false;
  if (filter.clientRequestId !== undefined) {
    found.push(...isOfClientRequest(filter.clientRequestId));
    hasDriver = true;
  }
  if (filter.upstreamRequestId !== undefined) {
    found.push(isOfUpstreamRequest(filter.upstreamRequestId));
    hasDriver = true;
  }
  for (const [name, column] of narrowColumns) {
    const value = filter[name];
    if (value === undefined) continue;
    found.push(hasDriver ? checked(column, value) : sql`${column} = ${value}`);
    hasDriver = true;
  }
  for (const [name, column] of broadColumns) {
    const value = filter[name];
    if (value === undefined) continue;
    found.push(hasDriver ? checked(column, value) : sql`${column} = ${value}`);
  }
  if (!hasDriver) found.push(...literalConditionsOf(filter));
  if (filter.isFailedOver !== undefined) {
    found.push(sql.raw(`${hasDriver ? '+' : ''}failed_over = ${filter.isFailedOver ? 1 : 0}`));
  }
  for (const [name, column] of sharedColumns) {
    const value = filter[name];
    if (value !== undefined) found.push(checked(column, value));
  }
  found.push(...timeConditionsOf(filter, after, range));
  return found;
}

/** The plus keeps the planner from driving by this column: there are too many rows of each value. */
function checked(column: SQLiteColumn, value: string | number): SQL {
  return sql`+${column} = ${value}`;
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
  return found;
}

function timeConditionsOf(
  filter: ServedFilter,
  after: Position | null,
  range: TimeRange | null,
): SQL[] {
  const found: SQL[] = [];
  const fromMs = Math.max(filter.fromMs ?? -Infinity, range?.fromMs ?? -Infinity);
  const toMs = Math.min(filter.toMs ?? Infinity, range?.toMs ?? Infinity);
  if (Number.isFinite(fromMs)) found.push(gte(requests.started_at, fromMs));
  if (Number.isFinite(toMs)) found.push(lt(requests.started_at, toMs));
  if (after !== null) {
    const earlier = or(lt(requests.started_at, after.startedAtMs), lt(requests.seq, after.seq));
    found.push(lte(requests.started_at, after.startedAtMs));
    if (earlier !== undefined) found.push(earlier);
  }
  return found;
}
