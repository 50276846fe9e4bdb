import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  adminKey,
  clientKey,
  type EdgeUnderTest,
  fixedTiers,
  logKey,
  postCall,
  snapshotWith,
  startEdge,
  wholeAnswer,
} from './edge-under-test.ts';
import { RawClient } from './raw-client.ts';

let edge: EdgeUnderTest;

afterEach(() => edge.server.close());

function get(path: string, key: string | null = null, method = 'GET'): Promise<Response> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  return fetch(`${edge.origin}${path}`, { method, headers });
}

/** `fetch` sends neither `Host` nor `Origin` as told. */
function rawStatus(
  headers: Record<string, string>,
  path = '/v1/chat/completions',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: edge.port, path, method: 'POST', headers },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.on('error', reject);
    sent.end('{}');
  });
}

const adminGets = [
  '/admin/v1/tiers',
  '/admin/v1/tiers/fast',
  '/admin/v1/config',
  '/admin/v1/served',
  '/admin/v1/served/x',
  '/admin/v1/status',
  '/admin/v1/anything',
  '/admin/v1',
];
const dataGets = ['/v1/models', '/v1/models/fast', '/v1/requests/x', '/v1/tiers/fast/models'];

describe('the data plane', () => {
  it('takes any credential or none while no client key exists', async () => {
    edge = await startEdge(() => wholeAnswer());
    expect((await postCall(edge)).status).toBe(200);
    const any = await postCall(edge, {}, { headers: { authorization: 'Bearer sk-anything' } });
    expect(any.status).toBe(200);
  });

  it('takes only keys once one exists, and says so in the dialect', async () => {
    edge = await startEdge(() => wholeAnswer(), { withClientKey: true });
    const none = await postCall(edge);
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    expect(none.headers.get('x-should-retry')).toBe('false');
    expect(none.headers.get('x-request-id')).toBe(none.headers.get('x-tiergate-request-id'));
    expect(await none.json()).toMatchObject({ error: { class: 'unauthenticated', status: 401 } });
    for (const wrong of ['', ' ', 'x', 'x'.repeat(clientKey.length), `${clientKey}x`]) {
      const headers = { authorization: `Bearer ${wrong}` };
      expect((await postCall(edge, {}, { headers })).status).toBe(401);
    }
    expect(edge.pipeline.calls).toHaveLength(0);
  });

  it('refuses a key that may only read the log', async () => {
    edge = await startEdge(() => wholeAnswer(), { withClientKey: true });
    const response = await postCall(edge, {}, { headers: { 'x-api-key': logKey } });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { class: 'forbidden' } });
  });

  it('wants a key on every address but loopback, key or no key known', async () => {
    edge = await startEdge(() => wholeAnswer(), { host: '0.0.0.0' });
    expect((await postCall(edge)).status).toBe(401);
  });

  it('echoes a sound client request id and replaces an unsound one', async () => {
    edge = await startEdge(() => wholeAnswer(), { withClientKey: true });
    const sound = await postCall(edge, {}, { headers: { 'x-client-request-id': 'job 7' } });
    expect(sound.headers.get('x-client-request-id')).toBe('job 7');
    const unsound = await postCall(
      edge,
      {},
      { headers: { 'x-client-request-id': 'x'.repeat(200) } },
    );
    expect(unsound.headers.get('x-client-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the control plane', () => {
  it('SE-05 is closed without a key, with an empty, a blank or a wrong one, whatever the length', async () => {
    edge = await startEdge(() => wholeAnswer());
    const wrong = ['', ' ', 'x', 'y'.repeat(adminKey.length), adminKey.slice(1), `${adminKey} x`];
    for (const path of adminGets) {
      expect((await get(path)).status).toBe(401);
      for (const key of wrong) expect((await get(path, key)).status).toBe(401);
      expect((await get(path, adminKey)).status).not.toBe(401);
    }
  });

  it('SE-05 takes no key from the URL', async () => {
    edge = await startEdge(() => wholeAnswer());
    expect((await get(`/admin/v1/tiers?key=${adminKey}`)).status).toBe(401);
  });

  it('SE-06 every route: no key 401, a client key 403, nothing of a key in any answer', async () => {
    edge = await startEdge(() => wholeAnswer(), { withClientKey: true });
    for (const path of [...adminGets, ...dataGets]) expect((await get(path)).status).toBe(401);
    for (const path of ['/healthz', '/readyz']) expect((await get(path)).status).toBe(200);
    for (const path of adminGets) expect((await get(path, clientKey)).status).toBe(403);
    const secrets = [adminKey, clientKey, logKey].flatMap((key) => {
      const hash = createHash('sha256').update(key).digest();
      return [key, hash.toString('hex'), hash.toString('base64')];
    });
    for (const path of [...adminGets, ...dataGets, '/healthz', '/readyz', '/', '/x']) {
      for (const key of [null, clientKey, logKey, adminKey]) {
        const response = await get(path, key);
        const text = (await response.text()) + JSON.stringify([...response.headers]);
        for (const secret of secrets) expect(text).not.toContain(secret);
      }
    }
  });

  it('SE-06 a log key reads rows and status, nothing else', async () => {
    edge = await startEdge(() => wholeAnswer());
    for (const path of ['/admin/v1/served', '/admin/v1/status']) {
      expect((await get(path, logKey)).status).toBe(200);
    }
    expect((await get('/admin/v1/served/x', logKey)).status).toBe(404);
    for (const path of ['/admin/v1/tiers', '/admin/v1/config', '/admin/v1/tiers/fast']) {
      expect((await get(path, logKey)).status).toBe(403);
    }
  });

  it('SE-07 a client key changes nothing: 403 on every method that writes', async () => {
    let writes = 0;
    edge = await startEdge(() => wholeAnswer(), {
      withClientKey: true,
      tierAdmin: {
        ...fixedTiers,
        replace: (write) => {
          writes += 1;
          return fixedTiers.replace(write);
        },
      },
    });
    const paths = [...adminGets, '/admin/v1/keys', '/admin/v1/providers/p1', '/admin/v1/prompts/x'];
    for (const path of paths) {
      for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
        expect((await get(path, clientKey, method)).status).toBe(403);
        expect((await get(path, logKey, method)).status).toBe(403);
        expect((await get(path, null, method)).status).toBe(401);
      }
    }
    expect(writes).toBe(0);
  });
});

describe('browsers', () => {
  it('a Host that is no loopback name is refused on a loopback listener', async () => {
    edge = await startEdge(() => wholeAnswer());
    for (const host of ['evil.example', 'evil.example:80', '10.0.0.5', '127.0.0.1.evil.example']) {
      expect(await rawStatus({ host })).toBe(403);
      expect(await rawStatus({ host }, '/admin/v1/tiers')).toBe(403);
      expect(await rawStatus({ host }, '/v1/tiers/fast/chat/completions')).toBe(403);
    }
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '[::1]:5', 'app.localhost']) {
      expect(await rawStatus({ host })).toBe(200);
    }
    expect(edge.pipeline.calls).toHaveLength(5);
  });

  it('any Host will do on another address', async () => {
    edge = await startEdge(() => wholeAnswer(), { host: '0.0.0.0', withClientKey: true });
    expect(await rawStatus({ host: 'gateway.example', 'x-api-key': clientKey })).toBe(200);
  });

  it('an Origin that is not listed is refused, its own and listed ones are let in', async () => {
    edge = await startEdge(() => wholeAnswer(), {
      snapshot: () => snapshotWith({ cors: ['https://app.example'] }),
    });
    expect(await rawStatus({ origin: 'https://evil.example' })).toBe(403);
    expect(await rawStatus({ origin: 'null' })).toBe(403);
    expect(await rawStatus({ origin: 'https://evil.example' }, '/healthz')).toBe(403);
    expect(await rawStatus({ origin: `http://127.0.0.1:${edge.port}` })).toBe(200);
    expect(await rawStatus({ origin: 'https://app.example' })).toBe(200);
  });

  it('a preflight of a listed Origin is answered without a key, and its calls carry the headers', async () => {
    edge = await startEdge(() => wholeAnswer(), {
      withClientKey: true,
      snapshot: () => snapshotWith({ cors: ['https://app.example'] }),
    });
    const client = await RawClient.open(edge.port);
    client.write(
      [
        'OPTIONS /v1/chat/completions HTTP/1.1',
        'host: localhost',
        'origin: https://app.example',
        'access-control-request-method: POST',
        'access-control-request-headers: authorization, x-stainless-lang',
        'connection: close',
        '',
        '',
      ].join('\r\n'),
    );
    await client.closes();
    expect(client.text).toContain('204 No Content');
    expect(client.text.toLowerCase()).toContain('access-control-allow-origin: https://app.example');
    expect(client.text).toContain('authorization, x-stainless-lang');
    const call = await RawClient.open(edge.port);
    call.post('{}', [
      'origin: https://app.example',
      'connection: close',
      `x-api-key: ${clientKey}`,
    ]);
    await call.closes();
    expect(call.text).toContain('200 OK');
    expect(call.text).toContain('access-control-allow-origin: https://app.example');
    const refused = await RawClient.open(edge.port);
    refused.post('{}', ['origin: https://app.example', 'connection: close']);
    await refused.closes();
    expect(refused.text).toContain('401');
    expect(refused.text).toContain('access-control-allow-origin: https://app.example');
  });
});
