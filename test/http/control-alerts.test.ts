/** Alerts of the running gateway: log line, status entry, and a POST to a receiver on loopback. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { type LoopbackServer, startHttp } from '../support/loopback-server.ts';
import {
  chat,
  type GatewayOptions,
  modelNames,
  quickRetry,
  type RunningGateway,
  startGateway,
} from '../support/running-gateway.ts';

const p1 = `p1/${modelNames.p1}`;
const p2 = `p2/${modelNames.p2}`;

const targets = [
  { provider: 'p1', model: modelNames.p1 },
  { provider: 'p2', model: modelNames.p2 },
];

type Post = { readonly atMs: number; readonly body: JsonObject };

let directory: string;
let receiver: LoopbackServer;
let posts: Post[];
let answerWith: number;
let gateway: RunningGateway | null;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tiergate-alerts-'));
  posts = [];
  answerWith = 200;
  gateway = null;
  receiver = await startHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
      posts.push({ atMs: performance.now(), body });
      response.writeHead(answerWith).end('ok');
    });
  });
  writeFileSync(join(directory, 'hook'), `${receiver.origin}/services/T0/B0/CANARYHOOK`);
  writeFileSync(join(directory, 'p1.key'), 'key-of-p1-CANARYKEY');
});
afterEach(async () => {
  await gateway?.close();
  await receiver.close();
  rmSync(directory, { recursive: true, force: true });
});

async function start(options: GatewayOptions = {}): Promise<RunningGateway> {
  gateway = await startGateway({
    tier: ['p1', 'p2'],
    ...options,
    document: {
      alerts: { webhook: `file:${join(directory, 'hook')}` },
      tiers: { fast: { retry: quickRetry, targets } },
      ...options.document,
    },
  });
  return gateway;
}

async function ask(on: RunningGateway, tier = 'fast', headers: Record<string, string> = {}) {
  const response = await on.post('/v1/chat/completions', chat(tier), { headers });
  await response.arrayBuffer();
  return response.headers.get('x-tiergate-request-id');
}

async function alertsIn(on: RunningGateway): Promise<readonly JsonObject[]> {
  return ((await (await on.admin('/status')).json()) as { alerts: JsonObject[] }).alerts;
}

async function override(on: RunningGateway, target: string, state: string): Promise<void> {
  const init = { method: 'PUT', body: JSON.stringify({ state }) };
  expect((await on.admin(`/targets/${target}/override`, init)).status).toBe(200);
}

/** Longer than the 5 s for which a secret's file is not read again. */
async function until<Value>(what: string, look: () => Value | undefined): Promise<Value> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < 10_000) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`${what} did not come; came: ${JSON.stringify(posts)}`);
}

function posted(kind: string, isResolved: boolean): Promise<Post> {
  return until(`${kind} ${isResolved}`, () =>
    posts.find(({ body }) => body['kind'] === kind && (body['resolved'] === true) === isResolved),
  );
}

function lines(on: RunningGateway, kind: string) {
  return on.log.filter(({ fields }) => fields['alert'] === kind);
}

describe('what a provider refuses', () => {
  it.each([
    ['auth', 'auth_rejected', 'KEY'],
    ['permission', 'permission_denied', 'KEY'],
    ['quota', 'quota_exhausted', 'KEY'],
    ['not_found', 'model_not_found', p1],
  ] as const)(
    '%s: %s is told within a second, and again when it is over',
    async (fault, kind, named) => {
      const on = await start({
        providers: { p1: { api_keys: [`file:${join(directory, 'p1.key')}`] } },
      });
      const subject = named === 'KEY' ? join(directory, 'p1.key') : named;
      on.simulation.control.fault('p1', fault, { count: 1 });
      const askedMs = performance.now();
      const requestId = await ask(on);
      const { atMs, body } = await posted(kind, false);
      expect(atMs - askedMs).toBeLessThan(5000);
      expect(body).toEqual({
        text: expect.stringContaining(kind),
        kind,
        subject,
        since: expect.stringMatching(/^\d{4}-.*Z$/),
        count: 1,
        last_error: expect.stringContaining(p1),
        request_id: requestId,
      });
      expect(await alertsIn(on)).toEqual([
        {
          kind,
          subject,
          since: body['since'],
          count: 1,
          last_error: body['last_error'],
          request_id: requestId,
        },
      ]);
      expect(lines(on, kind)).toMatchObject([
        { level: 'error', fields: { subject, request_id: requestId } },
      ]);
      await override(on, p1, 'auto');
      await ask(on);
      expect((await posted(kind, true)).body).toMatchObject({ subject, resolved: true });
      expect(await alertsIn(on)).toEqual([]);
      expect(lines(on, kind).map(({ level }) => level)).toEqual(['error', 'info']);
      expect(JSON.stringify([posts, on.log])).not.toMatch(/CANARY/);
    },
  );

  it('comes again within the interval and is not told again', async () => {
    const on = await start();
    for (let turn = 0; turn < 3; turn += 1) {
      on.simulation.control.fault('p1', 'auth', { count: 1 });
      await ask(on);
      await override(on, p1, 'auto');
      await ask(on);
    }
    await posted('auth_rejected', true);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(posts).toHaveLength(2);
    expect(lines(on, 'auth_rejected')).toHaveLength(2);
  });

  it('with an interval of 0 is told each time', async () => {
    const on = await start({
      document: { alerts: { webhook: `file:${join(directory, 'hook')}`, min_interval: '0s' } },
    });
    for (let turn = 0; turn < 2; turn += 1) {
      on.simulation.control.fault('p1', 'auth', { count: 1 });
      await ask(on);
      await override(on, p1, 'auto');
    }
    await until('two posts', () => (posts.length === 2 ? posts : undefined));
  });
});

describe('secrets', () => {
  it('a key that is not there is secret_unresolved until it is', async () => {
    const missing = join(directory, 'later.key');
    const on = await start({ providers: { p1: { api_keys: [`file:${missing}`] } } });
    expect(await alertsIn(on)).toEqual([]);
    await ask(on);
    expect((await posted('secret_unresolved', false)).body).toMatchObject({ subject: missing });
    writeFileSync(missing, 'key-of-p1');
    expect((await posted('secret_unresolved', true)).body).toMatchObject({ subject: missing });
  });

  it("the webhook's own is an alert in log and status, and requests go on", async () => {
    const on = await start({
      document: { alerts: { webhook: `file:${join(directory, 'nowhere')}` } },
    });
    on.simulation.control.fault('p1', 'auth', { count: 1 });
    expect(await ask(on)).not.toBeNull();
    await until('the alert', () => lines(on, 'secret_unresolved')[0]);
    const kinds = (await alertsIn(on)).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['auth_rejected', 'secret_unresolved']);
    expect(posts).toEqual([]);
  });
});

describe('tiers', () => {
  it('tier_without_target: every target drained, and one given back', async () => {
    const on = await start();
    await override(on, p1, 'drained');
    await override(on, p2, 'drained');
    expect((await posted('tier_without_target', false)).body).toMatchObject({
      subject: 'fast',
      last_error: expect.stringContaining('drained'),
      request_id: null,
    });
    await override(on, p1, 'auto');
    await posted('tier_without_target', true);
    expect(await alertsIn(on)).toEqual([]);
  });
});

describe('clients', () => {
  it('R32 stacked_retries: an SDK that repeats what failed', async () => {
    const on = await start({ clientKey: 'client-key-0123456789' });
    const key = { authorization: 'Bearer client-key-0123456789' };
    for (let index = 0; index < 24; index += 1) {
      await ask(on, 'fast', { ...key, 'x-stainless-retry-count': index % 6 === 5 ? '1' : '0' });
    }
    expect((await posted('stacked_retries', false)).body).toMatchObject({ subject: 'key client' });
  });
});

describe('the gateway itself', () => {
  it('config_rejected: a watched file that is broken, then mended', async () => {
    const on = await start({ configMode: 'file' });
    const file = join(on.dataDirectory, 'tiergate.json');
    const sound = readFileSync(file, 'utf8');
    const broken = sound.replace('"targets"', '"tragets"');
    // A change before the watch has looked for the first time is none: so it is changed again.
    let writes = 0;
    const alarm = await until('the alert', () => {
      writes += 1;
      if (writes % 100 === 1) writeFileSync(file, broken + ' '.repeat(writes));
      return posts.find(({ body }) => body['kind'] === 'config_rejected');
    });
    expect(alarm.body).toMatchObject({
      subject: 'tiergate.json',
      last_error: expect.stringContaining('tragets'),
      request_id: null,
    });
    expect(lines(on, 'config_rejected')[0]).toMatchObject({ level: 'error' });
    expect(await ask(on)).not.toBeNull();
    writeFileSync(file, sound);
    await posted('config_rejected', true);
    expect(await alertsIn(on)).toEqual([]);
  });

  it('log_degraded: the database is locked, then free', async () => {
    const on = await start();
    const other = new Database(join(on.dataDirectory, 'tiergate.db'));
    other.exec('BEGIN IMMEDIATE');
    try {
      expect(await ask(on)).not.toBeNull();
      expect((await posted('log_degraded', false)).body).toMatchObject({
        subject: 'served-by log',
      });
      expect(lines(on, 'log_degraded')).toHaveLength(1);
    } finally {
      other.exec('ROLLBACK');
      other.close();
    }
    await posted('log_degraded', true);
  });
});

describe('a receiver', () => {
  it('that fails is tried again, told of once, and no request waits for it', async () => {
    answerWith = 500;
    const on = await start();
    on.simulation.control.fault('p1', 'auth', { count: 1 });
    const startedMs = performance.now();
    await ask(on);
    expect(performance.now() - startedMs).toBeLessThan(1000);
    await posted('auth_rejected', false);
    answerWith = 200;
    await until('a second try', () => (posts.length === 2 ? posts : undefined));
    const told = () => on.log.filter(({ message }) => message.includes('webhook'));
    await until('its line', () => (told().length === 2 ? true : undefined));
  });

  it('that is gone changes nothing but a line in the log', async () => {
    await receiver.close();
    const on = await start();
    on.simulation.control.fault('p1', 'auth', { count: 1 });
    await ask(on);
    const line = await until('the line', () =>
      on.log.find(({ message }) => message.includes('webhook')),
    );
    expect(line.fields).toEqual({ reason: 'no connection (ECONNREFUSED)' });
    expect(JSON.stringify(on.log)).not.toContain('CANARY');
  });
});
