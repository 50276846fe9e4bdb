/** What every store of config versions must do. */
import { describe, expect, it } from 'vitest';
import type { Revision, RevisionStore } from '../../../src/routing/revision-store.ts';

export type RevisionStoreSubject = {
  readonly name: string;
  /** An empty store. */
  readonly open: () => RevisionStore;
};

function revision(parts: Partial<Revision> = {}): Omit<Revision, 'version'> {
  return {
    hash: 'h1',
    document: { tiers: { fast: { targets: [] } } },
    prompts: { 'fast.p1': 'Be brief.' },
    author: 'cli',
    note: null,
    createdAtMs: 1_000,
    ...parts,
  };
}

export function describeRevisionStore(subject: RevisionStoreSubject): void {
  describe(`config versions in ${subject.name}`, () => {
    it('begin with none', () => {
      const store = subject.open();
      expect(store.latest()).toBeNull();
      expect(store.get(1)).toBeNull();
    });

    it('count from 1, one by one, and come back as they were', () => {
      const store = subject.open();
      const second = revision({ hash: 'h2', note: 'less words', prompts: {} });
      expect(store.append(revision(), 0)).toEqual({ ...revision(), version: 1 });
      expect(store.append(second, 1)).toEqual({ ...second, version: 2 });
      expect(store.latest()).toEqual({ ...second, version: 2 });
      expect(store.get(1)).toEqual({ ...revision(), version: 1 });
      expect(store.get(3)).toBeNull();
    });

    it('refuse a change made to an older version, and keep nothing of it', () => {
      const store = subject.open();
      store.append(revision(), 0);
      store.append(revision({ hash: 'h2' }), 1);
      expect(store.append(revision({ hash: 'late' }), 1)).toBe('conflict');
      expect(store.append(revision({ hash: 'early' }), 7)).toBe('conflict');
      expect(store.latest()).toMatchObject({ version: 2, hash: 'h2' });
    });

    it('keep the words of each prompt as they were under each version', () => {
      const store = subject.open();
      store.append(revision({ prompts: { a: 'one', b: 'same', c: '' } }), 0);
      store.append(revision({ prompts: { a: 'two', b: 'same', __proto__x: 'same' } }), 1);
      expect(store.get(1)?.prompts).toEqual({ a: 'one', b: 'same', c: '' });
      expect(store.get(2)?.prompts).toEqual({ a: 'two', b: 'same', __proto__x: 'same' });
    });
  });
}
