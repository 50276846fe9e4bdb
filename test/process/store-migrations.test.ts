/** The generator itself, asked whether the schema and the migrations agree. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

it('the schema is what the migrations make: generating again yields nothing', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tiergate-migrations-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const out = join(directory, 'sqlite');
  cpSync(resolve('migrations/sqlite'), out, { recursive: true });
  const before = readdirSync(out);
  execFileSync(
    process.execPath,
    [
      resolve('node_modules/drizzle-kit/bin.cjs'),
      'generate',
      '--dialect=sqlite',
      `--schema=${resolve('src/store/sqlite/schema.ts')}`,
      `--out=${out}`,
    ],
    { stdio: 'pipe' },
  );
  expect(readdirSync(out)).toEqual(before);
});
