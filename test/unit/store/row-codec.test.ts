/** Rows on their way to the writer thread and through the spill. */
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../../src/base/json.ts';
import { rowsOf } from '../../../src/served-by/record.ts';
import { servedColumns } from '../../../src/store/sqlite/served-columns.ts';
import {
  decodeNamed,
  decodeRows,
  encodeNamed,
  encodeRows,
  namesOf,
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

describe('encoded rows', () => {
  it('leave out what is null or a default, and keep every other value', () => {
    const [request, ...attempts] = decodeRows(encodeRows(servedColumns, rowsOf(full)));
    const [low = 0, high = 0, ...values] = request ?? [0, 0];
    const names = namesOf(servedColumns.request, low, high);
    expect(names).toHaveLength(values.length);
    expect(names).toContain('id');
    expect(names).not.toContain('error_class');
    expect(names).not.toContain('hedged');
    expect(values[names.indexOf('stream')]).toBe(1);
    expect(values[names.indexOf('dropped')]).toBe('["logit_bias"]');
    expect(attempts).toHaveLength(2);
  });

  it('are one line whatever the texts hold', () => {
    expect(encodeRows(servedColumns, rowsOf(full))).not.toContain('\n');
  });

  it('keep a count of zero where the column may be null', () => {
    const usage = { ...full.usage, inputTokens: 0, cachedTokens: null };
    const line = encodeNamed(servedColumns, encodeRows(servedColumns, rowsOf({ ...full, usage })));
    expect(JSON.parse(line)).toMatchObject({ request: { input_tokens: 0 } });
    expect(JSON.parse(line).request).not.toHaveProperty('cached_tokens');
  });

  it('come back from the spill as they were', () => {
    const line = encodeRows(servedColumns, rowsOf(full));
    const parsed: unknown = JSON.parse(encodeNamed(servedColumns, line));
    expect(isJsonObject(parsed) ? decodeNamed(servedColumns, parsed) : null).toBe(line);
  });

  it('of a version with more columns lose only those', () => {
    const line = encodeRows(servedColumns, rowsOf(full));
    const named = JSON.parse(encodeNamed(servedColumns, line)) as {
      request: object;
      attempts: object[];
    };
    const later = { request: { ...named.request, mood: 'good' }, attempts: named.attempts };
    expect(decodeNamed(servedColumns, later)).toBe(line);
  });

  it.each([
    [{}],
    [{ request: null, attempts: [] }],
    [{ request: { id: 7 }, attempts: [] }],
    [{ request: { id: 'a' } }],
  ])('are not made of %j', (value) => expect(decodeNamed(servedColumns, value)).toBeNull());

  it('have the columns in the order of their fields', () => {
    const { request, attempts } = rowsOf(full);
    expect(Object.keys(request)).toEqual(servedColumns.request.names);
    for (const attempt of attempts) {
      expect(Object.keys(attempt)).toEqual(servedColumns.attempt.names);
    }
  });

  it('cover every column of both tables', () => {
    expect(servedColumns.request.names).toHaveLength(51);
    expect(servedColumns.attempt.names).toHaveLength(26);
    const all = 2 ** 30 - 1;
    expect(namesOf(servedColumns.request, all, all)).toEqual(servedColumns.request.names);
    expect(namesOf(servedColumns.request, 0, 0)).toEqual([]);
  });
});
