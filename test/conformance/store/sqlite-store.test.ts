/** The embedded database against the suites of its ports. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log-port.ts';
import { DatabaseAccess } from '../../../src/store/sqlite/database-access.ts';
import { createRevisionStore } from '../../../src/store/sqlite/revision-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { MemoryRevisionStore } from '../../support/memory-revision-store.ts';
import { describeRevisionStore } from './revision-store-suite.ts';
import { describeServedLog } from './served-log-suite.ts';

describeServedLog({
  name: 'SQLite',
  open: async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'tiergate-log-'));
    const opened = await openSqliteStore({
      dataDirectory,
      commitWaitMs: () => 10_000,
      keepMs: () => Number.MAX_SAFE_INTEGER,
      log: silentLog,
      clock: systemClock,
    });
    if (!opened.ok) throw new Error(opened.fault.message);
    const { recorder, served, close } = opened.value;
    return {
      recorder,
      served,
      close: async () => {
        await close();
        rmSync(dataDirectory, { recursive: true });
      },
    };
  },
});

describeRevisionStore({
  name: 'SQLite',
  open: () => {
    const directory = mkdtempSync(join(tmpdir(), 'tiergate-revisions-'));
    const access = new DatabaseAccess(join(directory, 'tiergate.db'), systemClock);
    access.fault();
    onTestFinished(() => {
      access.close();
      rmSync(directory, { recursive: true });
    });
    return createRevisionStore(access);
  },
});

describeRevisionStore({ name: 'memory', open: () => new MemoryRevisionStore() });
