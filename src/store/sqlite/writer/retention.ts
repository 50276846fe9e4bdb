/** Deletes old rows in small portions and gives the space back. Runs in the writer thread. */
import type { Connection } from '../connection.ts';
import type { KeyIndex } from './key-index.ts';
import { type OriginWriter, prunedOriginsMax } from './origin-writer.ts';
import { slotMs } from './slot-index.ts';

/** Rows a portion: one transaction that live rows wait for, so that it stays well under 20 ms. */
export const prunedRowsMax = 50;
/** Free pages (4 kB) given back to the file system after each portion. */
const freedPages = 50;

/**
 * Deletes up to `prunedRowsMax` of the requests that began before `beforeMs`, the oldest first, each with
 * its attempts; what else is that old: markers and slots; and a portion of the origins that are too old.
 */
export function prunePortion(
  database: {
    readonly connection: Connection;
    readonly keys: KeyIndex;
    readonly origins: OriginWriter;
  },
  limits: { readonly beforeMs: number; readonly originsBeforeMs: number },
): { readonly deleted: number; readonly isDone: boolean } {
  const { connection, keys, origins } = database;
  const deleted = connection
    .transaction(() => deleteOldest(connection, keys, limits.beforeMs))
    .immediate();
  const forgotten = origins.prune(limits.originsBeforeMs);
  connection.pragma(`incremental_vacuum(${freedPages})`);
  return { deleted, isDone: deleted < prunedRowsMax && forgotten < prunedOriginsMax };
}

function deleteOldest(connection: Connection, keys: KeyIndex, beforeMs: number): number {
  const old = connection
    .prepare(
      `select seq from requests where started_at < ? order by started_at limit ${prunedRowsMax}`,
    )
    .pluck()
    .all(beforeMs)
    .map(Number);
  const dropAttempts = connection.prepare(`delete from attempts where request_seq = ?`);
  const dropRequest = connection.prepare(`delete from requests where seq = ?`);
  for (const seq of old) {
    keys.remove(seq);
    dropAttempts.run(seq);
    dropRequest.run(seq);
  }
  if (old.length > 0) keys.lowerToLast();
  connection.prepare(`delete from markers where started_at < ?`).run(beforeMs);
  connection.prepare(`delete from served_slots where slot_at < ?`).run(beforeMs - slotMs);
  return old.length;
}
