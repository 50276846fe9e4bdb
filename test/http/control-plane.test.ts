import { afterEach, describe, expect, it } from 'vitest';
import type { TierWrite, TierWriteResult } from '../../src/admin/tier-admin.ts';
import type { ServedFilter } from '../../src/served-by/served-query.ts';
import {
  adminKey,
  type EdgeUnderTest,
  fixedTiers,
  noRows,
  startEdge,
  tierView,
  wholeAnswer,
} from './edge-under-test.ts';

let edge: EdgeUnderTest;

afterEach(() => edge.server.close());

async function send(path: string, init: RequestInit = {}) {
  const response = await fetch(`${edge.origin}/admin/v1${path}`, {
    ...init,
    headers: { authorization: `Bearer ${adminKey}`, ...(init.headers as Record<string, string>) },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

async function sendJson(path: string, init: RequestInit = {}) {
  const answer = await send(path, init);
  return { ...answer, body: JSON.parse(answer.text) };
}

async function startWith(result: TierWriteResult, writes: TierWrite[] = []) {
  edge = await startEdge(() => wholeAnswer(), {
    tierAdmin: {
      ...fixedTiers,
      replace: async (write) => {
        writes.push(write);
        return result;
      },
    },
  });
}

const saved: TierWriteResult = {
  kind: 'saved',
  view: tierView('fast'),
  isNew: false,
  warnings: [],
};
const put = (headers: Record<string, string>, body = '{"targets":[]}'): RequestInit => ({
  method: 'PUT',
  headers,
  body,
});

describe('tiers', () => {
  it('are listed and read, with the ETag of each', async () => {
    edge = await startEdge(() => wholeAnswer());
    const { body } = await sendJson('/tiers');
    expect(body).toEqual({ data: [expect.objectContaining({ name: 'fast' })], next_cursor: null });
    const one = await sendJson('/tiers/fast');
    expect(one.headers.get('etag')).toBe('"fast-3"');
    expect(one.body).toMatchObject({ name: 'fast', version: 3, config: {}, effective: {} });
    const same = await send('/tiers/fast', { headers: { 'if-none-match': '"fast-3"' } });
    expect(same.status).toBe(304);
    expect((await sendJson('/tiers/none')).status).toBe(404);
  });

  it('are replaced with If-Match, author and note', async () => {
    const writes: TierWrite[] = [];
    await startWith(saved, writes);
    const answer = await sendJson(
      '/tiers/fast',
      put({ 'if-match': '"fast-3", "other"', 'x-tiergate-note': 'cheaper' }),
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get('etag')).toBe('"fast-3"');
    expect(writes).toEqual([
      {
        name: 'fast',
        config: { targets: [] },
        ifMatch: '"fast-3", "other"',
        ifNoneMatch: null,
        author: 'admin',
        note: 'cheaper',
      },
    ]);
  });

  it('are made with If-None-Match: *, from YAML too', async () => {
    const writes: TierWrite[] = [];
    await startWith({ ...saved, isNew: true }, writes);
    const yaml = put(
      { 'if-none-match': '*', 'content-type': 'application/yaml; charset=utf-8' },
      'targets:\n  - { provider: p1, model: m }\n',
    );
    expect((await sendJson('/tiers/fast', yaml)).status).toBe(201);
    expect(writes[0]).toMatchObject({
      config: { targets: [{ provider: 'p1', model: 'm' }] },
      ifMatch: null,
      ifNoneMatch: '*',
    });
  });

  it('a PUT as curl -d sends it is read as JSON', async () => {
    await startWith(saved);
    const form = put({ 'if-match': '*', 'content-type': 'application/x-www-form-urlencoded' });
    expect((await sendJson('/tiers/fast', form)).status).toBe(200);
  });

  it.each<[string, Record<string, string>, number]>([
    ['a compressed body', { 'if-match': '*', 'content-encoding': 'gzip' }, 415],
    ['another type', { 'if-match': '*', 'content-type': 'text/html' }, 415],
    ['a note too long', { 'if-match': '*', 'x-tiergate-note': 'x'.repeat(501) }, 400],
  ])('a PUT with %s is refused', async (_name, headers, status) => {
    const writes: TierWrite[] = [];
    await startWith(saved, writes);
    const answer = await sendJson('/tiers/fast', put(headers));
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.body).toMatchObject({ status, detail: expect.any(String) });
    expect(writes).toEqual([]);
  });

  it.each(['', '{', '[]', 'null', '"x"', '{"a":1,}', '{"__proto__":'])(
    'the body %j is 400 and nothing is written',
    async (body) => {
      const writes: TierWrite[] = [];
      await startWith(saved, writes);
      expect((await sendJson('/tiers/fast', put({ 'if-match': '*' }, body))).status).toBe(400);
      expect(writes).toEqual([]);
    },
  );

  it.each<[string, TierWriteResult, number, unknown]>([
    [
      'invalid',
      { kind: 'invalid', errors: [{ path: 'tiers.fast.targets[0].model', message: 'is missing' }] },
      400,
      { errors: [{ path: 'tiers.fast.targets[0].model', message: 'is missing' }] },
    ],
    ['stale', { kind: 'stale', etag: '"new"' }, 412, { detail: expect.stringContaining('"new"') }],
    ['unknown', { kind: 'stale', etag: null }, 412, {}],
    [
      'in file mode',
      { kind: 'read_only', file: 'tiergate.yaml' },
      409,
      { detail: expect.stringContaining('tiergate.yaml') },
    ],
    ['without a condition', { kind: 'condition_missing' }, 428, {}],
    ['late', { kind: 'conflict' }, 409, {}],
  ])('a write that is %s', async (_name, result, status, body) => {
    await startWith(result);
    const answer = await sendJson('/tiers/fast', put({ 'if-match': '*' }));
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject(body as object);
  });

  it('a draft is checked without a condition and changes nothing', async () => {
    const writes: TierWrite[] = [];
    await startWith(saved, writes);
    const answer = await sendJson('/tiers/fast?dry_run=true', put({}));
    expect(answer.body).toEqual({ valid: true, errors: [], warnings: [], diff: [] });
    expect(writes).toEqual([]);
    expect((await sendJson('/tiers/fast?dry_run=yes', put({}))).status).toBe(400);
  });

  it('a bad name, an unknown parameter and another method are told apart', async () => {
    await startWith(saved);
    expect((await sendJson('/tiers/No%20Name', put({ 'if-match': '*' }))).status).toBe(400);
    const near = await sendJson('/tiers/fast?dryrun=true', put({ 'if-match': '*' }));
    expect(near.body).toMatchObject({
      status: 400,
      errors: [{ message: expect.stringContaining('dry_run') }],
    });
    const method = await sendJson('/tiers/fast', { method: 'POST', body: '{}' });
    expect(method.status).toBe(405);
    expect(method.headers.get('allow')).toContain('PUT');
  });
});

describe('served', () => {
  const rows = [
    { id: 'a', tier: 'fast', tags: { team: 'x' }, session: '=1+1', latency_ms: 3 },
    { id: 'b', tier: 'fast', session: 'a "b", c\nd' },
  ];

  it('hands every filter on under its own name', async () => {
    const asked: { filter: ServedFilter; limit: number; cursor: string | null }[] = [];
    edge = await startEdge(() => wholeAnswer(), {
      served: {
        ...noRows,
        page: (input) => {
          asked.push(input);
          return { rows, nextCursor: 'next' };
        },
      },
    });
    const query = new URLSearchParams({
      tier: 'fast',
      provider: 'p1',
      model: 'm',
      target: 'p1/m',
      variant: 'fast@01234567',
      config_version: '3',
      outcome: 'served',
      class: 'upstream_failed',
      eval_run: 'e1',
      run_id: 'r1',
      session: 's',
      client_request_id: 'c1',
      upstream_request_id: 'u1',
      key: 'env',
      recovery: 'continued',
      failed_over: 'true',
      from: '2026-01-01T00:00:00Z',
      to: '2026-01-02T00:00:00+02:00',
      limit: '7',
      cursor: 'c',
    });
    const { body } = await sendJson(`/served?${query}`);
    expect(body).toEqual({ data: rows, next_cursor: 'next' });
    expect(asked).toEqual([
      {
        filter: {
          tier: 'fast',
          provider: 'p1',
          model: 'm',
          target: 'p1/m',
          variant: 'fast@01234567',
          configVersion: 3,
          outcome: 'served',
          errorClass: 'upstream_failed',
          evalRun: 'e1',
          runId: 'r1',
          session: 's',
          clientRequestId: 'c1',
          upstreamRequestId: 'u1',
          keyId: 'env',
          recovery: 'continued',
          isFailedOver: true,
          fromMs: Date.UTC(2026, 0, 1),
          toMs: Date.UTC(2026, 0, 1, 22),
        },
        limit: 7,
        cursor: 'c',
      },
    ]);
    await sendJson('/served');
    expect(asked[1]).toEqual({ filter: {}, limit: 100, cursor: null });
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=1e2',
    'limit=',
    'from=yesterday',
    'from=2026-01-01',
    'failed_over=1',
    'outcome=fine',
    'tier=',
    'nonsense=1',
    'tier=a&tier=b',
    'config_version=latest',
  ])('?%s is 400 and names the parameter', async (query) => {
    edge = await startEdge(() => wholeAnswer());
    const { status, body } = await sendJson(`/served?${query}`);
    expect(status).toBe(400);
    expect(body.errors[0].path).toBe(query.split('=')[0]);
  });

  it('a cursor that is none of ours is 400', async () => {
    edge = await startEdge(() => wholeAnswer(), { served: { ...noRows, page: () => null } });
    const { status, body } = await sendJson('/served?cursor=zzz');
    expect(status).toBe(400);
    expect(body.errors).toEqual([{ path: 'cursor', message: expect.any(String) }]);
  });

  it('comes as JSON lines or CSV by Accept', async () => {
    edge = await startEdge(() => wholeAnswer(), {
      served: { ...noRows, page: () => ({ rows, nextCursor: 'next' }) },
    });
    const lines = await send('/served', { headers: { accept: 'application/x-ndjson' } });
    expect(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(rows);
    expect(lines.headers.get('x-tiergate-next-cursor')).toBe('next');
    const csv = await send('/served', { headers: { accept: 'text/csv' } });
    expect(csv.headers.get('content-type')).toContain('text/csv');
    const [head, first] = csv.text.split('\r\n');
    expect(head).toMatch(/^id,client_request_id,started_at,tier,/);
    expect(first).toContain('a,');
    expect(first).toContain(`"{""team"":""x""}"`);
    expect(first).toContain("'=1+1");
    expect(csv.text).toContain('"a ""b"", c\nd"');
  });

  it('one row comes with its attempts', async () => {
    edge = await startEdge(() => wholeAnswer(), {
      served: { ...noRows, byId: (id) => (id === 'a' ? { id, attempts: [{ n: 1 }] } : null) },
    });
    expect((await sendJson('/served/a')).body).toEqual({ id: 'a', attempts: [{ n: 1 }] });
    expect((await sendJson('/served/b')).status).toBe(404);
  });
});

it('status and config are shown as they are', async () => {
  edge = await startEdge(() => wholeAnswer());
  expect((await sendJson('/status')).body).toEqual({ targets: [], totals: {} });
  expect((await sendJson('/config')).body).toEqual({ version: 3, config: { tiers: {} } });
  expect((await sendJson('/config?x=1')).status).toBe(400);
  const yaml = await send('/config', { headers: { accept: 'application/yaml' } });
  expect(yaml.text).toBe('tiers: {}\n');
});
