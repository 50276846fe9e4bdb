/** Spilled rows on their way back. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { servedColumns } from '../../../src/store/sqlite/served-columns.ts';
import { RowWriter } from '../../../src/store/sqlite/writer/row-writer.ts';
import {
  readSpillLine,
  spillLineOfMarker,
  spillLineOfRows,
} from '../../../src/store/sqlite/writer/spill-format.ts';
import { importPortion } from '../../../src/store/sqlite/writer/spill-import.ts';
import {
  countOf,
  encodedTrace,
  markerOf,
  temporaryDatabase,
  temporaryDirectory,
} from './temporary-store.ts';

function setUp(text: string) {
  const path = join(temporaryDirectory(), 'sealed');
  writeFileSync(path, text);
  const database = temporaryDatabase();
  return { database, writer: new RowWriter(database), path };
}

function importAll(parts: { readonly writer: RowWriter; readonly path: string }) {
  let offset = 0;
  let unreadable = 0;
  for (let portions = 1; ; portions += 1) {
    const step = importPortion({ ...parts, columns: servedColumns, offset, portionBytes });
    expect(step.offset).toBeGreaterThanOrEqual(offset);
    offset = step.offset;
    unreadable += step.unreadable;
    if (step.isDone) return { portions, unreadable };
  }
}

const portionBytes = 4_096;

describe('an import', () => {
  it('brings rows back once, however often it is done', () => {
    const lines = ['a', 'b'].map((id) => spillLineOfRows(encodedTrace({ id })));
    const { database, ...parts } = setUp(lines.join(''));
    expect(importAll(parts)).toEqual({ portions: 1, unreadable: 0 });
    importAll(parts);
    expect(countOf(database, 'requests')).toBe(2);
    expect(countOf(database, 'attempts')).toBe(2);
  });

  it('takes a large file in portions, and loses no row at their edges', () => {
    const lines = Array.from({ length: 20 }, (_, at) =>
      spillLineOfRows(encodedTrace({ id: `id-${at}` })),
    );
    const { database, ...parts } = setUp(lines.join(''));
    expect(lines.join('').length).toBeGreaterThan(2 * portionBytes);
    expect(importAll(parts).portions).toBeGreaterThan(2);
    expect(countOf(database, 'requests')).toBe(20);
  });

  it('passes over lines that a full disk cut short, and counts them', () => {
    const whole = spillLineOfRows(encodedTrace({ id: 'a' }));
    const cut = whole.slice(0, 50);
    const { database, ...parts } = setUp(`${cut}\n${whole}\n{"x":1}\n${cut}`);
    expect(importAll(parts)).toEqual({ portions: 1, unreadable: 3 });
    expect(countOf(database, 'requests')).toBe(1);
  });

  it('passes over what has no end, in bounded steps', () => {
    const whole = spillLineOfRows(encodedTrace({ id: 'a' }));
    const { database, ...parts } = setUp(`${'x'.repeat(3 * portionBytes)}\n${whole}`);
    expect(importAll(parts).unreadable).toBeGreaterThan(0);
    expect(countOf(database, 'requests')).toBe(1);
  });

  it('of an empty file is done at once', () => {
    expect(importAll(setUp(''))).toEqual({ portions: 1, unreadable: 0 });
  });

  it('keeps markers of requests that have no row yet', () => {
    const lines = [
      spillLineOfMarker(markerOf({ id: 'a' })),
      spillLineOfMarker(markerOf({ id: 'b' })),
      spillLineOfRows(encodedTrace({ id: 'a' })),
    ];
    const { database, ...parts } = setUp(lines.join(''));
    importAll(parts);
    expect(database.prepare('select id from markers').pluck().all()).toEqual(['b']);
  });
});

describe('a spilled line', () => {
  it('of a marker comes back as it was', () => {
    const marker = markerOf({ clientRequestId: 'c', keyId: 'k' });
    expect(readSpillLine(servedColumns, spillLineOfMarker(marker))).toEqual({
      kind: 'marker',
      marker,
    });
  });

  it.each(['', 'null', '[]', '{}', '{"marker":{"id":"a"}}', '{"marker":7}', '{"request":{}}', '{'])(
    'of %j is unreadable',
    (text) => expect(readSpillLine(servedColumns, text)).toEqual({ kind: 'unreadable' }),
  );
});
