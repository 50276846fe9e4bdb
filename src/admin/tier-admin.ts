/** Use cases of the control plane for tiers: read, replace, with optimistic locking. */
import type { JsonObject } from '../base/json.ts';
import { unreachable } from '../base/unreachable.ts';
import type { LiveConfig } from '../routing/live-config.ts';

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

export type TierWrite = {
  readonly name: string;
  readonly config: JsonObject;
  /** The headers as they came; null = absent. */
  readonly ifMatch: string | null;
  readonly ifNoneMatch: string | null;
  readonly author: string;
  readonly note: string | null;
};

/** What a draft would do. */
export type TierCheck = {
  readonly valid: boolean;
  readonly errors: readonly ConfigFault[];
  readonly warnings: readonly ConfigFault[];
  readonly diff: readonly JsonObject[];
};

export type TierWriteResult =
  | {
      readonly kind: 'saved';
      readonly view: TierView;
      readonly isNew: boolean;
      readonly warnings: readonly ConfigFault[];
    }
  | { readonly kind: 'invalid'; readonly errors: readonly ConfigFault[] }
  /** The condition does not hold; null = there is no such tier. */
  | { readonly kind: 'stale'; readonly etag: string | null }
  | { readonly kind: 'condition_missing' }
  /** Another process stored a version first. */
  | { readonly kind: 'conflict' }
  /** The file is the truth; `file` names it. */
  | { readonly kind: 'read_only'; readonly file: string };

export type TierAdmin = {
  /** In document order. */
  readonly list: () => readonly TierView[];
  readonly get: (name: string) => TierView | null;
  /** The whole document as it runs. */
  readonly document: () => { readonly version: number; readonly config: JsonObject };
  /** Validated whole, stored as a new version, then swapped; a bad document changes nothing. */
  readonly replace: (write: TierWrite) => Promise<TierWriteResult>;
  readonly check: (draft: {
    readonly name: string;
    readonly config: JsonObject;
  }) => Promise<TierCheck>;
};

/** On the config in force. `file` = the document's name where the file is the truth, else null. */
export function createTierAdmin(config: LiveConfig, file: string | null): TierAdmin {
  return {
    list: () => config.tiers(),
    get: (name) => config.tier(name),
    document: () => {
      const { version, document } = config.current();
      return { version, config: document };
    },
    replace: async (write) =>
      file === null ? replaceIn(config, write) : { kind: 'read_only', file },
    check: async (draft) => {
      const preview = await config.previewTier(draft);
      return {
        valid: preview.isValid,
        errors: preview.faults,
        warnings: preview.warnings,
        diff: preview.changes,
      };
    },
  };
}

async function replaceIn(config: LiveConfig, write: TierWrite): Promise<TierWriteResult> {
  const result = await config.replaceTier(write);
  switch (result.kind) {
    case 'applied': {
      const view = config.tier(write.name);
      // A later change may have removed it before this answer was written.
      if (view === null) return { kind: 'conflict' };
      return { kind: 'saved', view, isNew: result.isCreated, warnings: result.warnings };
    }
    case 'invalid':
      return { kind: 'invalid', errors: result.faults };
    case 'stale':
    case 'unknown_tier':
      return { kind: 'stale', etag: config.tier(write.name)?.etag ?? null };
    case 'precondition_required':
      return { kind: 'condition_missing' };
    case 'conflict':
      return { kind: 'conflict' };
    default:
      return unreachable(result);
  }
}
