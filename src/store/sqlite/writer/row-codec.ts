/**
 * Rows as one short text each, for the way to the writer thread. A row is mostly nulls and defaults, so
 * only what differs travels: a bit mask of the columns that follow, then their values. Measured against
 * plain JSON, arrays and structured clone, this is the cheapest on both threads.
 */
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import type { ServedRows } from '../../../served-by/row.ts';

export type SqlValue = string | number | null;

/** Column names in table order, each with the value that need not be written. */
export type Columns = { readonly names: readonly string[]; readonly defaults: readonly SqlValue[] };

/** Two bit masks of 30 columns each (bit 0 of `low` = the first column), then the values in order. */
export type MaskedRow = readonly [low: number, high: number, ...values: SqlValue[]];

const bitsPerMask = 30;
/** What two masks can name. */
export const columnsMax = 2 * bitsPerMask;

/** The columns of both tables, without the keys that the database gives. */
export type ServedColumns = { readonly request: Columns; readonly attempt: Columns };

/**
 * One line: `[request, attempt, attempt, ...]`, each a `MaskedRow`. Holds no line break. Reads rows by
 * position, which costs a third less than by name: the columns are in the order of the rows' fields.
 */
export function encodeRows(columns: ServedColumns, rows: ServedRows): string {
  const masked: MaskedRow[] = [maskedOf(columns.request, Object.values(rows.request))];
  for (const attempt of rows.attempts)
    masked.push(maskedOf(columns.attempt, Object.values(attempt)));
  return JSON.stringify(masked);
}

/** Only for what `encodeRows` made. */
export function decodeRows(line: string): readonly MaskedRow[] {
  return JSON.parse(line) as readonly MaskedRow[];
}

/** The names that a row's masks stand for, in the order of its values. */
export function namesOf(columns: Columns, low: number, high: number): string[] {
  return columns.names.filter((_, at) =>
    at < bitsPerMask ? (low >>> at) & 1 : (high >>> (at - bitsPerMask)) & 1,
  );
}

/** The same rows under their column names, one line of JSON: for the spill, which a later version may read. */
export function encodeNamed(columns: ServedColumns, line: string): string {
  const [request, ...attemptRows] = decodeRows(line);
  return JSON.stringify({
    request: request === undefined ? {} : namedOf(columns.request, request),
    attempts: attemptRows.map((row) => namedOf(columns.attempt, row)),
  });
}

/** Back from the parsed text of `encodeNamed`; null when it holds no rows. Unknown names are left out. */
export function decodeNamed(columns: ServedColumns, value: JsonObject): string | null {
  const request = value['request'];
  const attemptRows = value['attempts'];
  if (!isJsonObject(request) || typeof request['id'] !== 'string') return null;
  if (!Array.isArray(attemptRows)) return null;
  const masked = [maskedOf(columns.request, valuesOf(columns.request, request))];
  for (const row of attemptRows)
    if (isJsonObject(row)) masked.push(maskedOf(columns.attempt, valuesOf(columns.attempt, row)));
  return JSON.stringify(masked);
}

function valuesOf(columns: Columns, row: JsonObject): unknown[] {
  return columns.names.map((name) => row[name]);
}

/** `values` in the order of the columns. */
function maskedOf({ defaults }: Columns, values: readonly unknown[]): MaskedRow {
  const masked: [number, number, ...SqlValue[]] = [0, 0];
  let low = 0;
  let high = 0;
  for (let at = 0; at < values.length; at += 1) {
    const raw = values[at];
    if (raw === null) continue;
    const value = typeof raw === 'string' ? raw : sqlValueOf(raw);
    if (value === null || value === defaults[at]) continue;
    if (at < bitsPerMask) low |= 1 << at;
    else high |= 1 << (at - bitsPerMask);
    masked.push(value);
  }
  masked[0] = low;
  masked[1] = high;
  return masked;
}

function namedOf(columns: Columns, row: MaskedRow): { readonly [name: string]: SqlValue } {
  const [low, high, ...values] = row;
  return Object.fromEntries(
    namesOf(columns, low, high).map((name, at) => [name, values[at] ?? null]),
  );
}

/** Empty lists and objects are null, and so is what SQL has no value for. */
export function sqlValueOf(value: unknown): SqlValue {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : null;
    case 'boolean':
      return value ? 1 : 0;
    case 'object':
      return value === null || isEmpty(value) ? null : JSON.stringify(value);
    default:
      return null;
  }
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
