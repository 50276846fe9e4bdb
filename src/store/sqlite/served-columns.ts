/** The columns of the served-by log that travel by name, read from the schema for whoever writes rows without it. */
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { getTableColumns } from './drizzle.ts';
import { attempts, requests } from './schema.ts';
import {
  plainAttemptColumns,
  plainRequestColumns,
  type RestColumns,
  type ServedColumns,
  sqlValueOf,
} from './writer/row-codec.ts';

export const servedColumns: ServedColumns = {
  request: restColumnsOf(requests, ['seq', ...plainRequestColumns]),
  attempt: restColumnsOf(attempts, ['request_seq', ...plainAttemptColumns]),
};

function restColumnsOf(table: SQLiteTable, without: readonly string[]): RestColumns {
  const columns = Object.values(getTableColumns(table)).filter(
    ({ name }) => !without.includes(name),
  );
  return {
    names: columns.map(({ name }) => name),
    defaults: columns.map((column) => sqlValueOf(column.default)),
  };
}
