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
