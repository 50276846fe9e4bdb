/** Who may do what: presented credentials against the hashes of the keys that exist. */
import { hash, timingSafeEqual } from 'node:crypto';

export type Scope = 'call' | 'log' | 'admin';

export type Principal = {
  /** Goes into rows as `key_id`. Never derived from the secret. */
  readonly keyId: string;
  readonly scopes: readonly Scope[];
};

export type Access = {
  /** The first presented credential that is a key, or null. Constant time in the secret; each is tried. */
  readonly identify: (presented: readonly string[]) => Principal | null;
  /** Whether a key with scope `call` exists: the data plane on loopback is open until then. */
  readonly hasCallKey: () => boolean;
};

export type AccessKey = Principal & {
  /** SHA-256 of the secret. */
  readonly hash: Buffer;
};

/** Whether `principal` may do what needs `scope`; `admin` may do everything. */
export function isAllowed(principal: Principal, scope: Scope): boolean {
  return principal.scopes.includes(scope) || principal.scopes.includes('admin');
}

/** SHA-256 of `secret`: what is stored and compared instead of the secret. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** A fixed set of keys. Keys are compared by hash, all of them, so the time tells nothing. */
export function createAccess(keys: readonly AccessKey[]): Access {
  const hasCallKey = keys.some((key) => key.scopes.includes('call'));
  return {
    identify: (presented) => identifyAmong(keys, presented),
    hasCallKey: () => hasCallKey,
  };
}

function identifyAmong(keys: readonly AccessKey[], presented: readonly string[]): Principal | null {
  let found: AccessKey | null = null;
  for (const secret of presented) {
    const presentedHash = hashSecret(secret);
    for (const key of keys) {
      if (timingSafeEqual(presentedHash, key.hash) && found === null) found = key;
    }
  }
  return found;
}
