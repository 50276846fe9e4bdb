/** The embedded database as one part of the app: the ports that it implements, opened and closed together. */
import { join } from 'node:path';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { randomHex } from '../../base/ids.ts';
import type { Log } from '../../base/log-port.ts';
import { fail, type Result, success } from '../../base/result.ts';
import type { Origins } from '../../engine/origins.ts';
import type { RevisionStore } from '../../routing/revision-store.ts';
import type { ServedQuery } from '../../served-by/served-query.ts';
import { DatabaseAccess } from './database-access.ts';
import { type InstanceLock, lockInstance } from './instance-lock.ts';
import { createMetaStore, type MetaStore } from './meta-store.ts';
import { type RetentionSchedule, scheduleRetention } from './retention-schedule.ts';
import { createRevisionStore } from './revision-store.ts';
import { servedColumns } from './served-columns.ts';
import { createServedQuery } from './served-query.ts';
import { openSpill } from './spill-file.ts';
import { SqliteOrigins } from './sqlite-origins.ts';
import { SqliteRecorder } from './sqlite-recorder.ts';
import type { StoreFault } from './store-fault.ts';
import { scheduleUpkeep, type UpkeepSchedule } from './upkeep-schedule.ts';
import { startWriterThread } from './writer/writer-thread.ts';

export type SqliteStoreOptions = {
  /** Absolute; made (0700) when missing. Holds `tiergate.db`, `served.spill`, `tiergate.lock`. */
  readonly dataDirectory: string;
  /** `log.commit_wait` and `log.keep`, ms; read each time, since the config may change them. */
  readonly commitWaitMs: () => number;
  readonly keepMs: () => number;
  readonly log: Log;
  readonly clock: Clock;
};

export type SqliteStore = {
  readonly recorder: SqliteRecorder;
  readonly served: ServedQuery;
  readonly revisions: RevisionStore;
  readonly meta: MetaStore;
  readonly origins: Origins;
  /** Why the database cannot be used now, or null. Tried anew at most once a second. */
  readonly fault: () => StoreFault | null;
  /** Flushes the log, then frees everything. */
  readonly close: () => Promise<void>;
};

export const databaseName = 'tiergate.db';

/** How long a commit waits inside the thread for another program's lock. */
const writerBusyTimeoutMs = 2_000;
/** How long a start waits for what an earlier process spilled; the rest is imported while serving. */
const startWaitMs = 3_000;

/**
 * Fails when the directory cannot be used or another gateway serves from it. A database that is locked,
 * damaged or full does not fail it: then `fault()` says so, rows are spilled, and it is tried again.
 */
export async function openSqliteStore(
  options: SqliteStoreOptions,
): Promise<Result<SqliteStore, StoreFault>> {
  const { dataDirectory, commitWaitMs, keepMs, clock, log } = options;
  const locked = lockInstance(dataDirectory);
  if (!locked.ok) return fail(locked.fault);
  const file = join(dataDirectory, databaseName);
  const access = new DatabaseAccess(file, clock);
  const settings = { file, busyTimeoutMs: writerBusyTimeoutMs, columns: servedColumns };
  const writer = startWriterThread(settings);
  const recorder = new SqliteRecorder({
    prepare: () => access.fault(),
    writer,
    columns: servedColumns,
    spill: openSpill(dataDirectory),
    instance: randomHex(8),
    commitWaitMs,
    log,
    clock,
  });
  await withinMs(clock, startWaitMs, recorder.start());
  const origins = new SqliteOrigins({ access, writer, clock, log });
  const { isHealthy } = recorder;
  const retention = scheduleRetention({ writer, keepMs, isHealthy, clock, log });
  const upkeep = scheduleUpkeep({
    writer,
    keeper: startWriterThread(settings),
    batches: () => recorder.counts().batches,
    isHealthy,
    clock,
  });
  return success({
    recorder,
    served: createServedQuery(access),
    revisions: createRevisionStore(access),
    meta: createMetaStore(access),
    origins,
    fault: () => access.fault(),
    close: () => closeAll({ recorder, origins, retention, upkeep, access, lock: locked.value }),
  });
}

async function closeAll(parts: {
  readonly recorder: SqliteRecorder;
  readonly origins: SqliteOrigins;
  readonly retention: RetentionSchedule;
  readonly upkeep: UpkeepSchedule;
  readonly access: DatabaseAccess;
  readonly lock: InstanceLock;
}): Promise<void> {
  parts.retention.stop();
  await parts.upkeep.stop();
  await parts.origins.close();
  parts.access.close();
  await parts.recorder.close();
  parts.lock.release();
}

async function withinMs(clock: Clock, limitMs: number, task: Promise<void>): Promise<void> {
  let cancel: CancelTimer = () => undefined;
  const limit = new Promise<void>((resolve) => {
    cancel = clock.schedule(limitMs, resolve);
  });
  await Promise.race([task, limit]);
  cancel();
}
