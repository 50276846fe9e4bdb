/** Starts and kills the recording child. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

export type Child = {
  readonly process: ChildProcess;
  readonly lines: readonly string[];
  /** Resolves when a line begins with `start`. */
  readonly said: (start: string) => Promise<string>;
  /** SIGKILL; resolves when all that it printed is read. */
  readonly kill: () => Promise<void>;
};

export function startChild(dataDirectory: string, mode: 'record' | 'hang' = 'record'): Child {
  const child = spawn(
    process.execPath,
    [resolve('test/process/store-recording-child.ts'), dataDirectory, mode],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines: string[] = [];
  let rest = '';
  const waiting: { readonly start: string; readonly resolve: (line: string) => void }[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      lines.push(line);
      for (const { start, resolve: found } of waiting) if (line.startsWith(start)) found(line);
    }
  });
  const closed = once(child, 'close');
  return {
    process: child,
    lines,
    said: (start) =>
      Promise.race([
        new Promise<string>((found) => {
          const known = lines.find((line) => line.startsWith(start));
          if (known === undefined) waiting.push({ start, resolve: found });
          else found(known);
        }),
        closed.then(() => Promise.reject(new Error(`ended before it said ${start}`))),
      ]),
    kill: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
