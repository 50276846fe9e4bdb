/** The real thing: `src/main.ts` in a process of its own, as a user starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** A loaded machine may take seconds to load the modules. */
const startMsMax = 60_000;

export class GatewayProcess {
  out = '';
  err = '';
  readonly child: ChildProcess;
  /** The exit code, or null when a signal ended it. */
  readonly ended: Promise<number | null>;

  constructor(
    argv: readonly string[],
    options: { readonly cwd: string; readonly variables?: Record<string, string> },
  ) {
    this.child = spawn(process.execPath, [main, ...argv], {
      cwd: options.cwd,
      env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', ...options.variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.out += chunk.toString();
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.err += chunk.toString();
    });
    this.ended = new Promise((resolve) => this.child.on('close', (code) => resolve(code)));
  }

  /** The origin that it says it listens on. */
  async origin(): Promise<string> {
    await this.says(/listens on http|"origin":/);
    return /http:\/\/[\w.:[\]-]+:\d+/.exec(this.out)?.[0] ?? '';
  }

  async says(words: RegExp): Promise<void> {
    const end = performance.now() + startMsMax;
    while (!words.test(this.out + this.err)) {
      if (performance.now() > end || this.child.exitCode !== null) {
        throw new Error(`it did not say ${words}, but: ${this.out}\n${this.err}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }
}

/** Working directories and processes that end with the test. */
export class Workplace {
  readonly #directories: string[] = [];
  readonly #processes: GatewayProcess[] = [];

  directory(): string {
    const made = mkdtempSync(join(tmpdir(), 'tiergate-process-'));
    this.#directories.push(made);
    return made;
  }

  run(
    argv: readonly string[],
    cwd: string,
    variables: Record<string, string> = {},
  ): GatewayProcess {
    const started = new GatewayProcess(argv, { cwd, variables });
    this.#processes.push(started);
    return started;
  }

  async close(): Promise<void> {
    for (const started of this.#processes.splice(0)) {
      if (started.child.exitCode === null) started.signal('SIGKILL');
      await started.ended;
    }
    for (const directory of this.#directories.splice(0)) {
      rmSync(directory, { recursive: true, force: true });
    }
  }
}
