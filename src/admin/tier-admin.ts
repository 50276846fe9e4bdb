/** Use cases of the control plane for tiers: read, replace, with optimistic locking. */
import type { JsonObject } from '../base/json.ts';

export type ConfigFault = { readonly path: string; readonly message: string };

export type TierView = {
  readonly name: string;
  readonly version: number;
  /** As the document has it. */
  readonly config: JsonObject;
  /** With every default filled in. */
  readonly effective: JsonObject;
  /** Hash of this tier's config, quoted, as sent in `ETag`. */
  readonly etag: string;
};

/** What `If-Match` / `If-None-Match` demanded of the tier as it is. */
export type WriteCondition =
  | { readonly kind: 'any' }
  | { readonly kind: 'etags'; readonly etags: readonly string[] }
  | { readonly kind: 'must_not_exist' };

export type TierWrite = {
  readonly name: string;
  readonly config: JsonObject;
  readonly condition: WriteCondition;
  readonly author: string;
  readonly note: string | null;
};

/** What a draft would do; `diff` is one line a change. */
export type TierCheck = {
  readonly valid: boolean;
  readonly errors: readonly ConfigFault[];
  readonly warnings: readonly ConfigFault[];
  readonly diff: readonly string[];
};

export type TierWriteResult =
  | { readonly kind: 'saved'; readonly view: TierView; readonly isNew: boolean }
  | { readonly kind: 'invalid'; readonly errors: readonly ConfigFault[] }
  /** The condition does not hold; null = there is no such tier. */
  | { readonly kind: 'stale'; readonly etag: string | null }
  /** The file is the truth; `file` names it. */
  | { readonly kind: 'read_only'; readonly file: string }
  /** The version could not be stored; the running config is unchanged. */
  | { readonly kind: 'unavailable'; readonly message: string };

export type TierAdmin = {
  /** In document order. */
  readonly list: () => readonly TierView[];
  readonly get: (name: string) => TierView | null;
  /** The whole document as it runs. */
  readonly document: () => { readonly version: number; readonly config: JsonObject };
  /** Validated whole, stored as a new version, then swapped; a bad document changes nothing. */
  readonly replace: (write: TierWrite) => TierWriteResult;
  readonly check: (draft: { readonly name: string; readonly config: JsonObject }) => TierCheck;
};
