/** Old rows go, in portions, with all that belongs to them. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/base/log-port.ts';
import { scheduleRetention } from '../../../src/store/sqlite/retention-schedule.ts';
import { KeyIndex } from '../../../src/store/sqlite/writer/key-index.ts';
import { OriginWriter, prunedOriginsMax } from '../../../src/store/sqlite/writer/origin-writer.ts';
import { prunedRowsMax, prunePortion } from '../../../src/store/sqlite/writer/retention.ts';
import { RowWriter } from '../../../src/store/sqlite/writer/row-writer.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { ScriptedWriter } from './scripted-writer.ts';
import {
  countOf,
  encodedTrace,
  markerOf,
  temporaryDatabase,
  temporaryDirectory,
} from './temporary-store.ts';

const dayMs = 86_400_000;

function setUp(file?: string) {
  const database = temporaryDatabase(file);
  const writer = new RowWriter(database);
  const keys = new KeyIndex(database);
  const origins = new OriginWriter(database);
  const prune = (beforeMs: number, originsBeforeMs = 0) =>
    prunePortion({ connection: database, keys, origins }, { beforeMs, originsBeforeMs });
  const write = (count: number, startedAtMs: number): void => {
    const rows = Array.from({ length: count }, (_, at) =>
      encodedTrace({ id: `${startedAtMs}-${at}`, clientRequestId: `c-${at}`, startedAtMs }),
    );
    writer.commit({
      rows,
      markers: [markerOf({ id: `m-${startedAtMs}`, startedAtMs })],
      ended: [],
    });
    keys.step();
  };
  return { database, origins, prune, write };
}

describe('retention', () => {
  it('LG-02 leaves no row older than the limit in any table, and every younger one', () => {
    const { database, prune, write } = setUp();
    write(30, 0);
    write(20, 3 * dayMs);
    expect(prune(3 * dayMs)).toEqual({ deleted: 30, isDone: true });
    const counts = Object.fromEntries(
      tablesOf(database).map((table) => [table, countOf(database, table)]),
    );
    expect(counts).toMatchObject({
      requests: 20,
      attempts: 20,
      request_keys: 40,
      served_slots: 1,
      markers: 1,
    });
    expect(countOf(database, 'attempts where request_seq not in (select seq from requests)')).toBe(
      0,
    );
  });

  it('LG-02 knows every table that grows with requests', () => {
    const { database } = setUp();
    const kept = ['config_versions', 'prompt_versions', 'meta', '__drizzle_migrations'];
    const pruned = ['requests', 'attempts', 'request_keys', 'served_slots', 'markers', 'origins'];
    expect(tablesOf(database).sort()).toEqual([...kept, ...pruned].sort());
  });

  it('forgets who made what after its own time, in portions', () => {
    const { database, origins, prune } = setUp();
    const row = { target: 't', provider: 'p', keyAlias: null, isKept: true };
    const rows = Array.from({ length: prunedOriginsMax + 20 }, (_, at) => {
      return { ...row, id: `resp_${at}`, madeAtMs: at < 10 ? 2 * dayMs : dayMs };
    });
    origins.note(rows);
    expect(prune(0, 1.5 * dayMs)).toEqual({ deleted: 0, isDone: false });
    expect(prune(0, 1.5 * dayMs)).toEqual({ deleted: 0, isDone: true });
    expect(countOf(database, 'origins')).toBe(10);
  });

  it('LG-01 deletes at most 500 rows at a time, and the file does not grow', () => {
    const { database, prune, write } = setUp(join(temporaryDirectory(), 'tiergate.db'));
    expect(prunedRowsMax).toBeLessThanOrEqual(500);
    write(5 * prunedRowsMax + 20, 0);
    const pagesBefore = Number(database.pragma('page_count', { simple: true }));
    const steps = [1, 2, 3, 4, 5, 6].map(() => prune(dayMs));
    expect(steps.map(({ deleted }) => deleted)).toEqual([...Array(5).fill(prunedRowsMax), 20]);
    expect(steps.map(({ isDone }) => isDone)).toEqual([...Array(5).fill(false), true]);
    expect(Number(database.pragma('page_count', { simple: true }))).toBeLessThan(pagesBefore);
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  });
});

function tablesOf(database: ReturnType<typeof temporaryDatabase>): string[] {
  return database
    .prepare("select name from sqlite_master where type = 'table'")
    .pluck()
    .all()
    .map(String);
}

describe('its schedule', () => {
  function schedule(parts: { readonly isHealthy?: boolean } = {}) {
    const clock = new VirtualClock();
    const scripted = new ScriptedWriter();
    const retention = scheduleRetention({
      writer: scripted.writer,
      keepMs: () => dayMs,
      isHealthy: () => parts.isHealthy ?? true,
      clock,
      log: silentLog,
    });
    return { clock, scripted, retention };
  }

  it('runs a minute after the start and every five minutes', async () => {
    const { clock, scripted } = schedule();
    await clock.advance(59_999);
    expect(scripted.asked).toEqual([]);
    await clock.advance(1);
    expect(scripted.asked).toEqual([
      {
        kind: 'prune',
        beforeMs: clock.wallMs() - dayMs,
        originsBeforeMs: clock.wallMs() - 30 * dayMs,
      },
    ]);
    await clock.advance(600_000);
    expect(scripted.asked).toHaveLength(3);
  });

  it('LG-01 pauses between portions, and goes on until all is gone', async () => {
    const { clock, scripted } = schedule();
    scripted.oldRows = 120;
    await clock.advance(60_000);
    expect(scripted.asked).toHaveLength(1);
    await clock.advance(4);
    expect(scripted.asked).toHaveLength(1);
    await clock.advance(1_000);
    expect(scripted.asked).toHaveLength(3);
    expect(scripted.oldRows).toBe(0);
  });

  it('leaves a degraded log alone', async () => {
    const { clock, scripted } = schedule({ isHealthy: false });
    await clock.advance(3_600_000);
    expect(scripted.asked).toEqual([]);
  });

  it('goes on after a fault, later', async () => {
    const { clock, scripted } = schedule();
    scripted.mood = 'locked';
    await clock.advance(60_000);
    scripted.mood = null;
    await clock.advance(300_000);
    expect(scripted.asked).toHaveLength(2);
  });

  it('stops, and leaves no timer', async () => {
    const { clock, retention } = schedule();
    retention.stop();
    expect(clock.pending).toBe(0);
  });
});
