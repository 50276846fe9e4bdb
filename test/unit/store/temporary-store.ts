/** Databases and directories that a test throws away. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { RequestTrace } from '../../../src/engine/trace.ts';
import { rowsOf } from '../../../src/served-by/record.ts';
import type { Connection } from '../../../src/store/sqlite/connection.ts';
import { openDatabase } from '../../../src/store/sqlite/open-database.ts';
import { servedColumns } from '../../../src/store/sqlite/served-columns.ts';
import { encodeRows } from '../../../src/store/sqlite/writer/row-codec.ts';
import type { Marker } from '../../../src/store/sqlite/writer/writer-protocol.ts';
import { requestTrace } from '../../support/traces.ts';

/** Removed when the test ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tiergate-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** An empty database with its tables; in memory unless a file is named. */
export function temporaryDatabase(file = ':memory:'): Connection {
  const opened = openDatabase({ file, busyTimeoutMs: 0 });
  if (!opened.ok) throw new Error(opened.fault.message);
  onTestFinished(() => {
    opened.value.close();
  });
  return opened.value;
}

export function encodedTrace(parts: Partial<RequestTrace> = {}): string {
  return encodeRows(servedColumns, rowsOf(requestTrace(parts)));
}

export function markerOf(parts: Partial<Marker> = {}): Marker {
  return {
    id: '019b7600-0000-7000-8000-00000000000a',
    instance: 'other',
    clientRequestId: null,
    startedAtMs: 1_000,
    tier: 'fast',
    keyId: null,
    ...parts,
  };
}

export function countOf(connection: Connection, table: string): number {
  return Number(connection.prepare(`select count(*) from ${table}`).pluck().get());
}
