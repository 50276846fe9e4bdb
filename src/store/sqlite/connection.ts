/** Connections to the embedded database. Knows no schema: the writer thread starts fast with it. */
import Database from 'better-sqlite3';
import { fail, type Result, success } from '../../base/result.ts';
import { type StoreFault, storeFaultOf } from './store-fault.ts';

/** The driver's handle; every statement on it is synchronous. */
export type Connection = Database.Database;
export type Statement = Database.Statement<unknown[]>;

export type ConnectOptions = {
  /** Absolute path. */
  readonly file: string;
  /** How long a statement waits for another connection's lock, ms. */
  readonly busyTimeoutMs: number;
};

/**
 * Pages (4 kB) in the write-ahead log before a commit itself writes it back. Another thread does so long
 * before (`upkeep-schedule.ts`), because the commit that does it waits for the disk.
 */
const checkpointPages = 32_000;
/** The log file is cut back to this after a checkpoint, bytes. */
const walBytesKept = 64 * 1024 * 1024;

/** A connection that may write. `create` makes the file, empty, when it is missing. */
export function connect(
  options: ConnectOptions & { readonly create: boolean },
): Result<Connection, StoreFault> {
  const { file, busyTimeoutMs, create } = options;
  return opened(file, () => {
    const connection = new Database(file, { fileMustExist: !create, timeout: busyTimeoutMs });
    return prepared(connection, applyPragmas);
  });
}

/** A connection for reading alone: the file must exist, and is never changed. */
export function connectForReading(options: ConnectOptions): Result<Connection, StoreFault> {
  const { file, busyTimeoutMs } = options;
  return opened(file, () => {
    const connection = new Database(file, {
      readonly: true,
      fileMustExist: true,
      timeout: busyTimeoutMs,
    });
    return prepared(connection, () => connection.pragma('cache_size = -16000'));
  });
}

function opened(file: string, open: () => Connection): Result<Connection, StoreFault> {
  try {
    return success(open());
  } catch (error) {
    return fail(storeFaultOf(error, file));
  }
}

function prepared(connection: Connection, prepare: (connection: Connection) => void): Connection {
  try {
    prepare(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
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
