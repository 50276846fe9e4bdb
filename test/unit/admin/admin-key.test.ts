import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashSecret } from '../../../src/admin/access.ts';
import { type AdminKey, ensureAdminKey, type MetaStore } from '../../../src/admin/admin-key.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tiergate-key-'));
  file = join(directory, 'admin.key');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function memoryMeta(values = new Map<string, string>()): MetaStore {
  return {
    get: (name) => values.get(name) ?? null,
    set: (name, value) => void values.set(name, value),
  };
}

function ensured(meta: MetaStore, fromEnvironment: string | null = null): AdminKey {
  const key = ensureAdminKey({ fromEnvironment, dataDirectory: directory, meta });
  if (!key.ok) throw new Error(key.fault);
  return key.value;
}

describe('the admin key', () => {
  it('SE-05 is made on the first start, for its owner alone, and only its hash is stored', () => {
    const values = new Map<string, string>();
    const key = ensured(memoryMeta(values));
    const secret = readFileSync(file, 'utf8').trim();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(secret).toMatch(/^tg_admin_[\w-]{43}$/);
    expect(key).toEqual({ hash: hashSecret(secret), file, notice: null });
    expect([...values.values()]).toEqual([hashSecret(secret).toString('hex')]);
  });

  it('stays the same on later starts', () => {
    const meta = memoryMeta();
    expect(ensured(meta)).toEqual(ensured(meta));
  });

  it('from the environment wins and touches no file', () => {
    const key = ensured(memoryMeta(), 'from-environment');
    expect(key).toEqual({ hash: hashSecret('from-environment'), file: null, notice: null });
    expect(() => statSync(file)).toThrow();
  });

  it('stays valid when its file was taken away', () => {
    const meta = memoryMeta();
    const made = ensured(meta);
    rmSync(file);
    const later = ensured(meta);
    expect(later.hash).toEqual(made.hash);
    expect(later.file).toBeNull();
    expect(later.notice).toContain('TIERGATE_ADMIN_KEY');
  });

  it('is changed by changing the file', () => {
    const meta = memoryMeta();
    ensured(meta);
    writeFileSync(file, 'another-secret-of-mine\n');
    const later = ensured(meta);
    expect(later.hash).toEqual(hashSecret('another-secret-of-mine'));
    expect(later.notice).toContain('changed');
    expect(ensured(meta).notice).toBeNull();
  });

  it.each(['', ' \n', 'short'])('SE-05 is not what an emptied file holds (%j)', (text) => {
    writeFileSync(file, text);
    const key = ensureAdminKey({
      fromEnvironment: null,
      dataDirectory: directory,
      meta: memoryMeta(),
    });
    expect(key).toEqual({ ok: false, fault: expect.stringContaining('remove the file') });
  });

  it('is read from the file while the database cannot be used', () => {
    const made = ensured(memoryMeta());
    const broken: MetaStore = {
      get: () => {
        throw new Error('locked');
      },
      set: () => {
        throw new Error('locked');
      },
    };
    expect(ensured(broken)).toEqual({ ...made, notice: null });
  });

  it('says where it cannot be written', () => {
    const nowhere = join(directory, 'missing');
    const key = ensureAdminKey({
      fromEnvironment: null,
      dataDirectory: nowhere,
      meta: memoryMeta(),
    });
    expect(key).toEqual({ ok: false, fault: expect.stringContaining('ENOENT') });
  });
});
