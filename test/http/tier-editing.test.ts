/** PUT on a tier against the config that really runs: what a client may change, and what it is told. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTierAdmin } from '../../src/admin/tier-admin.ts';
import type { LiveConfig } from '../../src/routing/live-config.ts';
import { startLiveConfig } from '../../src/routing/start-live-config.ts';
import { MemoryRevisionStore } from '../support/memory-revision-store.ts';
import { bindWithNamedDialects, sampleDocument } from '../support/routing-samples.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { adminKey, type EdgeUnderTest, startEdge, wholeAnswer } from './edge-under-test.ts';

const target = { provider: 'p1', model: 'm' };
let config: LiveConfig;
let edge: EdgeUnderTest;

beforeEach(async () => {
  const started = await startLiveConfig({
    store: new MemoryRevisionStore(),
    bindProvider: bindWithNamedDialects,
    resolveSecret: () => 'resolved',
    clock: new VirtualClock(),
    seed: { document: sampleDocument(), prompts: {} },
  });
  if (!started.ok) throw new Error(JSON.stringify(started.fault));
  config = started.value.config;
  edge = await startEdge(() => wholeAnswer(), { tierAdmin: createTierAdmin(config, null) });
});

afterEach(() => edge.server.close());

type PutAnswer = {
  readonly errors: readonly { readonly path: string }[];
  readonly diff: readonly unknown[];
};

async function put(
  document: unknown,
  headers: Record<string, string> = {},
  { path = '/tiers/fast', on = edge }: { path?: string; on?: EdgeUnderTest } = {},
) {
  const answer = await fetch(`${on.origin}/admin/v1${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${adminKey}`, ...headers },
    body: JSON.stringify(document),
  });
  const body = (await answer.json()) as PutAnswer;
  return { status: answer.status, etag: answer.headers.get('etag'), body };
}

describe('editing a tier', () => {
  it('with its ETag makes a version; the same ETag again is stale', async () => {
    const etag = config.tier('fast')?.etag ?? '';
    const first = await put({ deadline: '7s', targets: [target] }, { 'if-match': etag });
    expect(first).toMatchObject({ status: 200, body: { name: 'fast', version: 2 } });
    expect(config.current().tiers.get('fast')?.deadlineMs).toBe(7000);
    expect(first.etag).toBe(config.tier('fast')?.etag);
    const second = await put({ targets: [target] }, { 'if-match': etag });
    expect(second).toMatchObject({ status: 412, etag: first.etag });
    expect(config.current().version).toBe(2);
  });

  it('without a condition is 428, and making one that exists is 412', async () => {
    expect((await put({ targets: [target] })).status).toBe(428);
    expect((await put({ targets: [target] }, { 'if-none-match': '*' })).status).toBe(412);
    const unknown = await put({ targets: [target] }, { 'if-match': '*' }, { path: '/tiers/none' });
    expect(unknown.status).toBe(412);
    expect(config.current().version).toBe(1);
  });

  it('makes a new one with If-None-Match: *', async () => {
    const made = await put({ targets: [target] }, { 'if-none-match': '*' }, { path: '/tiers/new' });
    expect(made).toMatchObject({ status: 201, body: { name: 'new', version: 2 } });
    expect(config.current().resolveTier('new')?.name).toBe('new');
  });

  it('CF-02 CF-03 with a bad document changes nothing and says where it is wrong', async () => {
    const bad = await put(
      { targets: [{ provider: 'p9', model: 'm' }], dedline: '1s' },
      { 'if-match': '*' },
    );
    expect(bad.status).toBe(400);
    const paths = bad.body.errors.map(({ path }) => path);
    expect(paths).toContain('tiers.fast.dedline');
    expect(paths.some((path) => path.startsWith('tiers.fast.targets[0]'))).toBe(true);
    expect(config.current().version).toBe(1);
  });

  it('as a draft tells what it would do, and does nothing', async () => {
    const draft = await put(
      { deadline: '7s', targets: [target] },
      {},
      { path: '/tiers/fast?dry_run=true' },
    );
    expect(draft).toMatchObject({ status: 200, body: { valid: true, errors: [] } });
    expect(draft.body.diff.length).toBeGreaterThan(0);
    const bad = await put({ targets: [] }, {}, { path: '/tiers/fast?dry_run=true' });
    expect(bad).toMatchObject({ status: 200, body: { valid: false } });
    expect(config.current().version).toBe(1);
  });

  it('SE-10 a body with __proto__ pollutes nothing', async () => {
    const answer = await fetch(`${edge.origin}/admin/v1/tiers/fast`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${adminKey}`, 'if-match': '*' },
      body: '{"targets":[{"provider":"p1","model":"m"}],"__proto__":{"isAdmin":true}}',
    });
    expect(answer.status).toBe(400);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    expect(config.current().version).toBe(1);
  });

  it('is refused in file mode, with the name of the file', async () => {
    const fileMode = await startEdge(() => wholeAnswer(), {
      tierAdmin: createTierAdmin(config, 'tiergate.yaml'),
    });
    const answer = await put({ targets: [target] }, { 'if-match': '*' }, { on: fileMode });
    await fileMode.server.close();
    expect(answer).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('tiergate.yaml') },
    });
  });
});
