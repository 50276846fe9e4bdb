/** A small text under a name in the database, for a process that goes on without it when the database cannot be used. */
import type { Log } from '../base/log-port.ts';
import { StoreUnavailableError } from './sqlite/database-access.ts';
import type { MetaStore } from './sqlite/meta-store.ts';

export type KeptText = {
  /** Null when nothing was kept, or it cannot be read now. */
  readonly read: () => string | null;
  /** False, with a line in the log, when it could not be kept. */
  readonly write: (text: string) => boolean;
};

export function keptText(meta: MetaStore, name: string, log: Log): KeptText {
  const attempt = <Value>(work: () => Value): Value | null => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      log.warn('the database cannot be used for what is kept between starts', {
        name,
        reason: error.fault.message,
      });
      return null;
    }
  };
  return {
    read: () => attempt(() => meta.get(name)),
    write: (text) =>
      attempt(() => {
        meta.set(name, text);
        return true;
      }) ?? false,
  };
}
