/** Keeps `served_slots`: which combinations of tier, target and version occur in which half hour. */
import type { Connection, Statement } from '../connection.ts';
import { type Columns, type MaskedRow, namesOf, type SqlValue } from './row-codec.ts';

export const slotMs = 30 * 60_000;

/** Combinations remembered as written; beyond it the memory starts anew, which costs a statement each. */
const rememberedMax = 5_000;

const dimensions = ['tier', 'provider', 'target', 'model', 'variant'] as const;

export class SlotIndex {
  readonly #columns: Columns;
  readonly #insert: Statement;
  readonly #insertLost: Statement;
  readonly #places = new Map<string, ReadonlyMap<string, number>>();
  readonly #written = new Set<string>();

  constructor(connection: Connection, requestColumns: Columns) {
    this.#columns = requestColumns;
    this.#insert = connection.prepare(
      `insert into served_slots (slot_at, tier, provider, target, model, variant, config_version)
       values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    );
    this.#insertLost = connection.prepare(
      `insert into served_slots (slot_at, tier, provider, target, model, variant, config_version)
       select distinct started_at - started_at % ${slotMs}, tier, '', '', '', '', 0
       from markers where instance <> ? on conflict do nothing`,
    );
  }

  /** Within the transaction that writes `row`. */
  add(row: MaskedRow): void {
    const places = this.#placesOf(row[0], row[1]);
    const valueAt = (name: string): SqlValue => {
      const place = places.get(name);
      return place === undefined ? null : (row[place] ?? null);
    };
    const startedAt = Number(valueAt('started_at') ?? 0);
    const slotAt = startedAt - (startedAt % slotMs);
    const texts = dimensions.map((name) => valueAt(name) ?? '');
    const version = valueAt('config_version') ?? 0;
    const key = `${slotAt}\n${texts.join('\n')}\n${version}`;
    if (this.#written.has(key)) return;
    this.#insert.run(slotAt, ...texts, version);
    if (this.#written.size >= rememberedMax) this.#written.clear();
    this.#written.add(key);
  }

  /** Within the transaction that makes rows `lost` of the markers of other instances. */
  addLost(instance: string): void {
    this.#insertLost.run(instance);
  }

  /** A transaction was rolled back: what it wrote is unknown. */
  forget(): void {
    this.#written.clear();
  }

  /** Where each named column stands in a row of this shape. */
  #placesOf(low: number, high: number): ReadonlyMap<string, number> {
    const shape = `${low},${high}`;
    const known = this.#places.get(shape);
    if (known !== undefined) return known;
    const made = new Map(
      namesOf(this.#columns, low, high).map((name, at) => [name, at + 2] as const),
    );
    if (this.#places.size >= rememberedMax) this.#places.clear();
    this.#places.set(shape, made);
    return made;
  }
}
