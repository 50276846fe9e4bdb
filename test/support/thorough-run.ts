/** Starts vitest on the tests of `npm run fuzz` or `npm run soak`, with their greater effort. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export type ThoroughRun = {
  /** Relative to the repository's root. */
  readonly config: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Parts of file names, as vitest takes them; empty = all. */
  readonly filters: readonly string[];
};

/** Resolves to vitest's exit code. A signal to this process goes on to it. */
export function runThoroughly(run: ThoroughRun): Promise<number> {
  const vitest = fileURLToPath(
    new URL(
      'vitest.mjs',
      `file://${createRequire(import.meta.url).resolve('vitest/package.json')}`,
    ),
  );
  const child = spawn(process.execPath, [vitest, 'run', '--config', run.config, ...run.filters], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...run.environment },
  });
  const stop = (): void => {
    child.kill('SIGTERM');
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  return new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`vitest did not start: ${error.message}\n`);
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
