/** One gateway per data directory: a lock that the system frees when the process ends, however it ends. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { fail, type Result, success } from '../../base/result.ts';
import { faultOfKind, type StoreFault, storeFaultOf } from './store-fault.ts';

export type InstanceLock = { readonly release: () => void };

/**
 * Takes the lock of `dataDirectory` (made when missing) or says that another process has it. It is the
 * lock of a small SQLite file: that works on every system and in one process, and no stale file blocks.
 */
export function lockInstance(dataDirectory: string): Result<InstanceLock, StoreFault> {
  const file = join(dataDirectory, 'tiergate.lock');
  const ownerFile = join(dataDirectory, 'tiergate.pid');
  let connection: Database.Database | null = null;
  try {
    mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
    connection = new Database(file, { timeout: 0 });
    connection.pragma('locking_mode = exclusive');
    connection.exec('begin exclusive');
    writeFileSync(ownerFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    connection?.close();
    const fault = storeFaultOf(error, file);
    if (fault.kind !== 'locked') return fail(fault);
    return fail(faultOfKind('in_use', dataDirectory, ownerOf(ownerFile)));
  }
  const held = connection;
  return success({ release: () => held.close() });
}

function ownerOf(ownerFile: string): string {
  try {
    return `process ${readFileSync(ownerFile, 'utf8').trim().slice(0, 20)}`;
  } catch {
    return 'process unknown';
  }
}
