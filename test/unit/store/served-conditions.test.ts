/** Which index finds the rows of a filter: no page may read the whole table. */
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { ServedFilter } from '../../../src/served-by/served-query.ts';
import { conditionsOf } from '../../../src/store/sqlite/served-conditions.ts';
import type { Position } from '../../../src/store/sqlite/served-cursor.ts';
import { selectRequests } from '../../../src/store/sqlite/served-query.ts';
import { temporaryDatabase } from './temporary-store.ts';

const day = { fromMs: 1_000, toMs: 86_401_000 };

/** A filter, and what SQLite says it searches by. */
const table: readonly { readonly filter: ServedFilter; readonly by: string }[] = [
  { filter: {}, by: 'requests_started' },
  { filter: day, by: 'requests_started (started_at>? AND started_at<?)' },
  { filter: { tier: 'fast', ...day }, by: 'requests_started (started_at>? AND started_at<?)' },
  { filter: { outcome: 'served', ...day }, by: 'requests_started (started_at>? AND started_at<?)' },
  { filter: { outcome: 'failed' }, by: 'requests_not_served (outcome=?)' },
  { filter: { errorClass: 'internal' }, by: 'requests_error_class (error_class=?)' },
  { filter: { recovery: 'restarted' }, by: 'requests_recovery (recovery=?)' },
  { filter: { isFailedOver: true }, by: 'requests_failed_over (failed_over=?)' },
  { filter: { keyId: 'k' }, by: 'requests_key (key_id=?)' },
  { filter: { evalRun: 'e', tier: 'fast' }, by: 'requests_eval_run (eval_run=?)' },
  { filter: { evalRun: 'e', keyId: 'k', outcome: 'failed' }, by: 'requests_eval_run (eval_run=?)' },
  { filter: { runId: 'r', errorClass: 'internal' }, by: 'requests_run (run_id=?)' },
  { filter: { session: 's', keyId: 'k' }, by: 'requests_session (session=?)' },
  {
    filter: { session: 's', evalRun: 'e', ...day },
    by: 'requests_session (session=? AND started_at>? AND started_at<?)',
  },
  { filter: { clientRequestId: 'c', session: 's' }, by: 'INTEGER PRIMARY KEY (rowid=?)' },
  { filter: { upstreamRequestId: 'u', ...day }, by: 'INTEGER PRIMARY KEY (rowid=?)' },
];

function planOf(filter: ServedFilter, after: Position | null = null): string[] {
  const database = temporaryDatabase();
  const conditions = conditionsOf({ filter, after, range: null });
  const { sql, params } = selectRequests(drizzle(database), conditions, 100).toSQL();
  const steps = database.prepare(`explain query plan ${sql}`).all(...params);
  return steps.map((step) => String((step as { readonly detail: unknown }).detail));
}

describe('a page', () => {
  it.each(table)('by $filter is found by $by', ({ filter, by }) => {
    const steps = planOf(filter);
    expect(steps[0]).toContain(by);
    expect(steps.filter((step) => /^SCAN (?!requests USING INDEX)/.test(step))).toEqual([]);
  });

  it('after a cursor begins where the last one ended', () => {
    const [first] = planOf({}, { startedAtMs: 5_000, seq: 7 });
    expect(first).toContain('requests_started (started_at<?)');
  });
});
