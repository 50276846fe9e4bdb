/** Small facts of the installation under names, such as the hash of the admin key. */

import type { DatabaseAccess } from './database-access.ts';
import { eq } from './drizzle.ts';
import { meta } from './schema.ts';

/** Both throw `StoreUnavailableError` when the database cannot be used. */
export type MetaStore = {
  /** Null when nothing was set. */
  readonly get: (key: string) => string | null;
  readonly set: (key: string, value: string) => void;
};

export function createMetaStore(access: DatabaseAccess): MetaStore {
  return {
    get: (key) =>
      access.write((orm) => orm.select().from(meta).where(eq(meta.key, key)).get())?.value ?? null,
    set: (key, value) => {
      access.write((orm) =>
        orm
          .insert(meta)
          .values({ key, value })
          .onConflictDoUpdate({ target: meta.key, set: { value } })
          .run(),
      );
    },
  };
}
