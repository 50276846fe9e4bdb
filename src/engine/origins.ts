/** Which account made what requests later name by an id: answers and items that it keeps, and reasoning that it alone can read. */
import type { Result } from '../base/result.ts';

/** A target of ours, and the account behind it. */
export type Origin = {
  readonly target: string;
  readonly provider: string;
  /** Null where the provider wants no key. */
  readonly keyAlias: string | null;
  /** Whether the account has it under its id; else it only made it. */
  readonly isKept: boolean;
};

export type Origins = {
  /** Those of `ids` that are known. The fault: it cannot be found out now. */
  readonly find: (ids: readonly string[]) => Result<ReadonlyMap<string, Origin>, string>;
  /**
   * Known to this process from the call on; resolves when a restart does not lose them, or when that
   * cannot be had for now.
   */
  readonly note: (ids: readonly string[], origin: Origin) => Promise<void>;
};

/** Where one request must go, when only one account can serve it. */
export type AccountBinding =
  /** What it goes on with was made there. */
  | { readonly kind: 'made_by'; readonly origin: Origin }
  /** It begins something that is kept: the first target that keeps such things. */
  | { readonly kind: 'first' };

export type Account = Pick<Origin, 'provider' | 'keyAlias'>;

export function isSameAccount(one: Account, other: Account): boolean {
  return one.provider === other.provider && one.keyAlias === other.keyAlias;
}
