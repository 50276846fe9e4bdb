/** Opening: what can be wrong is told apart, and nothing is made worse by it. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import {
  DatabaseAccess,
  StoreUnavailableError,
} from '../../../src/store/sqlite/database-access.ts';
import { lockInstance } from '../../../src/store/sqlite/instance-lock.ts';
import { createMetaStore } from '../../../src/store/sqlite/meta-store.ts';
import { openDatabase } from '../../../src/store/sqlite/open-database.ts';
import { storeFaultOf } from '../../../src/store/sqlite/store-fault.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { temporaryDatabase, temporaryDirectory } from './temporary-store.ts';

const databaseIn = (directory: string): string => join(directory, 'tiergate.db');

function faultKindOf(file: string): string {
  const opened = openDatabase({ file, busyTimeoutMs: 0 });
  if (!opened.ok) return opened.fault.kind;
  opened.value.close();
  return 'none';
}

describe('a database', () => {
  it('is made with its directory, in WAL mode, for its owner alone, and opens again', () => {
    const file = databaseIn(join(temporaryDirectory(), 'deep', 'data'));
    expect(temporaryDatabase(file).pragma('journal_mode', { simple: true })).toBe('wal');
    expect(faultKindOf(file)).toBe('none');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('that is none is corrupt, and left as it was', () => {
    const file = databaseIn(temporaryDirectory());
    const text = 'this is not a database '.repeat(100);
    writeFileSync(file, text);
    expect(faultKindOf(file)).toBe('corrupt');
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('that another program writes to is locked', () => {
    const file = databaseIn(temporaryDirectory());
    const other = new Database(file);
    other.exec('create table theirs (a)');
    other.exec('begin exclusive');
    expect(faultKindOf(file)).toBe('locked');
    other.exec('rollback');
    other.close();
    expect(faultKindOf(file)).toBe('none');
  });

  it('below a file is unwritable', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'plain'), '');
    expect(faultKindOf(join(directory, 'plain', 'tiergate.db'))).toBe('unwritable');
  });

  it('of a later version is refused as such', () => {
    const file = databaseIn(temporaryDirectory());
    temporaryDatabase(file)
      .prepare('insert into __drizzle_migrations (hash, created_at) values (?, ?)')
      .run('later', Date.UTC(2100, 0, 1));
    expect(faultKindOf(file)).toBe('newer');
  });

  it.each([
    ['SQLITE_BUSY_SNAPSHOT', 'locked'],
    ['SQLITE_FULL', 'full'],
    ['SQLITE_IOERR_WRITE', 'other'],
    ['ENOSPC', 'full'],
    ['EROFS', 'unwritable'],
    ['SQLITE_READONLY_DBMOVED', 'unwritable'],
  ])('failing with %s is %s', (code, kind) => {
    const fault = storeFaultOf(Object.assign(new Error('x'), { code }), '/data/tiergate.db');
    expect(fault.kind).toBe(kind);
    expect(fault.message).toContain('/data/tiergate.db');
    expect(fault.message).toContain(code);
  });
});

describe('two gateways on one directory', () => {
  it('LG-03 the second is refused, and told which process has it', () => {
    const directory = temporaryDirectory();
    const first = lockInstance(directory);
    expect(first.ok).toBe(true);
    const second = lockInstance(directory);
    expect(second).toMatchObject({ ok: false, fault: { kind: 'in_use' } });
    expect(second.ok ? '' : second.fault.message).toContain(`process ${process.pid}`);
    expect(second.ok ? '' : second.fault.message).toContain('--data');
    if (first.ok) first.value.release();
    const third = lockInstance(directory);
    expect(third.ok).toBe(true);
    if (third.ok) third.value.release();
  });

  it('of which one was killed is one: a stale file does not block', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'tiergate.lock'), '');
    writeFileSync(join(directory, 'tiergate.pid'), '1\n');
    const lock = lockInstance(directory);
    expect(lock.ok).toBe(true);
    if (lock.ok) lock.value.release();
  });
});

describe('access', () => {
  it('fails with the fault, tries again after a second, and then works', async () => {
    const clock = new VirtualClock();
    const file = databaseIn(temporaryDirectory());
    const other = new Database(file);
    other.exec('create table theirs (a)');
    other.exec('begin exclusive');
    const access = new DatabaseAccess(file, clock, {
      firstOpenMs: 0,
      reopenMs: 0,
      statementMs: 0,
    });
    const meta = createMetaStore(access);
    expect(access.fault()?.kind).toBe('locked');
    expect(() => meta.get('a')).toThrow(StoreUnavailableError);
    other.close();
    expect(access.fault()?.kind).toBe('locked');
    await clock.advance(1_000);
    expect(access.fault()).toBeNull();
    expect(meta.get('a')).toBeNull();
    access.close();
  });

  it('cannot write through the connection for reading', () => {
    const file = databaseIn(temporaryDirectory());
    const access = new DatabaseAccess(file, systemClock);
    expect(access.fault()).toBeNull();
    expect(() => access.read((orm) => orm.run('delete from meta'))).toThrow(StoreUnavailableError);
    access.close();
  });

  it('passes on a mistake of the program as it is', () => {
    const access = new DatabaseAccess(databaseIn(temporaryDirectory()), systemClock);
    access.fault();
    let thrown: unknown;
    try {
      access.read((orm) => orm.run('select nothing from nowhere'));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(Error);
    expect(thrown).not.toBeInstanceOf(StoreUnavailableError);
    access.close();
  });
});

describe('small facts', () => {
  it('are kept, replaced, and still there after a restart', () => {
    const file = databaseIn(temporaryDirectory());
    const access = new DatabaseAccess(file, systemClock);
    createMetaStore(access).set('admin_key_hash', 'one');
    createMetaStore(access).set('admin_key_hash', 'two');
    access.close();
    const again = new DatabaseAccess(file, systemClock);
    expect(createMetaStore(again).get('admin_key_hash')).toBe('two');
    again.close();
  });
});
