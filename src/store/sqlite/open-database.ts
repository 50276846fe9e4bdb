/** Opens the embedded database: directory, pragmas, migrations. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { fail, type Result, success } from '../../base/result.ts';
import { faultOfKind, type StoreFault, storeFaultOf } from './store-fault.ts';

/** The driver's handle; every statement on it is synchronous. */
export type Connection = Database.Database;
export type Statement = Database.Statement<unknown[]>;

export type OpenOptions = {
  /** Absolute path. */
  readonly file: string;
  /** How long a statement waits for another connection's lock, ms. */
  readonly busyTimeoutMs: number;
};

const migrationsFolder = fileURLToPath(new URL('../../../migrations/sqlite', import.meta.url));

/**
 * Pages (4 kB) in the write-ahead log before a commit itself writes it back. Another thread does so long
 * before (`upkeep-schedule.ts`), because the commit that does it waits for the disk.
 */
const checkpointPages = 32_000;
/** The log file is cut back to this after a checkpoint, bytes. */
const walBytesKept = 64 * 1024 * 1024;

/**
 * A connection that may write, its schema brought up to date. The directory is made (0700) when missing.
 * Every fault leaves the file as it was.
 */
export function openDatabase(options: OpenOptions): Result<Connection, StoreFault> {
  let connection: Connection | null = null;
  try {
    mkdirSync(dirname(options.file), { recursive: true, mode: 0o700 });
    connection = new Database(options.file, { timeout: options.busyTimeoutMs });
    applyPragmas(connection);
    if (isNewerThanProgram(connection)) {
      connection.close();
      return fail(faultOfKind('newer', options.file, ''));
    }
    bringUpToDate(connection);
    return success(connection);
  } catch (error) {
    connection?.close();
    return fail(storeFaultOf(error, options.file));
  }
}

/** A connection for reading alone: the file must exist and be up to date, and is never changed. */
export function openForReading(options: OpenOptions): Result<Connection, StoreFault> {
  let connection: Connection | null = null;
  try {
    connection = new Database(options.file, {
      readonly: true,
      fileMustExist: true,
      timeout: options.busyTimeoutMs,
    });
    connection.pragma('cache_size = -16000');
    return success(connection);
  } catch (error) {
    connection?.close();
    return fail(storeFaultOf(error, options.file));
  }
}

function applyPragmas(connection: Connection): void {
  /** Only a file without tables takes it; lets retention give space back in small steps. */
  connection.pragma('auto_vacuum = incremental');
  connection.pragma('journal_mode = wal');
  connection.pragma('synchronous = normal');
  connection.pragma(`wal_autocheckpoint = ${checkpointPages}`);
  connection.pragma(`journal_size_limit = ${walBytesKept}`);
  connection.pragma('cache_size = -32000');
}

function isNewerThanProgram(connection: Connection): boolean {
  const applied = lastAppliedMs(connection);
  if (applied === null) return false;
  const known = readMigrationFiles({ migrationsFolder }).at(-1);
  return known !== undefined && applied > known.folderMillis;
}

function lastAppliedMs(connection: Connection): number | null {
  const table = connection
    .prepare("select 1 from sqlite_master where type = 'table' and name = '__drizzle_migrations'")
    .get();
  if (table === undefined) return null;
  const last: unknown = connection
    .prepare('select max(created_at) from __drizzle_migrations')
    .pluck()
    .get();
  return typeof last === 'number' ? last : null;
}

/** Two connections may come to a new file at once: the migrator looks before it locks, so the later one asks again. */
function bringUpToDate(connection: Connection): void {
  const orm = drizzle(connection);
  try {
    migrate(orm, { migrationsFolder });
  } catch {
    migrate(orm, { migrationsFolder });
  }
}
