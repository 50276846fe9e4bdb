/** What a killed process leaves behind: every row that was said to be durable, and a row of what was under way. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log-port.ts';
import { seededRandom, uniform } from '../../src/base/random.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { effort } from '../support/effort.ts';
import { startChild } from './store-child-process.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tiergate-kill-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function open(dataDirectory = directory) {
  const opened = await openSqliteStore({
    dataDirectory,
    commitWaitMs: () => 5_000,
    keepMs: () => Number.MAX_SAFE_INTEGER,
    log: silentLog,
    clock: systemClock,
  });
  if (!opened.ok) throw new Error(opened.fault.message);
  return opened.value;
}

/** Kills one process after another on one directory; gives the ids that they printed, all of which are there. */
async function killRounds(
  dataDirectory: string,
  seed: number,
  rounds: number,
): Promise<ReadonlySet<string>> {
  const random = seededRandom(seed);
  const printed = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const child = startChild(dataDirectory);
    await child.said('ready');
    await sleep(uniform(random, 1, 150));
    await child.kill();
    for (const line of child.lines) if (line !== 'ready') printed.add(line);
  }
  const store = await open(dataDirectory);
  const missing = [...printed].filter((id) => store.served.byId(id) === null);
  await store.close();
  expect(missing).toEqual([]);
  return printed;
}

describe('kill -9', () => {
  // The gateway as a whole is killed in as many rounds as the design says, in kill.test.ts.
  const rounds = effort(8, 200);

  it(`at a random moment of ${rounds} loses no row that was said to be durable`, async () => {
    const halves = [1, 2].map((seed) => killRounds(join(directory, `${seed}`), seed, rounds / 2));
    for (const ids of await Promise.all(halves)) expect(ids.size).toBeGreaterThan(rounds / 2);
  }, 600_000);

  it('LG-04 of a request under way leaves a row lost with its start, once', async () => {
    const child = startChild(directory, 'hang');
    const id = (await child.said('begun')).split(' ')[1] ?? '';
    await sleep(1_000);
    await child.kill();
    for (let start = 0; start < 2; start += 1) {
      const store = await open();
      expect(store.served.byId(id)).toMatchObject({ id, outcome: 'lost', tier: 'fast' });
      const lost = store.served.page({ filter: { outcome: 'lost' }, limit: 10, cursor: null });
      expect(lost?.rows).toHaveLength(1);
      await store.close();
    }
  });

  it('LG-03 of one gateway lets the next in at once; while it lives, no other', async () => {
    const first = startChild(directory, 'hang');
    await first.said('ready');
    const second = startChild(directory, 'hang');
    expect(await second.said('refused')).toBe('refused in_use');
    await second.kill();
    await first.kill();
    const third = startChild(directory, 'hang');
    await third.said('ready');
    await third.kill();
  });
});
