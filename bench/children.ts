/** The processes that a bench run starts; each is stopped by its own handle, none by name. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { LoadJob, LoadResult } from './load-job.ts';

const startMsMax = 15_000;

export type Child = {
  readonly process: ChildProcess;
  /** The end of what it wrote to stderr. */
  readonly complaints: () => string;
};

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

function watched(child: ChildProcess): Child {
  let tail = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    tail = (tail + bytes.toString()).slice(-4000);
  });
  return { process: child, complaints: () => tail };
}

/** Forks `bench/<name>` and resolves with its first message; rejects when it ends or stays silent. */
export async function forkChild<Message>(
  name: string,
  args: readonly string[],
): Promise<{ readonly child: Child; readonly first: Message }> {
  const child = watched(fork(fileOf(name), args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }));
  return { child, first: await nextMessage<Message>(child, name, startMsMax) };
}

/** Forks the load generator, which says nothing before its first job. */
export function forkLoadGenerator(): Child {
  return watched(fork(fileOf('load.ts'), [], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }));
}

/** Runs one job; rejects when the generator fails or takes 30 s longer than the job. */
export async function generateLoad(generator: Child, job: LoadJob): Promise<LoadResult> {
  generator.process.send(job);
  const answer = await nextMessage<{ result?: LoadResult; error?: string }>(
    generator,
    'load generator',
    job.durationMs + 30_000,
  );
  if (answer.result === undefined) throw new Error(`load generator: ${answer.error}`);
  return answer.result;
}

function nextMessage<Message>(child: Child, name: string, withinMs: number): Promise<Message> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      child.process.off('message', onMessage);
      child.process.off('exit', onExit);
    };
    const onMessage = (message: unknown): void => {
      settle();
      resolve(message as Message);
    };
    const onExit = (): void => {
      settle();
      reject(new Error(`${name} ended early: ${child.complaints()}`));
    };
    const timer = setTimeout(() => {
      settle();
      reject(new Error(`${name} said nothing for ${withinMs} ms: ${child.complaints()}`));
    }, withinMs);
    child.process.once('message', onMessage);
    child.process.once('exit', onExit);
  });
}

/** Starts `src/main.ts serve` as a user would, and waits until it is ready. */
export async function startGateway(options: {
  readonly configFile: string;
  readonly dataDirectory: string;
}): Promise<{ readonly child: Child; readonly origin: string }> {
  const port = await freePort();
  const args = ['serve', '--config', options.configFile, '--data', options.dataDirectory];
  const child = watched(
    spawn(process.execPath, [fileOf('../src/main.ts'), ...args, '--port', String(port)], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'], BENCH_KEY: 'bench', LOG_LEVEL: 'info' },
    }),
  );
  const origin = `http://127.0.0.1:${port}`;
  const endsMs = performance.now() + startMsMax;
  while (performance.now() < endsMs) {
    if (child.process.exitCode !== null) break;
    const isReady = await fetch(`${origin}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isReady) return { child, origin };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.process.kill('SIGKILL');
  throw new Error(`the gateway did not become ready: ${child.complaints()}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port'));
        else resolve(address.port);
      });
    });
  });
}

/** Asks the child to end, then makes it; resolves when it is gone. */
export function stopChild({ process: child }: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 3_000);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

const tickMs = 10;

/** CPU time that the process has used, in ms; NaN where the system does not say (only Linux does). */
export function cpuMsOf(child: Child): number {
  try {
    const text = readFileSync(`/proc/${child.process.pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return Number.NaN;
  }
}

/** Resident memory in bytes; NaN where the system does not say. */
export function memoryOf(child: Child): number {
  try {
    const text = readFileSync(`/proc/${child.process.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}
