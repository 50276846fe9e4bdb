/** Ids that others made: entered in bulk, found before and after. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { DatabaseAccess } from '../../../src/store/sqlite/database-access.ts';
import { createServedQuery } from '../../../src/store/sqlite/served-query.ts';
import { indexedAtATime, KeyIndex } from '../../../src/store/sqlite/writer/key-index.ts';
import { OriginWriter } from '../../../src/store/sqlite/writer/origin-writer.ts';
import { prunePortion } from '../../../src/store/sqlite/writer/retention.ts';
import { RowWriter } from '../../../src/store/sqlite/writer/row-writer.ts';
import { attemptTrace } from '../../support/traces.ts';
import { countOf, encodedTrace, temporaryDatabase, temporaryDirectory } from './temporary-store.ts';

function setUp() {
  const file = join(temporaryDirectory(), 'tiergate.db');
  const database = temporaryDatabase(file);
  const writer = new RowWriter(database);
  const served = createServedQuery(new DatabaseAccess(file, systemClock));
  const write = (id: string, startedAtMs = 5_000): void => {
    const attempts = [attemptTrace({ upstreamRequestId: `up-${id}` })];
    const row = encodedTrace({ id, clientRequestId: `client-${id}`, startedAtMs, attempts });
    writer.commit({ rows: [row], markers: [], ended: [] });
  };
  const find = (id: string): unknown[] => [
    ...(served.page({ filter: { clientRequestId: `client-${id}` }, limit: 5, cursor: null })
      ?.rows ?? []),
    ...(served.page({ filter: { upstreamRequestId: `up-${id}` }, limit: 5, cursor: null })?.rows ??
      []),
  ];
  return { database, keys: new KeyIndex(database), write, find };
}

describe('an id', () => {
  it('is found as soon as its row is there, and after it was entered', () => {
    const { keys, write, find } = setUp();
    write('a');
    expect(find('a')).toMatchObject([{ id: 'a' }, { id: 'a' }]);
    expect(keys.step()).toBe(true);
    write('b');
    expect(find('a')).toMatchObject([{ id: 'a' }, { id: 'a' }]);
    expect(find('b')).toMatchObject([{ id: 'b' }, { id: 'b' }]);
    expect(find('c')).toEqual([]);
  });

  it('of the client is not taken for one of a provider', () => {
    const { keys, write, find } = setUp();
    write('a');
    keys.step();
    expect(find('up-a')).toEqual([]);
  });

  it('goes with its row, and a number used again finds the new row', () => {
    const { database, keys, write, find } = setUp();
    const origins = new OriginWriter(database);
    write('a', 1_000);
    write('b', 1_000);
    keys.step();
    expect(
      prunePortion({ connection: database, keys, origins }, { beforeMs: 2_000, originsBeforeMs: 0 })
        .deleted,
    ).toBe(2);
    expect(countOf(database, 'request_keys')).toBe(0);
    write('c');
    expect(find('c')).toMatchObject([{ id: 'c' }, { id: 'c' }]);
    keys.step();
    expect(countOf(database, 'request_keys')).toBe(2);
    expect(find('c')).toMatchObject([{ id: 'c' }, { id: 'c' }]);
  });
});

describe('a step', () => {
  it('is bounded, and the next goes on where it ended', () => {
    const { database, keys } = setUp();
    const insert = database.prepare(
      `insert into requests (id, client_request_id, started_at, tier, outcome) values (?, ?, 1, 't', 'served')`,
    );
    database.transaction(() => {
      for (let at = 0; at <= indexedAtATime; at += 1) insert.run(`id-${at}`, `client-${at}`);
    })();
    expect(keys.step()).toBe(false);
    expect(countOf(database, 'request_keys')).toBe(indexedAtATime);
    expect(keys.step()).toBe(true);
    expect(keys.step()).toBe(true);
    expect(countOf(database, 'request_keys')).toBe(indexedAtATime + 1);
  });
});
