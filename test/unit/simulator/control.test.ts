/** The control endpoints, the records behind them, and what they never show. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isJsonObject } from '../../../src/base/json.ts';
import { maskHeaders, maskPath } from '../../../src/simulator/control/mask-headers.ts';
import { type RequestRecord, RequestRing } from '../../../src/simulator/control/request-ring.ts';
import { faultKinds } from '../../../src/simulator/faults/fault.ts';
import { instantPace } from '../../../src/simulator/settings.ts';
import { type Simulation, startSimulator } from '../../../src/simulator/simulator.ts';
import { bodyText, parseReply, rawRequest } from './raw-client.ts';
import { chatRequest, generateRequest, messagesRequest, type ValidRequest } from './requests.ts';

let simulation: Simulation<'openai' | 'anthropic' | 'gemini'>;

beforeAll(async () => {
  simulation = await startSimulator({ pace: instantPace });
});
beforeEach(() => simulation.control.clear());
afterAll(() => simulation.close());

async function call(url: string, body?: unknown, method = 'GET', headers = {}) {
  const reply = await rawRequest(url, body, { method, headers });
  const { status } = parseReply(reply.bytes);
  return { status, body: JSON.parse(bodyText(reply)) };
}

function control(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') {
  return call(`${simulation.controlUrl}/_sim${path}`, body, method);
}

function send(url: string, request: ValidRequest) {
  return rawRequest(url + request.path, request.body, { headers: request.headers });
}

const urls = () => ({
  openai: simulation.providers.openai.url,
  anthropic: simulation.providers.anthropic.url,
  gemini: simulation.providers.gemini.url,
});

describe('breaking and mending over HTTP', () => {
  it('breaks a provider for a while and mends it, from any port', async () => {
    const order = { provider: 'anthropic', fault: 'overload', for: '60s' };
    const { status, body } = await control('/faults', order);
    expect([status, body]).toEqual([
      201,
      { faults: [expect.objectContaining({ provider: 'anthropic', fault: 'overload', share: 1 })] },
    ]);
    expect(parseReply((await send(urls().anthropic, messagesRequest)).bytes).status).toBe(529);
    expect(parseReply((await send(urls().openai, chatRequest)).bytes).status).toBe(200);
    const listed = await call(
      `${simulation.providers.openai.origin}/_sim/faults?provider=anthropic`,
    );
    expect(listed.body.faults).toMatchObject([{ provider: 'anthropic', struck: 1 }]);
    expect((await call(`${urls().gemini}/_sim/faults`, undefined, 'DELETE')).body).toEqual({
      cleared: 1,
    });
    expect(parseReply((await send(urls().anthropic, messagesRequest)).bytes).status).toBe(200);
  });

  it('takes the order without a content type, as curl -d sends it', async () => {
    const url = `${simulation.controlUrl}/_sim/faults`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status } = await call(
      url,
      '{"provider":"all","fault":"quota","count":1}',
      'POST',
      headers,
    );
    expect(status).toBe(201);
    expect((await control('/faults')).body.faults).toHaveLength(4);
    expect((await control('/faults?provider=openai', undefined, 'DELETE')).body).toEqual({
      cleared: 1,
    });
  });

  it.each([
    ['/faults', '{"provider":', 400, 'body: '],
    [
      '/faults',
      { provider: 'antropic', fault: 'overload' },
      400,
      'provider: expected one of openai, anthropic, gemini, bedrock, all',
    ],
    [
      '/faults',
      { provider: 'openai', fault: 'sad' },
      400,
      `fault: expected one of ${faultKinds.join(', ')}`,
    ],
    [
      '/scripts',
      { provider: 'nobody', calls: [{}] },
      400,
      'provider: expected one of openai, anthropic, gemini, bedrock',
    ],
    [
      '/scripts',
      { provider: 'openai', calls: [{ sse: ['NO'] }] },
      400,
      'calls[0].sse[0]: unknown step "NO"; allowed: ROLE',
    ],
    ['/nothing', {}, 404, 'unknown path; known: /_sim, /_sim/status, /_sim/faults'],
    ['/status', {}, 405, 'allowed here: GET'],
  ])('%s %j is answered %i: %s', async (path, body, status, words) => {
    const reply = await control(path, body);
    expect([reply.status, reply.body.error]).toEqual([status, expect.stringContaining(words)]);
  });

  it.each([
    ['/requests?limit=0', 'limit: expected a whole number from 1 to 1000'],
    ['/requests?limit=x', 'limit:'],
    ['/requests?provider=x', 'provider: expected one of openai, anthropic, gemini, bedrock'],
    ['/faults?provider=x', 'provider:'],
  ])('GET %s is answered 400: %s', async (path, words) => {
    const reply = await control(path);
    expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining(words)]);
  });

  it('bounds the body of an order', async () => {
    const reply = await control('/faults', 'x'.repeat(5 * 1_048_576));
    expect(reply.status).toBe(413);
  });

  it('scripts a provider and takes the script away', async () => {
    const scripted = await control('/scripts', {
      provider: 'openai',
      calls: [{ body: 'scripted words' }],
    });
    expect(scripted).toEqual({ status: 201, body: { provider: 'openai', calls: 1 } });
    expect(bodyText(await send(urls().openai, chatRequest))).toContain('scripted words');
    expect((await control('/status')).body.providers.openai.is_scripted).toBe(true);
    expect((await control('/scripts?provider=openai', undefined, 'DELETE')).body).toEqual({
      cleared: ['openai'],
    });
    expect(bodyText(await send(urls().openai, chatRequest))).toContain('simulated answer');
  });

  it('explains itself', async () => {
    const { body } = await control('');
    expect(body).toMatchObject({
      providers: ['openai', 'anthropic', 'gemini', 'bedrock'],
      faults: faultKinds,
    });
    expect(isJsonObject(body.endpoints)).toBe(true);
  });

  it.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ host: 'evil.example' }, 403],
    [{ host: 'evil.example:8438' }, 403],
    [{ host: 'localhost:8438' }, 200],
    [{ host: 'simulator:8438' }, 200],
    [{ host: '[::1]:8438' }, 200],
  ])('a web page must not use it: %j gives %i', async (headers, status) => {
    const reply = await call(`${simulation.controlUrl}/_sim/faults`, undefined, 'GET', headers);
    expect(reply.status).toBe(status);
  });
});

describe('what came in', () => {
  it('is listed with its outcome and without its credentials', async () => {
    simulation.control.forgetRequests();
    await send(urls().openai, { ...chatRequest, headers: { authorization: 'Bearer sk-CANARY' } });
    await send(urls().anthropic, {
      ...messagesRequest,
      body: {},
      headers: { ...messagesRequest.headers, 'x-api-key': 'CANARY' },
    });
    await send(urls().gemini, {
      ...generateRequest,
      path: `${generateRequest.path}?key=CANARY`,
      headers: { cookie: 'a=CANARY' },
    });
    const { body } = await control('/requests?limit=3');
    expect(JSON.stringify(body)).not.toContain('CANARY');
    expect(body.requests).toMatchObject([
      {
        provider: 'openai',
        method: 'POST',
        path: '/v1/chat/completions',
        headers: {
          authorization: expect.stringMatching(/^Bearer <9 characters, sha256 [0-9a-f]{8}>$/),
        },
        body: chatRequest.body,
        outcome: { answered_by: { kind: 'answer' }, status: 200, complaint: null },
      },
      {
        provider: 'anthropic',
        headers: { 'x-api-key': expect.stringMatching(/^<6 characters/) },
        outcome: {
          answered_by: { kind: 'refusal' },
          status: 400,
          complaint: 'model: Field required',
        },
      },
      {
        provider: 'gemini',
        path: expect.stringContaining('?key=%3C6%20characters'),
        outcome: { status: 200 },
      },
    ]);
    expect((await control('/requests?provider=gemini&limit=1')).body.requests).toHaveLength(1);
    expect((await control('/requests', undefined, 'DELETE')).body).toEqual({ cleared: true });
    expect((await control('/requests')).body.requests).toEqual([]);
  });

  it('masks once, and other headers not at all', () => {
    const masked = maskHeaders({
      Authorization: 'Basic abc',
      'x-goog-api-key': 'k',
      accept: 'json',
    });
    expect(masked).toEqual({
      Authorization: expect.stringMatching(/^Basic <3 characters/),
      'x-goog-api-key': expect.stringMatching(/^<1 characters/),
      accept: 'json',
    });
    expect(maskHeaders(masked)).toEqual(masked);
    const path = maskPath('/a?alt=sse&key=secret&x=1');
    expect(maskPath(path)).toBe(path);
    expect(path).toMatch(/^\/a\?alt=sse&key=%3C6%20characters[^&]*&x=1$/);
  });
});

describe('the ring of records', () => {
  function record(id: number, bytes = 0): RequestRecord {
    return {
      id,
      provider: id % 2 === 0 ? 'even' : 'odd',
      method: 'POST',
      path: '/',
      headers: {},
      at: 0,
      startedMs: 0,
      body: Buffer.alloc(bytes),
      bodyBytes: bytes,
      answeredBy: null,
      status: null,
      complaint: null,
      end: null,
      endedMs: null,
      peerClosedMs: null,
    };
  }

  it('keeps the latest entries', () => {
    const ring = new RequestRing({ entriesMax: 4, bytesMax: 1_000_000 });
    for (let id = 1; id <= 10; id += 1) ring.push(record(id));
    expect(ring.list(null).map((one) => one.id)).toEqual([7, 8, 9, 10]);
    expect(ring.list('odd').map((one) => one.id)).toEqual([7, 9]);
    expect(ring.list(null, 1).map((one) => one.id)).toEqual([10]);
  });

  it('keeps its bytes bounded, also when bodies come later', () => {
    const ring = new RequestRing({ entriesMax: 1_000, bytesMax: 100_000 });
    for (let id = 1; id <= 50; id += 1) {
      const one = record(id);
      ring.push(one);
      ring.keepBody(one, Buffer.alloc(10_000));
      expect(ring.bytes).toBeLessThanOrEqual(100_000);
    }
    expect(ring.list(null).length).toBe(9);
    ring.clear();
    expect(ring.bytes).toBe(0);
  });

  it('keeps the first MiB of a body', () => {
    const ring = new RequestRing();
    const one = record(1);
    ring.push(one);
    ring.keepBody(one, Buffer.alloc(3_000_000));
    expect([one.body.length, one.bodyBytes]).toEqual([1_048_576, 3_000_000]);
  });
});
