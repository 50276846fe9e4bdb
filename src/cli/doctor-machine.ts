/** The doctor on this machine: node, data directory, database, port. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import { silentLog } from '../base/log-port.ts';
import type { PromptSources } from '../prompts/load-variants.ts';
import { databaseName, openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { type Finding, ok, warning, wrong } from './doctor-report.ts';

const nodeMajorMin = 24;

export function checkNode(version: string): Finding {
  if (Number(version.split('.')[0]) >= nodeMajorMin) return ok('node', `v${version}`);
  return wrong(
    'node',
    `v${version} is too old`,
    `run it with node ${nodeMajorMin} or later: npm scripts and npx use the one that npm ci brings`,
  );
}

/** Whether it can be written, and whether the admin key in it is for its owner alone. */
export function checkDataDirectory(directory: string, adminKey: string | null): Finding[] {
  const subject = 'data';
  if (!existsSync(directory)) {
    const parent = nearestExisting(directory);
    return isWritable(parent)
      ? [ok(subject, `${directory} will be made at the first start`)]
      : [
          wrong(
            subject,
            `${directory} cannot be made in ${parent}`,
            'choose another with --data DIR',
          ),
        ];
  }
  if (!statSync(directory).isDirectory()) {
    return [wrong(subject, `${directory} is no directory`, 'choose another with --data DIR')];
  }
  if (!isWritable(directory)) {
    const advice = 'give this user write access, or choose another with --data DIR';
    return [wrong(subject, `${directory} is not writable`, advice)];
  }
  return [ok(subject, directory), ...checkAdminKey(join(directory, 'admin.key'), adminKey)];
}

function checkAdminKey(file: string, fromEnvironment: string | null): Finding[] {
  const subject = 'admin key';
  if (fromEnvironment !== null) return [ok(subject, 'from TIERGATE_ADMIN_KEY')];
  if (!existsSync(file)) return [ok(subject, 'will be made at the first start')];
  const isOpen = (statSync(file).mode & 0o077) !== 0;
  if (!isOpen) return [ok(subject, file)];
  return [warning(subject, `${file} can be read by others`, `chmod 600 ${file}`)];
}

export type Stored = {
  readonly document: JsonObject | null;
  readonly prompts: PromptSources | null;
  readonly findings: readonly Finding[];
};

/** Opens the database as a start would; a gateway that runs on it is no fault. */
export async function openStored(directory: string): Promise<Stored> {
  const subject = 'database';
  const nothing = { document: null, prompts: null };
  const file = join(directory, databaseName);
  if (!existsSync(file)) {
    return { ...nothing, findings: [ok(subject, 'will be made at the first start')] };
  }
  const opened = await openSqliteStore({
    dataDirectory: directory,
    commitWaitMs: () => 250,
    keepMs: () => Number.MAX_SAFE_INTEGER,
    log: silentLog,
    clock: systemClock,
  });
  if (!opened.ok) {
    if (opened.fault.kind === 'in_use') {
      const message = 'a running gateway uses it; its document is not looked at';
      return { ...nothing, findings: [ok(subject, message)] };
    }
    return { ...nothing, findings: [wrong(subject, opened.fault.message, null)] };
  }
  const store = opened.value;
  try {
    const fault = store.fault();
    if (fault !== null) return { ...nothing, findings: [wrong(subject, fault.message, null)] };
    const latest = store.revisions.latest();
    const version = latest === null ? 'no config yet' : `config version ${latest.version}`;
    const findings = [ok(subject, `${file}, ${version}`)];
    return { document: latest?.document ?? null, prompts: latest?.prompts ?? null, findings };
  } finally {
    await store.close();
  }
}

/** Free, or held by a gateway that answers. */
export async function checkPort(host: string, port: number): Promise<Finding> {
  const subject = 'port';
  const code = await bindingFault(host, port);
  if (code === null) return ok(subject, `${port} on ${host} is free`);
  if (code !== 'EADDRINUSE') {
    return wrong(
      subject,
      `cannot listen on ${host}:${port} (${code})`,
      'choose another: --host, --port',
    );
  }
  const isGateway = await answersAsGateway(host, port);
  if (isGateway) return ok(subject, `${port} is held by a gateway that answers`);
  return wrong(
    subject,
    `${port} on ${host} is in use`,
    'end what listens there, or choose --port N',
  );
}

function bindingFault(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

async function answersAsGateway(host: string, port: number): Promise<boolean> {
  const ending = new AbortController();
  const cancel = systemClock.schedule(2000, () => ending.abort());
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  try {
    const answer = await fetch(
      `http://${name.includes(':') ? `[${name}]` : name}:${port}/healthz`,
      {
        signal: ending.signal,
      },
    );
    return answer.ok && (await answer.text()).includes('"ok"');
  } catch {
    return false;
  } finally {
    cancel();
  }
}

function nearestExisting(path: string): string {
  let directory = dirname(path);
  while (!existsSync(directory) && directory !== dirname(directory)) directory = dirname(directory);
  return directory;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
