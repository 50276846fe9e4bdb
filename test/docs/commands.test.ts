/** The commands and the program in the documents work as they are pasted. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../../src/app.ts';
import { silentLog } from '../../src/base/log-port.ts';
import type { App } from '../../src/http/app-ports.ts';
import { repositoryRoot } from '../architecture/repository-files.ts';
import { type CodeBlock, codeBlocks, documentPaths } from './documents.ts';

let app: App;
const folder = mkdtempSync(join(tmpdir(), 'tiergate-docs-'));

beforeAll(async () => {
  const started = await startApp({
    configFile: null,
    configMode: 'database',
    redis: null,
    dataDirectory: join(folder, 'data'),
    promptDirectories: [join(repositoryRoot, 'prompts')],
    host: '127.0.0.1',
    port: 0,
    adminKey: null,
    clientKey: null,
    environment: {},
    log: silentLog,
  });
  if (!started.ok) throw new Error(started.fault.message);
  app = started.value;
});

afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** An outage that one command starts would only slow the others down. */
afterEach(async () => {
  await fetch(`${app.facts.simulatorOrigin}/_sim/faults`, { method: 'DELETE' });
});

/** The documents name the default ports; the app under test has others. */
function here(text: string): string {
  return text
    .replaceAll('http://127.0.0.1:8437', app.facts.origin)
    .replaceAll('http://127.0.0.1:8438', app.facts.simulatorOrigin ?? '');
}

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

function run(file: string, args: readonly string[], cwd: string): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

const blocks = documentPaths().flatMap(codeBlocks);
const named = (block: CodeBlock): [string, CodeBlock] => [`${block.path}:${block.line}`, block];

describe('commands that are pasted into a shell', () => {
  it.each(blocks.filter(({ isRun }) => isRun).map(named))('%s', async (_place, block) => {
    // A status of 400 and more ends the command with a failure.
    const text = here(block.text).replaceAll('curl -s', 'curl -s --fail-with-body');
    const ran = await run('bash', ['-euo', 'pipefail', '-c', text], folder);
    expect(ran, `${text}\n${ran.stdout}\n${ran.stderr}`).toMatchObject({ code: 0 });
  });

  it('are more than a few', () => {
    expect(blocks.filter(({ isRun }) => isRun).length).toBeGreaterThan(10);
  });
});

describe('programs', () => {
  it.each(blocks.filter(({ info }) => info[0] === 'ts').map(named))('%s', async (_place, block) => {
    const args = ['--input-type=module-typescript', '--eval', here(block.text)];
    const ran = await run(process.execPath, args, repositoryRoot);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(ran.stdout.trim()).not.toBe('');
  });
});
