/**
 * Who made what, in the database: written by the writer thread in natural batches, and known from memory
 * until it is there. While the database is out of order memory alone answers, as far as it goes.
 */
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log-port.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { Origin, Origins } from '../../engine/origins.ts';
import { ExpiringMap } from '../../resilience/expiring-map.ts';
import { type DatabaseAccess, StoreUnavailableError } from './database-access.ts';
import { inArray } from './drizzle.ts';
import { origins as originsTable } from './schema.ts';
import type { OriginRow } from './writer/writer-protocol.ts';
import type { Writer } from './writer/writer-thread.ts';

/** Providers keep for so long what they were asked to keep. */
export const originsKeptMs = 30 * 24 * 3_600_000;

const recentMax = 20_000;
/** What waits to be written; beyond it the oldest is lost. */
const waitingMax = 20_000;
const batchMax = 1_000;
const retryAfterMs = 1_000;
/** How long an answer is held back until it is durable. */
const durableWithinMs = 250;
/** An id that is longer is nobody's. */
const idCharactersMax = 256;
/** Bound by what a statement takes. */
const lookupMax = 500;

export type SqliteOriginsOptions = {
  readonly access: DatabaseAccess;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
};

export class SqliteOrigins implements Origins {
  readonly #options: SqliteOriginsOptions;
  readonly #recent = new ExpiringMap<Origin>({ entriesMax: recentMax, keptMs: originsKeptMs });
  #waiting: OriginRow[] = [];
  #flushing: Promise<void> | null = null;
  #cancelRetry: CancelTimer = () => undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(options: SqliteOriginsOptions) {
    this.#options = options;
  }

  find(ids: readonly string[]): Result<ReadonlyMap<string, Origin>, string> {
    const nowMs = this.#options.clock.monotonicMs();
    const found = new Map<string, Origin>();
    const asked: string[] = [];
    for (const id of new Set(ids)) {
      const recent = this.#recent.get(id, nowMs);
      if (recent !== undefined) found.set(id, recent);
      else if (id.length <= idCharactersMax) asked.push(id);
    }
    try {
      for (let at = 0; at < asked.length; at += lookupMax) {
        for (const row of this.#read(asked.slice(at, at + lookupMax))) found.set(row.id, row);
      }
    } catch (error) {
      if (error instanceof StoreUnavailableError) return fail(error.message);
      throw error;
    }
    return success(found);
  }

  note(ids: readonly string[], origin: Origin): Promise<void> {
    const { clock } = this.#options;
    const madeAtMs = clock.wallMs();
    for (const id of ids) {
      if (id.length > idCharactersMax) continue;
      this.#recent.set(id, origin, clock.monotonicMs());
      this.#waiting.push({ ...origin, id, madeAtMs });
    }
    this.#waiting.splice(0, this.#waiting.length - waitingMax);
    this.#flushing ??= this.#flush();
    return this.#withinMs(durableWithinMs, this.#flushing);
  }

  /** Writes what waits, as far as the database takes it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRetry();
    await (this.#flushing ?? this.#flush());
  }

  #read(ids: readonly string[]) {
    const { access, clock } = this.#options;
    const sinceMs = clock.wallMs() - originsKeptMs;
    return access
      .read((orm) =>
        orm
          .select()
          .from(originsTable)
          .where(inArray(originsTable.id, [...ids]))
          .all(),
      )
      .filter(({ made_at }) => made_at > sinceMs)
      .map(({ id, target, provider, key_alias, is_kept }) => {
        return { id, target, provider, keyAlias: key_alias, isKept: is_kept };
      });
  }

  async #flush(): Promise<void> {
    this.#cancelRetry();
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.slice(0, batchMax);
      const written = await this.#options.writer.ask({ kind: 'note_origins', rows });
      this.#noteHealth(written.ok ? null : written.fault.message);
      if (!written.ok) break;
      // The oldest may have been given up meanwhile.
      const done = new Set(rows);
      this.#waiting = this.#waiting.filter((row) => !done.has(row));
    }
    this.#flushing = null;
    if (this.#waiting.length > 0 && !this.#isClosed) this.#retryLater();
  }

  #retryLater(): void {
    this.#cancelRetry = this.#options.clock.schedule(retryAfterMs, () => {
      this.#flushing ??= this.#flush();
    });
  }

  #noteHealth(fault: string | null): void {
    if (fault !== null && !this.#isFailing) {
      const message =
        'which account made an answer cannot be written for now: a restart forgets it';
      this.#options.log.warn(message, { reason: fault });
    }
    this.#isFailing = fault !== null;
  }

  #withinMs(limitMs: number, task: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.schedule(limitMs, resolve);
      void task.then(() => {
        cancel();
        resolve();
      });
    });
  }
}
