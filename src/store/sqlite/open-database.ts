/** Opens the embedded database for whoever may change its schema: directory, connection, migrations. */

import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fail, type Result } from '../../base/result.ts';
import { type Connection, type ConnectOptions, connect } from './connection.ts';
import { drizzle, migrate, readMigrationFiles } from './drizzle.ts';
import { faultOfKind, type StoreFault, storeFaultOf } from './store-fault.ts';

const migrationsFolder = fileURLToPath(new URL('../../../migrations/sqlite', import.meta.url));

/**
 * A connection that may write, its schema brought up to date. The directory is made (0700) when missing.
 * Every fault leaves the file as it was.
 */
export function openDatabase(options: ConnectOptions): Result<Connection, StoreFault> {
  let connection: Connection | null = null;
  try {
    mkdirSync(dirname(options.file), { recursive: true, mode: 0o700 });
    const isNew = !existsSync(options.file);
    const connected = connect({ ...options, create: true });
    if (!connected.ok) return connected;
    connection = connected.value;
    /** The directory may be an operator's, open to others; what SQLite adds beside the file takes its mode. */
    if (isNew && existsSync(options.file)) chmodSync(options.file, 0o600);
    if (isNewerThanProgram(connection)) {
      connection.close();
      return fail(faultOfKind('newer', options.file, ''));
    }
    bringUpToDate(connection);
    return connected;
  } catch (error) {
    connection?.close();
    return fail(storeFaultOf(error, options.file));
  }
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
