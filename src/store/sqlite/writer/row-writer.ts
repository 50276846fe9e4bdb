/** Writes batches of rows, each in one transaction. Runs in the writer thread; synchronous. */
import type { Connection, Statement } from '../connection.ts';
import {
  decodeRows,
  type EncodedRow,
  plainAttemptColumns,
  plainRequestColumns,
  type SqlValue,
} from './row-codec.ts';
import { SlotIndex } from './slot-index.ts';
import type { Batch, Marker, RefusedRow } from './writer-protocol.ts';

/** One row that the database refuses for what it holds: the batch goes on without it. */
const faultOfTheRow = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)/;

/** Rows differ in which columns they fill; a process sees some dozens of such shapes. */
const shapesMax = 500;

export class RowWriter {
  readonly #connection: Connection;
  readonly #requests: ShapedInsert;
  readonly #attempts: ShapedInsert;
  readonly #addMarker: Statement;
  readonly #dropMarker: Statement;
  readonly #slots: SlotIndex;
  readonly #commit: (batch: Batch) => RefusedRow[];
  readonly #restore: (rows: readonly string[], left: readonly Marker[]) => RefusedRow[];
  readonly #adopt: (instance: string) => number;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#requests = new ShapedInsert({
      connection,
      table: 'requests',
      columns: plainRequestColumns,
      onConflict: 'on conflict (id) do nothing',
    });
    this.#attempts = new ShapedInsert({
      connection,
      table: 'attempts',
      columns: ['request_seq', ...plainAttemptColumns],
      onConflict: '',
    });
    this.#addMarker = connection.prepare(
      `insert into markers (id, instance, client_request_id, started_at, tier, key_id)
       values (?, ?, ?, ?, ?, ?) on conflict (id) do nothing`,
    );
    this.#dropMarker = connection.prepare('delete from markers where id = ?');
    this.#slots = new SlotIndex(connection);
    this.#commit = connection.transaction((batch: Batch) => this.#writeBatch(batch)).immediate;
    this.#restore = connection.transaction((rows: readonly string[], left: readonly Marker[]) =>
      this.#writeSpilled(rows, left),
    ).immediate;
    this.#adopt = connection.transaction((instance: string) => this.#writeLost(instance)).immediate;
  }

  /**
   * Commits the batch whole. Rows already there are left as they are. Gives the faults of rows that the
   * database refuses for what they hold; throws, with nothing written, when the database itself fails.
   */
  commit(batch: Batch): RefusedRow[] {
    return this.#run(() => this.#commit(batch));
  }

  /** Commits rows and markers that were spilled; a row's own marker goes with it. Otherwise as `commit`. */
  restore(rows: readonly string[], left: readonly Marker[]): RefusedRow[] {
    return this.#run(() => this.#restore(rows, left));
  }

  /** Writes one small fact: throws when the database takes none. */
  check(instance: string): void {
    this.#connection
      .prepare(
        `insert into meta (key, value) values ('served_by_writer', ?)
         on conflict (key) do update set value = excluded.value`,
      )
      .run(instance);
  }

  /** Makes rows `lost` of markers that other processes left; gives their number. */
  adoptMarkers(instance: string): number {
    return this.#run(() => this.#adopt(instance));
  }

  #run<Value>(transaction: () => Value): Value {
    try {
      return transaction();
    } catch (error) {
      this.#slots.forget();
      throw error;
    }
  }

  #writeBatch(batch: Batch): RefusedRow[] {
    const refused: RefusedRow[] = [];
    for (const marker of batch.markers) this.#mark(marker);
    for (const [at, line] of batch.rows.entries()) this.#writeLine(line, at, refused);
    for (const id of batch.ended) this.#dropMarker.run(id);
    return refused;
  }

  #writeSpilled(rows: readonly string[], left: readonly Marker[]): RefusedRow[] {
    const refused: RefusedRow[] = [];
    for (const marker of left) this.#mark(marker);
    for (const [at, line] of rows.entries()) {
      this.#writeLine(line, at, refused);
      this.#dropMarker.run(idOf(line));
    }
    return refused;
  }

  #writeLost(instance: string): number {
    const lost = `insert into requests
      (id, client_request_id, started_at, tier, key_id, outcome)
      select id, client_request_id, started_at, tier, key_id, 'lost' from markers
      where instance <> ? on conflict (id) do nothing`;
    const { changes } = this.#connection.prepare(lost).run(instance);
    this.#slots.addLost(instance);
    this.#connection.prepare('delete from markers where instance <> ?').run(instance);
    return changes;
  }

  #mark(marker: Marker): void {
    const { id, instance, clientRequestId, startedAtMs, tier, keyId } = marker;
    this.#addMarker.run(id, instance, clientRequestId, startedAtMs, tier, keyId);
  }

  #writeLine(line: string, at: number, refused: RefusedRow[]): void {
    try {
      this.#writeRows(decodeRows(line));
    } catch (error) {
      if (!isFaultOfTheRow(error)) throw error;
      refused.push({ at, message: error instanceof Error ? error.message : 'refused' });
    }
  }

  #writeRows([request, ...attemptRows]: readonly EncodedRow[]): void {
    if (request === undefined) return;
    const { changes, lastInsertRowid } = this.#requests.run([], request);
    if (changes === 0) return;
    for (const attempt of attemptRows) this.#attempts.run([lastInsertRowid], attempt);
    this.#slots.add(request.plain);
  }
}

function isFaultOfTheRow(error: unknown): boolean {
  const code: unknown = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  if (error instanceof TypeError || error instanceof RangeError) return true;
  return error instanceof SyntaxError || (typeof code === 'string' && faultOfTheRow.test(code));
}

function idOf(line: string): string {
  const [request] = decodeRows(line);
  return String(request?.plain[plainRequestColumns.indexOf('id')] ?? '');
}

/** Inserts rows of one table, with one prepared statement per set of columns that rows fill. */
class ShapedInsert {
  readonly #connection: Connection;
  readonly #table: string;
  readonly #columns: readonly string[];
  readonly #onConflict: string;
  readonly #plain: Statement;
  readonly #shaped = new Map<string, Statement>();

  constructor(options: {
    readonly connection: Connection;
    readonly table: string;
    /** Those that every row fills, in the order of its values. */
    readonly columns: readonly string[];
    readonly onConflict: string;
  }) {
    this.#connection = options.connection;
    this.#table = options.table;
    this.#columns = options.columns;
    this.#onConflict = options.onConflict;
    this.#plain = this.#prepare([]);
  }

  /** `first` goes before the row's plain values. */
  run(first: readonly (number | bigint)[], { plain, rest }: EncodedRow) {
    if (rest === null) return this.#plain.run(first, plain);
    const names = Object.keys(rest);
    const values: SqlValue[] = Object.values(rest);
    return this.#statementFor(names).run(first, plain, values);
  }

  #statementFor(names: readonly string[]): Statement {
    const shape = names.join();
    const known = this.#shaped.get(shape);
    if (known !== undefined) return known;
    const made = this.#prepare(names);
    if (this.#shaped.size >= shapesMax) this.#shaped.clear();
    this.#shaped.set(shape, made);
    return made;
  }

  #prepare(restNames: readonly string[]): Statement {
    const names = [...this.#columns, ...restNames];
    const places = names.map(() => '?').join(', ');
    return this.#connection.prepare(
      `insert into ${this.#table} (${names.join(', ')}) values (${places}) ${this.#onConflict}`,
    );
  }
}
