/** Which account made what, kept by the ids that requests bring back. Runs in the writer thread; synchronous. */
import type { Connection } from '../connection.ts';
import type { OriginRow } from './writer-protocol.ts';

/** Deleted in one transaction that live rows wait for. */
export const prunedOriginsMax = 500;

export class OriginWriter {
  readonly #note: (rows: readonly OriginRow[]) => void;
  readonly #prune: (beforeMs: number) => number;

  constructor(connection: Connection) {
    const insert = connection.prepare(
      `insert into origins (id, target, provider, key_alias, is_kept, made_at)
       values (?, ?, ?, ?, ?, ?)
       on conflict (id) do update set target = excluded.target, provider = excluded.provider,
         key_alias = excluded.key_alias, is_kept = excluded.is_kept, made_at = excluded.made_at`,
    );
    this.#note = connection.transaction((rows: readonly OriginRow[]) => {
      for (const { id, target, provider, keyAlias, isKept, madeAtMs } of rows) {
        insert.run(id, target, provider, keyAlias, isKept ? 1 : 0, madeAtMs);
      }
    }).immediate;
    const old = connection.prepare(
      `delete from origins where rowid in
         (select rowid from origins where made_at < ? limit ${prunedOriginsMax})`,
    );
    this.#prune = (beforeMs) => old.run(beforeMs).changes;
  }

  /** All or, when it throws, none. */
  note(rows: readonly OriginRow[]): void {
    this.#note(rows);
  }

  /** Deletes one portion of those made before `beforeMs`; gives their number. */
  prune(beforeMs: number): number {
    return this.#prune(beforeMs);
  }
}
