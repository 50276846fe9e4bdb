/** Config versions in the database; a prompt that many versions share is kept once. */

import { createHash } from 'node:crypto';
import type { Revision, RevisionStore } from '../../routing/revision-store.ts';
import type { DatabaseAccess, Orm } from './database-access.ts';
import { desc, eq, inArray } from './drizzle.ts';
import { configVersions, promptVersions } from './schema.ts';

type StoredRevision = typeof configVersions.$inferSelect;

/** Its methods throw `StoreUnavailableError` when the database cannot be used. */
export function createRevisionStore(access: DatabaseAccess): RevisionStore {
  return {
    latest: () =>
      access.write((orm) =>
        revisionOf(
          orm,
          orm.select().from(configVersions).orderBy(desc(configVersions.version)).limit(1).get(),
        ),
      ),
    get: (version) =>
      access.write((orm) =>
        revisionOf(
          orm,
          orm.select().from(configVersions).where(eq(configVersions.version, version)).get(),
        ),
      ),
    append: (revision, previousVersion) =>
      access.write((orm) =>
        orm.transaction(
          () =>
            latestVersion(orm) === previousVersion
              ? write(orm, revision, previousVersion + 1)
              : 'conflict',
          { behavior: 'immediate' },
        ),
      ),
  };
}

function latestVersion(orm: Orm): number {
  const last = orm
    .select({ version: configVersions.version })
    .from(configVersions)
    .orderBy(desc(configVersions.version))
    .limit(1)
    .get();
  return last?.version ?? 0;
}

function write(orm: Orm, revision: Omit<Revision, 'version'>, version: number): Revision {
  const hashes: { [name: string]: string } = {};
  for (const [name, source] of Object.entries(revision.prompts)) {
    const hash = createHash('sha256').update(source).digest('hex');
    hashes[name] = hash;
    orm.insert(promptVersions).values({ hash, source }).onConflictDoNothing().run();
  }
  orm
    .insert(configVersions)
    .values({
      version,
      hash: revision.hash,
      document: revision.document,
      prompts: hashes,
      author: revision.author,
      note: revision.note,
      created_at: Math.round(revision.createdAtMs),
    })
    .run();
  return { ...revision, version };
}

function revisionOf(orm: Orm, stored: StoredRevision | undefined): Revision | null {
  if (stored === undefined) return null;
  const { created_at, prompts: hashes, ...rest } = stored;
  const sources = new Map(
    orm
      .select()
      .from(promptVersions)
      .where(inArray(promptVersions.hash, Object.values(hashes)))
      .all()
      .map(({ hash, source }) => [hash, source]),
  );
  const prompts = Object.fromEntries(
    Object.entries(hashes).map(([name, hash]) => [name, sources.get(hash) ?? '']),
  );
  return { ...rest, prompts, createdAtMs: created_at };
}
