/** Batches in their transactions. */
import { describe, expect, it } from 'vitest';
import { RowWriter } from '../../../src/store/sqlite/writer/row-writer.ts';
import { attemptTrace } from '../../support/traces.ts';
import { countOf, encodedTrace, markerOf, temporaryDatabase } from './temporary-store.ts';

const empty = { rows: [], markers: [], ended: [] };

describe('a batch', () => {
  it('writes requests with their attempts', () => {
    const database = temporaryDatabase();
    const attempts = [attemptTrace(), attemptTrace({ n: 2, kind: 'retry' })];
    const rows = [encodedTrace({ id: 'a', attempts }), encodedTrace({ id: 'b' })];
    expect(new RowWriter(database).commit({ ...empty, rows })).toEqual([]);
    const joined = database
      .prepare(
        'select id, n, kind, attempts.target from requests join attempts on request_seq = seq order by id, n',
      )
      .raw()
      .all();
    expect(joined).toEqual([
      ['a', 1, 'first', 'p1/large'],
      ['a', 2, 'retry', 'p1/large'],
      ['b', 1, 'first', 'p1/large'],
    ]);
  });

  it('that comes twice changes nothing', () => {
    const database = temporaryDatabase();
    const writer = new RowWriter(database);
    const rows = [encodedTrace({ id: 'a' }), encodedTrace({ id: 'a' })];
    writer.commit({ ...empty, rows });
    writer.commit({ ...empty, rows });
    expect(countOf(database, 'requests')).toBe(1);
    expect(countOf(database, 'attempts')).toBe(1);
  });

  it.each([
    ['null where there must be a value', encodedTrace({ id: 'x' }).replace('"fast",3', 'null,3')],
    ['too few values', '[["x"],null]'],
    ['no rows', '{'],
  ])('goes on without a row that the database refuses: %s', (_, broken) => {
    const database = temporaryDatabase();
    const refused = new RowWriter(database).commit({
      ...empty,
      rows: [encodedTrace({ id: 'a' }), broken, encodedTrace({ id: 'b' })],
    });
    expect(refused.map(({ at }) => at)).toEqual([1]);
    expect(database.prepare('select id from requests').pluck().all()).toEqual(['a', 'b']);
  });

  it('writes nothing when the disk is full in the middle, and all of it later', () => {
    const database = temporaryDatabase();
    const writer = new RowWriter(database);
    const rows = Array.from({ length: 200 }, (_, at) => encodedTrace({ id: `id-${at}` }));
    database.pragma(
      `max_page_count = ${Number(database.pragma('page_count', { simple: true })) + 2}`,
    );
    expect(() => writer.commit({ ...empty, rows })).toThrow(/full/);
    expect(countOf(database, 'requests')).toBe(0);
    database.pragma('max_page_count = 1000000');
    writer.commit({ ...empty, rows });
    expect(countOf(database, 'requests')).toBe(200);
    expect(countOf(database, 'served_slots')).toBe(1);
  });

  it('enters each combination of tier, target and version once per half hour', () => {
    const database = temporaryDatabase();
    const writer = new RowWriter(database);
    const rows = [
      encodedTrace({ id: 'a', startedAtMs: 0 }),
      encodedTrace({ id: 'b', startedAtMs: 1_799_999 }),
      encodedTrace({ id: 'c', startedAtMs: 1_800_000 }),
      encodedTrace({ id: 'd', startedAtMs: 1_800_000, tier: 'smart', serving: null, attempts: [] }),
    ];
    writer.commit({ ...empty, rows });
    const slots = database
      .prepare('select slot_at, tier, target from served_slots order by slot_at, tier')
      .raw()
      .all();
    expect(slots).toEqual([
      [0, 'fast', 'p1/large'],
      [1_800_000, 'fast', 'p1/large'],
      [1_800_000, 'smart', ''],
    ]);
  });
});

describe('markers', () => {
  it('LG-04 of a dead process become rows lost, once; those of this one stay', () => {
    const database = temporaryDatabase();
    const writer = new RowWriter(database);
    const markers = [
      markerOf({
        id: 'dead',
        instance: 'before',
        clientRequestId: 'c-9',
        keyId: 'k',
        tier: 'smart',
      }),
      markerOf({ id: 'alive', instance: 'now' }),
    ];
    writer.commit({ ...empty, markers });
    expect(writer.adoptMarkers('now')).toBe(1);
    expect(writer.adoptMarkers('now')).toBe(0);
    const rows = database
      .prepare('select id, client_request_id, started_at, tier, key_id, outcome from requests')
      .raw()
      .all();
    expect(rows).toEqual([['dead', 'c-9', 1_000, 'smart', 'k', 'lost']]);
    expect(database.prepare('select id from markers').pluck().all()).toEqual(['alive']);
  });

  it('go in the transaction that writes the row', () => {
    const database = temporaryDatabase();
    const writer = new RowWriter(database);
    writer.commit({ ...empty, markers: [markerOf({ id: 'a' })] });
    writer.commit({ ...empty, rows: [encodedTrace({ id: 'a' })], ended: ['a'] });
    expect(countOf(database, 'markers')).toBe(0);
    expect(writer.adoptMarkers('now')).toBe(0);
    expect(countOf(database, 'requests')).toBe(1);
  });

  it('that were spilled go with the spilled row', () => {
    const database = temporaryDatabase();
    const writer = new RowWriter(database);
    writer.restore([encodedTrace({ id: 'a' })], [markerOf({ id: 'a' }), markerOf({ id: 'b' })]);
    expect(database.prepare('select id from markers').pluck().all()).toEqual(['b']);
  });

  it('of a request whose row is there make no second row', () => {
    const database = temporaryDatabase();
    const writer = new RowWriter(database);
    writer.commit({ ...empty, rows: [encodedTrace({ id: 'a' })] });
    writer.restore([], [markerOf({ id: 'a' })]);
    expect(writer.adoptMarkers('now')).toBe(0);
    expect(database.prepare('select outcome from requests').pluck().all()).toEqual(['served']);
  });
});
