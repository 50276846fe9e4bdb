/** The port that keeps config versions: each is immutable, numbers rise by one. */
import type { JsonObject } from '../base/json.ts';

export type Revision = {
  readonly version: number;
  /** SHA-256 of the canonical document. */
  readonly hash: string;
  readonly document: JsonObject;
  /** Prompt sources by name, as they were under this version. */
  readonly prompts: { readonly [name: string]: string };
  readonly author: string;
  readonly note: string | null;
  readonly createdAtMs: number;
};

export type RevisionStore = {
  readonly latest: () => Revision | null;
  /** Null when `version` is unknown. */
  readonly get: (version: number) => Revision | null;
  /** Stores the next version; fails when another writer took the number. */
  readonly append: (
    revision: Omit<Revision, 'version'>,
    previousVersion: number,
  ) => Revision | 'conflict';
};
