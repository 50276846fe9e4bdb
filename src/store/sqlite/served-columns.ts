/** The columns of the served-by log, read from the schema for whoever writes rows without it. */

import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { getTableColumns } from './drizzle.ts';
import { attempts, requests } from './schema.ts';
import { type Columns, columnsMax, type ServedColumns, sqlValueOf } from './writer/row-codec.ts';

export const servedColumns: ServedColumns = {
  request: columnsOf(requests, 'seq'),
  attempt: columnsOf(attempts, 'request_seq'),
};

function columnsOf(table: SQLiteTable, withoutKey: string): Columns {
  const columns = Object.values(getTableColumns(table)).filter(({ name }) => name !== withoutKey);
  if (columns.length > columnsMax) throw new Error(`more than ${columnsMax} columns`);
  return {
    names: columns.map(({ name }) => name),
    defaults: columns.map((column) => sqlValueOf(column.default)),
  };
}
