/** The real thread, the real file: a lock, a death, a full disk. Rows are spilled, brought back, never doubled. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { LogFields } from '../../src/base/log-port.ts';
import type { RecordOutcome } from '../../src/served-by/recorder.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { requestTrace } from '../support/traces.ts';

let directory: string;
let store: SqliteStore | null = null;
let alerts: unknown[] = [];
/** Ample while commits should succeed: a slow machine is no fault. */
const ampleMs = 60_000;
const shortMs = 250;
let commitWaitMs = ampleMs;
beforeEach(() => {
  commitWaitMs = ampleMs;
  directory = mkdtempSync(join(tmpdir(), 'tiergate-degraded-'));
  alerts = [];
});
afterEach(async () => {
  await store?.close();
  store = null;
  rmSync(directory, { recursive: true, force: true });
});

async function open(): Promise<SqliteStore> {
  const note = (_: string, fields?: LogFields): void => {
    if (fields?.['alert'] !== undefined) alerts.push(fields['alert']);
  };
  const opened = await openSqliteStore({
    dataDirectory: directory,
    commitWaitMs: () => commitWaitMs,
    keepMs: () => Number.MAX_SAFE_INTEGER,
    log: { debug: note, info: note, warn: note, error: note },
    clock: systemClock,
  });
  if (!opened.ok) throw new Error(opened.fault.message);
  store = opened.value;
  return opened.value;
}

const databaseFile = (): string => join(directory, 'tiergate.db');

function lockDatabase(): () => void {
  const other = new Database(databaseFile());
  other.exec('begin immediate');
  commitWaitMs = shortMs;
  return () => {
    commitWaitMs = ampleMs;
    other.exec('rollback');
    other.close();
  };
}

async function record(to: SqliteStore, ids: readonly string[]): Promise<RecordOutcome[]> {
  return Promise.all(ids.map((id) => to.recorder.record(requestTrace({ id }))));
}

async function untilHealthy({ recorder }: SqliteStore): Promise<void> {
  for (let tries = 0; tries < 600 && recorder.degradedReason() !== null; tries += 1)
    await sleep(50);
  expect(recorder.degradedReason()).toBeNull();
}

function idsIn({ served }: SqliteStore): unknown[] {
  const page = served.page({ filter: {}, limit: 1_000, cursor: null });
  return (page?.rows ?? []).map(({ id }) => id).sort();
}

const named = (start: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${start}-${String(at).padStart(3, '0')}`);

describe('a locked database', () => {
  it('stops no event loop and holds no answer up after the first overrun; its rows come back once, none doubled', async () => {
    const opened = await open();
    expect(await record(opened, ['before'])).toEqual(['committed']);
    const unlock = lockDatabase();
    const startedMs = systemClock.monotonicMs();
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 10);
    expect(new Set(await record(opened, named('first', 20)))).toEqual(new Set(['spilled']));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(10 * shortMs);
    const againMs = systemClock.monotonicMs();
    expect(new Set(await record(opened, named('then', 200)))).toEqual(new Set(['spilled']));
    expect(systemClock.monotonicMs() - againMs).toBeLessThan(10 * shortMs);
    expect(opened.recorder.degradedReason()).toMatch(/250 ms|locked/);
    unlock();
    await untilHealthy(opened);
    expect(await record(opened, ['after'])).toEqual(['committed']);
    expect(idsIn(opened)).toEqual(
      ['before', 'after', ...named('first', 20), ...named('then', 200)].sort(),
    );
    expect(readdirSync(directory).filter((name) => name.startsWith('served.spill'))).toEqual([]);
    expect(alerts).toEqual(['log_degraded']);
  });

  it('at the start does not stop serving; the rows come in when it is free', async () => {
    (await open()).recorder.counts();
    await store?.close();
    const unlock = lockDatabase();
    const opened = await open();
    expect(opened.recorder.degradedReason()).toContain('locked');
    expect(await record(opened, ['spilled'])).toEqual(['spilled']);
    unlock();
    await untilHealthy(opened);
    expect(idsIn(opened)).toEqual(['spilled']);
  });

  it('until the end leaves the spill, which the next start imports', async () => {
    const opened = await open();
    const unlock = lockDatabase();
    await record(opened, named('spilled', 5));
    await opened.close();
    unlock();
    expect(statSync(join(directory, 'served.spill')).size).toBeGreaterThan(0);
    const again = await open();
    expect(idsIn(again)).toEqual(named('spilled', 5));
    expect(existsSync(join(directory, 'served.spill'))).toBe(false);
  });
});

describe('a damaged database', () => {
  it('does not stop serving, is left as it is, and says what to do', async () => {
    writeFileSync(databaseFile(), 'no database '.repeat(500));
    const opened = await open();
    expect(opened.fault()).toMatchObject({ kind: 'corrupt' });
    expect(opened.fault()?.message).toContain('move the file away');
    expect(await record(opened, ['a'])).toEqual(['spilled']);
    expect(() => opened.served.byId('a')).toThrow(/damaged/);
    rmSync(databaseFile());
    await untilHealthy(opened);
    await sleep(1_100);
    expect(opened.fault()).toBeNull();
    expect(idsIn(opened)).toEqual(['a']);
  });
});

describe('many rows at once', () => {
  it('go in batches', async () => {
    const opened = await open();
    for (let round = 0; round < 50; round += 1) {
      expect(new Set(await record(opened, named(`r${round}`, 100)))).toEqual(
        new Set(['committed']),
      );
    }
    const { committed, batches } = opened.recorder.counts();
    expect(committed).toBe(5_000);
    expect(batches).toBeLessThan(500);
  });
});
