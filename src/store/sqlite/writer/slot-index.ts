/** Keeps `served_slots`: which combinations of tier, target and version occur in which half hour. */
import type { Connection, Statement } from '../connection.ts';
import { plainRequestColumns, type SqlValue } from './row-codec.ts';

export const slotMs = 30 * 60_000;

/** Combinations remembered as written; beyond it the memory starts anew, which costs a statement each. */
const rememberedMax = 5_000;

const placeOf = (name: (typeof plainRequestColumns)[number]): number =>
  plainRequestColumns.indexOf(name);
const startedAt = placeOf('started_at');
const tier = placeOf('tier');
const provider = placeOf('provider');
const target = placeOf('target');
const model = placeOf('model');
const variant = placeOf('variant');
const version = placeOf('config_version');

export class SlotIndex {
  readonly #insert: Statement;
  readonly #insertLost: Statement;
  readonly #written = new Set<string>();

  constructor(connection: Connection) {
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

  /** Within the transaction that writes the request with these plain values. */
  add(plain: readonly SqlValue[]): void {
    const startedAtMs = Number(plain[startedAt]);
    const slotAtMs = startedAtMs - (startedAtMs % slotMs);
    const key = `${slotAtMs}\n${plain[tier]}\n${plain[target]}\n${plain[variant]}\n${plain[version]}\n${plain[provider]}\n${plain[model]}`;
    if (this.#written.has(key)) return;
    this.#insert.run(
      slotAtMs,
      plain[tier] ?? '',
      plain[provider] ?? '',
      plain[target] ?? '',
      plain[model] ?? '',
      plain[variant] ?? '',
      plain[version] ?? 0,
    );
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
}
