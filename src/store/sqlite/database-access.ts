/** The main thread's connections: opened when wanted, opened anew after a fault, one for reading alone. */

import { existsSync } from 'node:fs';
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3';
import type { Clock } from '../../base/clock.ts';
import type { Result } from '../../base/result.ts';
import { type Connection, connectForReading } from './connection.ts';
import { drizzle } from './drizzle.ts';
import { openDatabase } from './open-database.ts';
import { type StoreFault, storeFaultOf } from './store-fault.ts';

export type Orm = BetterSQLite3Database;

/** The database cannot be used now: thrown by reads and config writes, a 503 to whoever asked. */
export class StoreUnavailableError extends Error {
  readonly fault: StoreFault;

  constructor(fault: StoreFault) {
    super(fault.message);
    this.name = 'StoreUnavailableError';
    this.fault = fault;
  }
}

type Opened = { readonly connection: Connection; readonly orm: Orm };
type Open = (busyTimeoutMs: number) => Result<Connection, StoreFault>;

/** How long a lock of another connection is waited for, ms; all of it is time of the event loop. */
export type Patience = {
  /** The first opening: at the start nobody is served yet. */
  readonly firstOpenMs: number;
  /** Each later opening, tried once a second while the database is out of order. */
  readonly reopenMs: number;
  readonly statementMs: number;
};

const defaultPatience: Patience = { firstOpenMs: 1_000, reopenMs: 5, statementMs: 200 };
/** After a fault the file is left alone for so long, so that a sick disk costs one try a second. */
const retryAfterMs = 1_000;

export class DatabaseAccess {
  readonly #file: string;
  readonly #reader: Lane;
  readonly #writer: Lane;

  constructor(file: string, clock: Clock, patience: Patience = defaultPatience) {
    this.#file = file;
    const lane = (open: Open): Lane => new Lane({ clock, patience, open });
    this.#reader = lane((busyTimeoutMs) => connectForReading({ file, busyTimeoutMs }));
    this.#writer = lane((busyTimeoutMs) => openDatabase({ file, busyTimeoutMs }));
  }

  /** Runs `work` on the connection that cannot write. Throws `StoreUnavailableError`. */
  read<Value>(work: (orm: Orm) => Value): Value {
    return this.#use(this.#reader, work);
  }

  /** Runs `work` on the connection that may write. Throws `StoreUnavailableError`. */
  write<Value>(work: (orm: Orm) => Value): Value {
    return this.#use(this.#writer, work);
  }

  /** Why the database cannot be used, or null; brings the schema up to date on the way. */
  fault(): StoreFault | null {
    /** Moved away while it was open: it is made anew. */
    if (!existsSync(this.#file)) this.close();
    const opened = this.#writer.open();
    return opened.ok ? null : opened.fault;
  }

  close(): void {
    this.#reader.close();
    this.#writer.close();
  }

  #use<Value>(lane: Lane, work: (orm: Orm) => Value): Value {
    const opened = lane.open();
    if (!opened.ok) throw new StoreUnavailableError(opened.fault);
    try {
      return work(opened.value.orm);
    } catch (error) {
      const fault = storeFaultOf(error, this.#file);
      if (fault.kind === 'other') throw error;
      if (fault.kind !== 'locked') lane.fail(fault);
      throw new StoreUnavailableError(fault);
    }
  }
}

/** One connection and what is wrong with it. */
class Lane {
  readonly #clock: Clock;
  readonly #patience: Patience;
  readonly #connect: Open;
  #opened: Opened | null = null;
  #failed: { readonly fault: StoreFault; readonly atMs: number } | null = null;

  constructor(parts: { readonly clock: Clock; readonly patience: Patience; readonly open: Open }) {
    this.#clock = parts.clock;
    this.#patience = parts.patience;
    this.#connect = parts.open;
  }

  open(): Result<Opened, StoreFault> {
    if (this.#opened !== null) return { ok: true, value: this.#opened };
    const nowMs = this.#clock.monotonicMs();
    if (this.#failed !== null && nowMs - this.#failed.atMs < retryAfterMs) {
      return { ok: false, fault: this.#failed.fault };
    }
    const { firstOpenMs, reopenMs, statementMs } = this.#patience;
    const connected = this.#connect(this.#failed === null ? firstOpenMs : reopenMs);
    if (!connected.ok) {
      this.#failed = { fault: connected.fault, atMs: nowMs };
      return connected;
    }
    connected.value.pragma(`busy_timeout = ${statementMs}`);
    this.#failed = null;
    this.#opened = { connection: connected.value, orm: drizzle(connected.value) };
    return { ok: true, value: this.#opened };
  }

  fail(fault: StoreFault): void {
    this.close();
    this.#failed = { fault, atMs: this.#clock.monotonicMs() };
  }

  close(): void {
    this.#opened?.connection.close();
    this.#opened = null;
  }
}
