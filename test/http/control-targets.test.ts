/** Overrides and status on the running gateway. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { chat, modelNames, type RunningGateway, startGateway } from '../support/running-gateway.ts';

const p1 = `p1/${modelNames.p1}`;
const p2 = `p2/${modelNames.p2}`;

let gateway: RunningGateway;
beforeEach(async () => {
  gateway = await startGateway({ tier: ['p1', 'p2'] });
});
afterEach(() => gateway.close());

async function put(id: string, body: unknown, on = gateway) {
  const response = await on.admin(`/targets/${id}/override`, {
    method: 'PUT',
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

async function servedBy(on = gateway): Promise<string | null> {
  const response = await on.post('/v1/chat/completions', chat('fast'));
  await response.arrayBuffer();
  return response.headers.get('x-tiergate-served-by');
}

type TargetStatus = JsonObject & {
  readonly id: string;
  readonly breaker: JsonObject;
  readonly override: JsonObject;
};
type Status = JsonObject & {
  readonly targets: readonly TargetStatus[];
  readonly totals: JsonObject;
};

async function status(on = gateway): Promise<Status> {
  return (await (await on.admin('/status')).json()) as Status;
}

async function targetStatus(id: string, on = gateway): Promise<TargetStatus> {
  const found = (await status(on)).targets.find((target) => target.id === id);
  if (found === undefined) throw new Error(`no target ${id}`);
  return found;
}

describe('PUT /targets/{id}/override', () => {
  it('drains a target for requests, status and rows, and gives it back', async () => {
    expect(await servedBy()).toBe(p1);
    const set = await put(encodeURIComponent(p1), { state: 'drained', note: 'maintenance' });
    expect(set).toEqual({
      status: 200,
      body: {
        id: p1,
        override: { state: 'drained', until: null, note: 'maintenance' },
        persisted: true,
      },
    });
    expect(await servedBy()).toBe(p2);
    expect((await targetStatus(p1)).override).toEqual({
      state: 'drained',
      until: null,
      note: 'maintenance',
    });
    const [row] = await gateway.rows();
    expect(row?.['skipped']).toEqual([{ target: p1, reason: 'drained' }]);
    expect(gateway.log).toContainEqual({
      level: 'info',
      message: 'the override of a target was changed',
      fields: {
        target: p1,
        state: 'drained',
        until: null,
        note: 'maintenance',
        by: 'admin',
        kept: true,
      },
    });
    expect((await put(p1, { state: 'auto' })).status).toBe(200);
    expect(await servedBy()).toBe(p1);
  });

  it('takes the id percent-encoded or with its slashes', async () => {
    const config = {
      targets: [
        { id: 'hub/maker/model:free', provider: 'p1', model: modelNames.p1 },
        { id: 'odd/override', provider: 'p2', model: modelNames.p2 },
      ],
    };
    const made = await gateway.admin('/tiers/hub', {
      method: 'PUT',
      headers: { 'if-none-match': '*' },
      body: JSON.stringify(config),
    });
    expect(made.status).toBe(201);
    for (const id of config.targets.map((target) => target.id)) {
      for (const written of [id, encodeURIComponent(id), id.replaceAll('/', '%2f')]) {
        expect(await put(written, { state: 'forced' })).toMatchObject({
          status: 200,
          body: { id },
        });
      }
    }
  });

  it('of a target that is not in the config is 404 and names those that are', async () => {
    const { status: code, body } = await put('p9/none', { state: 'drained' });
    expect(code).toBe(404);
    expect(body['detail']).toContain(p1);
    expect(body['detail']).toContain(p2);
  });

  it.each(['%E0%A4%A', '%00', 'a%2F..%2Fb', `${'x'.repeat(2000)}`])(
    'an odd id is no target: %s',
    async (id) => {
      expect((await put(id, { state: 'drained' })).status).toBe(404);
    },
  );

  it.each(['', '[]', '{', 'state: drained', 'null'])('the body %j is 400', async (body) => {
    const init = { method: 'PUT', body };
    expect((await gateway.admin(`/targets/${p1}/override`, init)).status).toBe(400);
  });

  it.each<[unknown, string]>([
    [{}, 'state'],
    [{ state: 'gone' }, 'state'],
    [{ state: 'drained', until: '1999-01-01T00:00:00Z' }, 'until'],
    [{ state: 'drained', for: '5m' }, 'for'],
  ])('%j is 400', async (body, path) => {
    const answer = await put(p1, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path }] } });
    expect(await servedBy()).toBe(p1);
  });

  it('is the only method there, wants the admin key, and knows no query', async () => {
    expect((await gateway.admin(`/targets/${p1}/override`)).status).toBe(405);
    const path = `${gateway.origin}/admin/v1/targets/${p1}/override`;
    expect((await fetch(path, { method: 'PUT', body: '{}' })).status).toBe(401);
    const query = await gateway.admin(`/targets/${p1}/override?force=1`, {
      method: 'PUT',
      body: '{"state":"auto"}',
    });
    expect(query.status).toBe(400);
  });

  it('auto lets a parked target be asked at once', async () => {
    gateway.simulation.control.fault('p1', 'auth', { count: 1 });
    expect(await servedBy()).toBe(p2);
    expect(await targetStatus(p1)).toMatchObject({ parked_until: expect.any(String) });
    expect(await servedBy()).toBe(p2);
    await put(p1, { state: 'auto' });
    expect(await targetStatus(p1)).toMatchObject({ parked_until: null });
    expect(await servedBy()).toBe(p1);
  });
});

it('a drain survives a restart', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'tiergate-test-'));
  try {
    const first = await startGateway({ tier: ['p1', 'p2'], dataDirectory });
    await put(p1, { state: 'drained', note: 'long' }, first);
    await first.app.close();
    const second = await startGateway({ tier: ['p1', 'p2'], dataDirectory });
    expect((await targetStatus(p1, second)).override).toMatchObject({
      state: 'drained',
      note: 'long',
    });
    expect(second.log).toContainEqual(
      expect.objectContaining({ message: 'overrides of targets are in force again' }),
    );
    await put(p1, { state: 'auto' }, second);
    await second.app.close();
    const third = await startGateway({ tier: ['p1', 'p2'], dataDirectory });
    expect((await targetStatus(p1, third)).override).toMatchObject({ state: 'auto' });
    for (const one of [third, second, first]) await one.close();
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
  }
});

describe('GET /status', () => {
  it('has every field of every target, once', async () => {
    const { targets, ...rest } = await status();
    expect(targets.map(({ id }) => id)).toEqual([p1, p2]);
    expect(targets[0]).toEqual({
      id: p1,
      provider: 'p1',
      model: modelNames.p1,
      breaker: { state: 'closed', reason: null, next_probe_at: null },
      cooldown_until: null,
      parked_until: null,
      in_flight: 0,
      success_rate: null,
      p50_ms: null,
      p95_ms: null,
      retry_budget: expect.any(Number),
      override: { state: 'auto', until: null, note: null },
      keys: [],
    });
    expect(rest).toEqual({
      config_version: 1,
      shared_state: null,
      totals: expect.objectContaining({ in_flight: 0 }),
      alerts: [],
      unknown_shapes: {},
    });
  });

  it('tells successes, latencies, totals, and error shapes that nobody knows', async () => {
    for (let turn = 0; turn < 24; turn += 1) await servedBy();
    gateway.simulation.control.script('p1', [
      { status: 500, body: { oops: { secret: 'x' }, at: 3 } },
      { text: 'well again' },
    ]);
    expect(await servedBy()).toBe(p1);
    const known = await targetStatus(p1);
    expect(known['success_rate']).toBeCloseTo(25 / 26, 5);
    expect(known['p50_ms']).toBeGreaterThan(0);
    expect(known['p95_ms']).toBeGreaterThanOrEqual(Number(known['p50_ms']));
    const { totals, unknown_shapes: shapes } = await status();
    expect(totals).toMatchObject({
      requests_by_outcome: { served: 25 },
      retries_by_class: { transient_infra: 1 },
    });
    expect(shapes).toEqual({ '500 {at,oops}': 1 });
  });
});
