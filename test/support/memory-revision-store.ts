/** Config versions in memory, as the database keeps them. */
import type { Revision, RevisionStore } from '../../src/routing/revision-store.ts';

export class MemoryRevisionStore implements RevisionStore {
  readonly revisions: Revision[] = [];

  readonly latest = (): Revision | null => this.revisions.at(-1) ?? null;

  readonly get = (version: number): Revision | null => this.revisions[version - 1] ?? null;

  readonly append = (
    revision: Omit<Revision, 'version'>,
    previousVersion: number,
  ): Revision | 'conflict' => {
    if (this.revisions.length !== previousVersion) return 'conflict';
    const stored = { ...structuredClone(revision), version: previousVersion + 1 };
    this.revisions.push(stored);
    return stored;
  };
}
