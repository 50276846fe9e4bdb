/** What every store of the served-by log must do: rows recorded are found again, by every filter. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/base/random.ts';
import type { RequestTrace } from '../../../src/engine/trace.ts';
import { rowsOf } from '../../../src/served-by/record.ts';
import type { Recorder } from '../../../src/served-by/recorder.ts';
import type { RequestRow } from '../../../src/served-by/row.ts';
import type { ServedFilter, ServedQuery } from '../../../src/served-by/served-query.ts';
import {
  attemptFailure,
  attemptTrace,
  requestFailure,
  requestTrace,
} from '../../support/traces.ts';

export type ServedLog = {
  readonly recorder: Recorder;
  readonly served: ServedQuery;
  readonly close: () => Promise<void>;
};

export type ServedLogSubject = {
  readonly name: string;
  /** An empty log. */
  readonly open: () => Promise<ServedLog>;
};

const hourMs = 3_600_000;
const firstMs = Date.UTC(2026, 2, 1);
const rowCount = 400;

/** Rows over two weeks, sparse and dense hours, each column of a filter with common and rare values. */
function manyTraces(): RequestTrace[] {
  const random = seededRandom(7);
  const pick = <Item>(...items: readonly [Item, ...Item[]]): Item =>
    items[Math.floor(random.next() * items.length)] ?? items[0];
  return Array.from({ length: rowCount }, (_, at) => {
    const provider = pick('p1', 'p2', 'p3');
    const model = pick('large', 'small');
    const isFailed = random.next() < 0.2;
    const serving = attemptTrace({
      provider,
      model,
      target: `${provider}/${model}`,
      variant: pick('fast.p1@0a1b2c3d', 'fast.p2@99887766', null),
      upstreamRequestId: `up-${at % 150}`,
      outcome: isFailed ? 'failed' : 'served',
      failure: isFailed ? attemptFailure() : null,
    });
    return requestTrace({
      id: `id-${String(at).padStart(4, '0')}`,
      clientRequestId: `client-${at % 130}`,
      startedAtMs: firstMs + Math.floor(random.next() * 40) * 9 * hourMs + pick(0, 0, 1, 17),
      tier: at === 123 ? 'rare' : pick('fast', 'fast', 'smart'),
      configVersion: pick(3, 3, 4),
      serving: random.next() < 0.05 ? null : serving,
      attempts: [serving],
      outcome: isFailed ? 'failed' : pick('served', 'served', 'client_gone'),
      failure: isFailed
        ? requestFailure({ failureClass: pick('upstream_failed', 'deadline_exceeded') })
        : null,
      recovery: pick('none', 'none', 'none', 'restarted'),
      isFailedOver: random.next() < 0.3,
      evalRun: pick(null, null, 'nightly'),
      runId: pick(null, 'run-1'),
      session: pick(null, 's-1', 's-2'),
      keyId: pick(null, 'k-1', 'k-2'),
    });
  });
}

const filters: readonly ServedFilter[] = [
  {},
  { tier: 'smart' },
  { tier: 'rare' },
  { tier: 'none such' },
  { provider: 'p2' },
  { model: 'small' },
  { target: 'p1/small' },
  { variant: 'fast.p2@99887766' },
  { configVersion: 4 },
  { configVersion: 0 },
  { outcome: 'served' },
  { outcome: 'failed' },
  { errorClass: 'deadline_exceeded' },
  { evalRun: 'nightly' },
  { runId: 'run-1' },
  { session: 's-2' },
  { clientRequestId: 'client-7' },
  { upstreamRequestId: 'up-11' },
  { keyId: 'k-1' },
  { recovery: 'restarted' },
  { recovery: 'none' },
  { isFailedOver: true },
  { isFailedOver: false },
  { fromMs: firstMs + 50 * hourMs },
  { toMs: firstMs + 90 * hourMs },
  { fromMs: firstMs + 9 * hourMs, toMs: firstMs + 9 * hourMs + 1 },
  { tier: 'smart', fromMs: firstMs + 50 * hourMs + 1, toMs: firstMs + 200 * hourMs },
  { tier: 'smart', provider: 'p3', outcome: 'failed' },
  { tier: 'fast', target: 'p2/large', isFailedOver: true },
  { provider: 'p1', model: 'large', errorClass: 'upstream_failed' },
  { evalRun: 'nightly', tier: 'fast', outcome: 'served' },
  { keyId: 'k-2', session: 's-1' },
  { upstreamRequestId: 'up-11', tier: 'fast' },
  { clientRequestId: 'client-7', keyId: 'k-1' },
];

export function describeServedLog(subject: ServedLogSubject): void {
  describe(`the served-by log in ${subject.name}`, () => {
    const traces = manyTraces();
    let log: ServedLog;

    beforeAll(async () => {
      log = await subject.open();
      const outcomes = await Promise.all(traces.map((trace) => log.recorder.record(trace)));
      expect(new Set(outcomes)).toEqual(new Set(['committed']));
    });
    afterAll(() => log.close());

    it.each(filters.map((filter) => ({ filter })))(
      'finds by $filter what a scan finds',
      ({ filter }) => {
        const expected = traces.filter((trace) => matches(trace, filter)).map(({ id }) => id);
        expect(pagesOf(log.served, filter, 37).sort()).toEqual(expected.sort());
      },
    );

    it('pages newest first, each row once, whatever the page length', () => {
      for (const limit of [1, 3, 99, rowCount, 1_000]) {
        const ids = pagesOf(log.served, { provider: 'p1' }, limit);
        expect(new Set(ids).size).toBe(ids.length);
        const starts = ids.map((id) => traces.find((trace) => trace.id === id)?.startedAtMs ?? 0);
        expect(starts).toEqual(starts.toSorted((left, right) => right - left));
      }
    });

    it('ends with no cursor', () => {
      const page = log.served.page({ filter: { tier: 'rare' }, limit: 1, cursor: null });
      expect(page?.rows).toHaveLength(1);
      expect(page?.nextCursor).toBeNull();
    });

    it.each(['', 'x', '1.2.3', 'eyJhIjoxfQ', 'a'.repeat(5_000)])('knows no cursor %j', (cursor) => {
      expect(log.served.page({ filter: {}, limit: 10, cursor })).toBeNull();
    });

    it('R80 R73 gives a row with its attempts by id', () => {
      const trace = traces.find(({ outcome }) => outcome === 'failed');
      const row = log.served.byId(trace?.id ?? '');
      expect(row).toMatchObject({
        id: trace?.id,
        tier: trace?.tier,
        target: trace?.serving?.target ?? null,
        outcome: 'failed',
        attempts: [{ n: 1, error_class: 'overload', outcome: 'failed', status: 200 }],
      });
      expect(log.served.byId('none such')).toBeNull();
    });

    it('gives a key its own row, by row id or client request id, the newest', () => {
      const own = traces.filter(({ clientRequestId }) => clientRequestId === 'client-7');
      const newest = own.toSorted((left, right) => right.startedAtMs - left.startedAtMs)[0];
      const found = log.served.ownRow({ id: 'client-7', keyId: null });
      expect(found?.['started_at']).toBe(new Date(newest?.startedAtMs ?? 0).toISOString());
      const keyed = traces.find(({ keyId }) => keyId === 'k-1');
      expect(log.served.ownRow({ id: keyed?.id ?? '', keyId: 'k-1' })?.['id']).toBe(keyed?.id);
      expect(log.served.ownRow({ id: keyed?.id ?? '', keyId: 'k-2' })).toBeNull();
      expect(log.served.ownRow({ id: 'none such', keyId: null })).toBeNull();
    });

    it('keeps a row as it was recorded', async () => {
      const trace = requestTrace({
        id: 'whole',
        tags: { team: 'search', 'dotted.name': '\u00fc\ud83d\ude00' },
        dropped: ['logit_bias', 'seed'],
        skipped: [{ target: 'p9/x', reason: 'open' }],
        malformedEvents: 2,
        isStream: true,
      });
      await log.recorder.record(trace);
      const { request, attempts } = rowsOf(trace);
      const started_at = new Date(request.started_at).toISOString();
      expect(log.served.byId('whole')).toEqual({
        ...request,
        started_at,
        attempts: attempts.map((attempt) => ({
          ...attempt,
          started_at: new Date(attempt.started_at).toISOString(),
        })),
      });
    });

    it('has one row of a request recorded twice', async () => {
      const trace = requestTrace({ id: 'twice', clientRequestId: 'recorded twice' });
      await Promise.all([log.recorder.record(trace), log.recorder.record(trace)]);
      await log.recorder.record(trace);
      expect(pagesOf(log.served, { clientRequestId: 'recorded twice' }, 10)).toEqual(['twice']);
    });
  });
}

function pagesOf(served: ServedQuery, filter: ServedFilter, limit: number): string[] {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: ReturnType<ServedQuery['page']> = served.page({ filter, limit, cursor });
    if (page === null) throw new Error('the cursor was refused');
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    ids.push(...page.rows.map((row) => String(row['id'])));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}

const columns: { readonly [name in keyof ServedFilter]?: keyof RequestRow } = {
  tier: 'tier',
  provider: 'provider',
  model: 'model',
  target: 'target',
  variant: 'variant',
  configVersion: 'config_version',
  outcome: 'outcome',
  errorClass: 'error_class',
  evalRun: 'eval_run',
  runId: 'run_id',
  session: 'session',
  clientRequestId: 'client_request_id',
  keyId: 'key_id',
  recovery: 'recovery',
  isFailedOver: 'failed_over',
};

/** The plain meaning of a filter. */
function matches(trace: RequestTrace, filter: ServedFilter): boolean {
  const { request, attempts } = rowsOf(trace);
  const { fromMs = -Infinity, toMs = Infinity, upstreamRequestId, ...exact } = filter;
  if (request.started_at < fromMs || request.started_at >= toMs) return false;
  const isUpstream =
    upstreamRequestId === undefined ||
    attempts.some(({ upstream_request_id }) => upstream_request_id === upstreamRequestId);
  return (
    isUpstream &&
    Object.entries(exact).every(([name, value]) => {
      const column = columns[name as keyof ServedFilter];
      return column !== undefined && request[column] === value;
    })
  );
}
