/** `npm run demo`, run as it is: an outage comes and goes, and the log tells it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../architecture/repository-files.ts';

it('R73 the demo shows primary, fallback, primary from the log, without a terminal, and exits 0', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tiergate-demo-test-'));
  try {
    const ran = await new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const options = {
        cwd: repositoryRoot,
        timeout: 60_000,
        env: { PATH: process.env['PATH'], TMPDIR: folder },
      };
      execFile(process.execPath, ['src/main.ts', 'demo'], options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      });
    });
    expect(ran, `${ran.stdout}\n${ran.stderr}`).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/breaker of \S+ opens/);
    expect(ran.stdout).toMatch(/breaker of \S+ closes/);
    expect(ran.stdout).toMatch(/ primary .*\n.* fallback .*\n.* primary /);
    expect(ran.stdout).toContain('primary -> fallback -> primary');
    expect(ran.stdout).toMatch(/(\d+) rows, \1 served, 0 failed/);
    expect(ran.stdout).not.toContain('\u001b');
    const wide = ran.stdout.split('\n').filter((line) => line.length > 80);
    expect(wide).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
