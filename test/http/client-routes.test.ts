import { afterEach, describe, expect, it } from 'vitest';
import type { Readiness } from '../../src/http/http-server-ports.ts';
import { type EdgeUnderTest, noRows, startEdge, wholeAnswer } from './edge-under-test.ts';

let edge: EdgeUnderTest;

afterEach(() => edge.server.close());

async function getJson(path: string, init: RequestInit = {}) {
  const response = await fetch(`${edge.origin}${path}`, init);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

describe('the tiers as models', () => {
  it('are listed in the form that SDKs read', async () => {
    edge = await startEdge(() => wholeAnswer());
    const { body } = await getJson('/v1/models');
    expect(body).toEqual({
      object: 'list',
      data: [
        {
          id: 'fast',
          object: 'model',
          created: 1767225600,
          owned_by: 'tiergate',
          description: 'Quick',
        },
        { id: 'smart', object: 'model', created: 1767225600, owned_by: 'tiergate' },
      ],
    });
  });

  it('are found by name and alias, and an unknown one is 404 with the known names', async () => {
    edge = await startEdge(() => wholeAnswer());
    expect((await getJson('/v1/models/smart')).body).toMatchObject({ id: 'smart' });
    expect((await getJson('/v1/models/quick')).body).toMatchObject({ id: 'fast' });
    const unknown = await getJson('/v1/models/none');
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({
      error: { class: 'unknown_tier', message: expect.stringContaining('fast, smart') },
    });
  });

  it.each(['/v1/tiers/smart/models', '/v1/tiers/smart/v1/models'])(
    '%s lists that tier',
    async (path) => {
      edge = await startEdge(() => wholeAnswer());
      expect((await getJson(path)).body).toMatchObject({ data: [{ id: 'smart' }] });
      expect((await getJson(`${path}/any-model-name`)).body).toMatchObject({ id: 'smart' });
      expect((await getJson('/v1/tiers/none/models')).status).toBe(404);
    },
  );
});

it('GET /v1/requests/{id} shows a key its own row', async () => {
  edge = await startEdge(() => wholeAnswer(), {
    served: {
      ...noRows,
      ownRow: ({ id, keyId }) => (id === 'mine' && keyId === null ? { id, attempts: [] } : null),
    },
  });
  expect((await getJson('/v1/requests/mine')).body).toEqual({ id: 'mine', attempts: [] });
  expect((await getJson('/v1/requests/other')).status).toBe(404);
});

describe('paths that nobody serves', () => {
  it.each(['/', '/v2/chat', '/chat/completions', '/v1'])(
    '%s is 404 and names the base URL, and what is served',
    async (path) => {
      edge = await startEdge(() => wholeAnswer());
      const { status, body, headers } = await getJson(path, { method: 'POST', body: '{}' });
      expect(status).toBe(404);
      expect(headers.get('x-should-retry')).toBe('false');
      expect(JSON.stringify(body)).toContain(`Plain ${edge.origin}/v1`);
      expect(JSON.stringify(body)).toContain('Calls: /v1/chat/completions');
    },
  );

  it.each(['//v1/chat/completions', '/v1/chat/completions/', '/v1//chat/completions'])(
    '%s is meant to be the one with single slashes',
    async (path) => {
      edge = await startEdge(() => wholeAnswer());
      expect((await getJson(path, { method: 'POST', body: '{}' })).status).not.toBe(404);
      expect((await getJson('/v1/models/')).status).toBe(200);
    },
  );

  it('a served path by another method is 405 that names it', async () => {
    edge = await startEdge(() => wholeAnswer());
    const call = await getJson('/v1/chat/completions');
    expect(call.status).toBe(405);
    expect(call.headers.get('allow')).toBe('POST');
    const models = await getJson('/v1/models', { method: 'POST', body: '{}' });
    expect(models.status).toBe(405);
    expect(models.headers.get('allow')).toBe('GET');
  });

  it('HEAD is GET without the body', async () => {
    edge = await startEdge(() => wholeAnswer());
    const response = await fetch(`${edge.origin}/healthz`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});

describe('health', () => {
  it.each([
    ['ok', 200],
    ['degraded', 200],
    ['unavailable', 503],
  ] as const)('readyz of a process that is %s is %i', async (status, code) => {
    const readiness: Readiness = { status, reasons: status === 'ok' ? [] : ['log'] };
    edge = await startEdge(() => wholeAnswer(), { readiness: () => readiness });
    expect(await getJson('/readyz')).toMatchObject({ status: code, body: readiness });
    expect(await getJson('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });
});
