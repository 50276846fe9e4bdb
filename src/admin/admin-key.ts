/** The key to the control plane: from the environment, or made once and kept beside the database. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, type Result, success } from '../base/result.ts';
import { hashSecret } from './access.ts';

/** Small facts that the store keeps by name; both throw while the database cannot be used. */
export type MetaStore = {
  readonly get: (name: string) => string | null;
  readonly set: (name: string, value: string) => void;
};

export type AdminKey = {
  readonly hash: Buffer;
  /** Absolute path of the file that holds the key, or null: then it is known to the operator alone. */
  readonly file: string | null;
  /** What the operator should hear, or null. */
  readonly notice: string | null;
};

const metaName = 'admin_key_hash';

/**
 * The environment's key when there is one; else the one in `DATA/admin.key`; else, when the file was
 * taken away, the one whose hash is stored; else a new one: file with mode 0600, hash in `meta`.
 * The fault says what to do.
 */
export function ensureAdminKey(input: {
  readonly fromEnvironment: string | null;
  readonly dataDirectory: string;
  readonly meta: MetaStore;
}): Result<AdminKey, string> {
  if (input.fromEnvironment !== null) {
    return success({ hash: hashSecret(input.fromEnvironment), file: null, notice: null });
  }
  const file = join(input.dataDirectory, 'admin.key');
  const kept = readKept(file);
  if (!kept.ok) return kept;
  const stored = storedHash(input.meta);
  if (kept.value !== null) return success(adopt(kept.value, file, stored, input.meta));
  if (stored !== null && /^[0-9a-f]{64}$/.test(stored)) {
    const notice = `${file} is gone; the admin key that was in it stays valid. Set TIERGATE_ADMIN_KEY to use another.`;
    return success({ hash: Buffer.from(stored, 'hex'), file: null, notice });
  }
  return make(file, input.meta);
}

function adopt(secret: string, file: string, stored: string | null, meta: MetaStore): AdminKey {
  const hash = hashSecret(secret);
  if (stored === hash.toString('hex')) return { hash, file, notice: null };
  storeHash(meta, hash);
  return {
    hash,
    file,
    notice:
      stored === null
        ? null
        : `the admin key in ${file} was changed; the one before it is no longer valid`,
  };
}

function make(file: string, meta: MetaStore): Result<AdminKey, string> {
  const secret = `tg_admin_${randomBytes(32).toString('base64url')}`;
  try {
    writeFileSync(file, `${secret}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    return fail(
      `cannot write the admin key to ${file} (${codeOf(error)}): make the directory writable or set TIERGATE_ADMIN_KEY`,
    );
  }
  const hash = hashSecret(secret);
  storeHash(meta, hash);
  return success({ hash, file, notice: null });
}

/** A database that cannot be used must not close the control plane: the file says the same. */
function storedHash(meta: MetaStore): string | null {
  try {
    return meta.get(metaName);
  } catch {
    return null;
  }
}

/** Not stored now: the next start does it, from the file. */
function storeHash(meta: MetaStore, hash: Buffer): void {
  try {
    meta.set(metaName, hash.toString('hex'));
  } catch {
    return;
  }
}

/** The key in `file`; null when there is no file. An empty or short one is no key, and must not open a door. */
function readKept(file: string): Result<string | null, string> {
  if (!existsSync(file)) return success(null);
  try {
    const secret = readFileSync(file, 'utf8').trim();
    if (secret.length >= 16) return success(secret);
    return fail(
      `${file} holds no admin key (16 characters at least): remove the file to have one made`,
    );
  } catch (error) {
    return fail(
      `cannot read the admin key in ${file} (${codeOf(error)}): make it readable or set TIERGATE_ADMIN_KEY`,
    );
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : 'unknown error';
}
