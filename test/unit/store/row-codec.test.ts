/** Rows on their way to the writer thread and through the spill. */
import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../../src/served-by/record.ts';
import type { ServedRows } from '../../../src/served-by/row.ts';
import { servedColumns } from '../../../src/store/sqlite/served-columns.ts';
import {
  decodeNamed,
  decodeRows,
  type EncodedRow,
  encodeNamed,
  encodeRows,
  plainAttemptColumns,
  plainRequestColumns,
} from '../../../src/store/sqlite/writer/row-codec.ts';
import { attemptFailure, attemptTrace, requestTrace } from '../../support/traces.ts';

const full = requestTrace({
  dropped: ['logit_bias'],
  tags: { team: 'search', note: 'a\nb "c" \u0000 \ud83d\ude00' },
  isStream: true,
  isFailedOver: true,
  attempts: [
    attemptTrace({ outcome: 'failed', failure: attemptFailure() }),
    attemptTrace({ n: 2, kind: 'retry' }),
  ],
});

/** Every value by its column's name. */
function valuesOf(names: readonly string[], row: EncodedRow | undefined) {
  return { ...Object.fromEntries(names.map((name, at) => [name, row?.plain[at]])), ...row?.rest };
}

describe('encoded rows', () => {
  it('of a request that the first target served at once name no column', () => {
    const rows = decodeRows(encodeRows(servedColumns, rowsOf(requestTrace())));
    expect(rows.map(({ rest }) => rest)).toEqual([null, null]);
  });

  it('name the columns that hold more than their default, and no other', () => {
    const [request, failed, served] = decodeRows(encodeRows(servedColumns, rowsOf(full)));
    expect(request?.rest).toEqual({
      retry_count: 1,
      failed_over: 1,
      dropped: '["logit_bias"]',
      tags: JSON.stringify(full.tags),
    });
    expect(failed?.rest).toEqual({ error_class: 'overload', message: 'Overloaded' });
    expect(served?.rest).toBeNull();
  });

  it('are one line whatever the texts hold', () => {
    expect(encodeRows(servedColumns, rowsOf(full))).not.toContain('\n');
  });

  it('come back from the spill as they were', () => {
    const line = encodeRows(servedColumns, rowsOf(full));
    expect(decodeNamed(servedColumns, JSON.parse(encodeNamed(line)))).toBe(line);
  });

  it('of a version with more columns lose only those', () => {
    const line = encodeRows(servedColumns, rowsOf(full));
    const { request, attempts } = JSON.parse(encodeNamed(line));
    const later = { request: { ...request, mood: 'good' }, attempts };
    expect(decodeNamed(servedColumns, later)).toBe(line);
  });

  it('of a version with fewer columns hold null there', () => {
    const line = encodeRows(servedColumns, rowsOf(requestTrace()));
    const { request, attempts } = JSON.parse(encodeNamed(line));
    const { retry_budget: _, ...earlier } = attempts[0];
    const read = decodeNamed(servedColumns, { request, attempts: [earlier] });
    const [, attempt] = decodeRows(read ?? '');
    expect(valuesOf(plainAttemptColumns, attempt)).toEqual({ ...attempts[0], retry_budget: null });
  });

  it.each([
    [{}],
    [{ request: null, attempts: [] }],
    [{ request: { id: 7 }, attempts: [] }],
    [{ request: { id: 'a' } }],
  ])('are not made of %j', (value) => expect(decodeNamed(servedColumns, value)).toBeNull());
});

/** For each column a row that holds something in it alone, whatever the column's type. */
describe('every column', () => {
  const { request, attempts } = rowsOf(requestTrace());
  const [attempt] = attempts;

  function encodedWith(rows: Partial<ServedRows>): readonly EncodedRow[] {
    return decodeRows(encodeRows(servedColumns, { request, attempts, ...rows }));
  }
  function distinct(value: unknown): unknown {
    if (typeof value === 'boolean') return !value;
    if (typeof value === 'number') return value + 1_234;
    if (Array.isArray(value)) return ['distinct'];
    return typeof value === 'object' && value !== null ? { distinct: 'x' } : 'distinct';
  }
  function stored(value: unknown): unknown {
    if (typeof value === 'boolean') return Number(value);
    return typeof value === 'object' ? JSON.stringify(value) : value;
  }

  it.each(Object.entries(request))('of a request arrives under its name: %s', (name, value) => {
    const changed = distinct(value);
    const [row] = encodedWith({ request: { ...request, [name]: changed } });
    expect(valuesOf(plainRequestColumns, row)).toMatchObject({ [name]: stored(changed) });
  });

  it.each(Object.entries(attempt ?? {}))('of an attempt: %s', (name, value) => {
    const changed = distinct(value);
    const [, row] = encodedWith({
      attempts: attempt === undefined ? [] : [{ ...attempt, [name]: changed }],
    });
    expect(valuesOf(plainAttemptColumns, row)).toMatchObject({ [name]: stored(changed) });
  });

  it('is either plain or named', () => {
    const named = [...plainRequestColumns, ...servedColumns.request.names];
    expect(named.toSorted()).toEqual(Object.keys(request).toSorted());
    const namedOfAttempt = [...plainAttemptColumns, ...servedColumns.attempt.names];
    expect(namedOfAttempt.toSorted()).toEqual(Object.keys(attempt ?? {}).toSorted());
  });
});
