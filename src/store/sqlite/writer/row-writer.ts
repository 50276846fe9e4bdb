/** Writes batches of rows, each in one transaction. Runs in the writer thread; synchronous. */
import type { Connection, Statement } from '../connection.ts';
import {
  type Columns,
  decodeRows,
  type MaskedRow,
  namesOf,
  type ServedColumns,
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

  constructor(connection: Connection, columns: ServedColumns) {
    this.#connection = connection;
    this.#requests = new ShapedInsert({
      connection,
      table: 'requests',
      columns: columns.request,
      onConflict: 'on conflict (id) do nothing',
    });
    this.#attempts = new ShapedInsert({
      connection,
      table: 'attempts',
      columns: columns.attempt,
      onConflict: '',
      firstColumn: 'request_seq',
    });
    this.#addMarker = connection.prepare(
      `insert into markers (id, instance, client_request_id, started_at, tier, key_id)
       values (?, ?, ?, ?, ?, ?) on conflict (id) do nothing`,
    );
    this.#dropMarker = connection.prepare('delete from markers where id = ?');
    this.#slots = new SlotIndex(connection, columns.request);
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

  #writeRows([request, ...attemptRows]: readonly MaskedRow[]): void {
    if (request === undefined) return;
    const { changes, lastInsertRowid } = this.#requests.run(request, []);
    if (changes === 0) return;
    for (const attempt of attemptRows) this.#attempts.run(attempt, [lastInsertRowid]);
    this.#slots.add(request);
  }
}

function isFaultOfTheRow(error: unknown): boolean {
  const code: unknown = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return error instanceof TypeError || (typeof code === 'string' && faultOfTheRow.test(code));
}

/** The id is the first column and has no default: it is the first value of the first row. */
function idOf(line: string): string {
  return String(decodeRows(line)[0]?.[2] ?? '');
}

/** Inserts rows of one table, with one prepared statement per set of columns that a row fills. */
class ShapedInsert {
  readonly #connection: Connection;
  readonly #columns: Columns;
  readonly #table: string;
  readonly #onConflict: string;
  readonly #firstColumn: string | null;
  readonly #statements = new Map<string, Statement>();

  constructor(options: {
    readonly connection: Connection;
    readonly table: string;
    readonly columns: Columns;
    readonly onConflict: string;
    readonly firstColumn?: string;
  }) {
    this.#connection = options.connection;
    this.#table = options.table;
    this.#columns = options.columns;
    this.#onConflict = options.onConflict;
    this.#firstColumn = options.firstColumn ?? null;
  }

  run([low, high, ...values]: MaskedRow, first: readonly (number | bigint)[]) {
    return this.#statementFor(low, high).run(...first, ...values);
  }

  #statementFor(low: number, high: number): Statement {
    const shape = `${low},${high}`;
    const known = this.#statements.get(shape);
    if (known !== undefined) return known;
    const names = namesOf(this.#columns, low, high);
    if (this.#firstColumn !== null) names.unshift(this.#firstColumn);
    const places = names.map(() => '?').join(', ');
    const made = this.#connection.prepare(
      `insert into ${this.#table} (${names.join(', ')}) values (${places}) ${this.#onConflict}`,
    );
    if (this.#statements.size >= shapesMax) this.#statements.clear();
    this.#statements.set(shape, made);
    return made;
  }
}
