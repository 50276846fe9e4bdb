/** The Gemini API's paths over HTTP: versions, tiers in the path, both forms of a stream, models, keys. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  readGeminiArray,
  readGeminiError,
  readGeminiReply,
  readGeminiStream,
} from '../support/gemini-answers.ts';
import {
  type ProviderName,
  type RunningGateway,
  startGateway,
} from '../support/running-gateway.ts';

const hello = { contents: [{ role: 'user', parts: [{ text: 'hello there' }] }] };
const key = 'client-key-0123456789';

describe.each<ProviderName>(['p1', 'p2', 'p3'])('with %s as the only target', (name) => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ tier: [name] });
  });
  afterAll(() => gateway.close());

  it.each([
    '/v1beta/models/fast',
    '/v1/models/fast',
    '/v1beta/models/models%2Ffast',
    '/v1beta/tunedModels/fast',
    '/v1beta/models/publishers/google/models/fast',
    '/v1beta1/publishers/google/models/fast',
    '/v1/projects/p1/locations/global/publishers/google/models/fast',
    '/v1/tiers/fast/v1beta1/publishers/google/models/any-name',
    '/v1/tiers/fast/v1beta/models/any-name',
    '/v1/tiers/fast/v1/models/any-name',
    '/v1/tiers/fast/models/any-name',
  ])('%s answers in every form', async (path) => {
    const whole = await gateway.post(`${path}:generateContent`, hello);
    expect(whole.status).toBe(200);
    expect(readGeminiReply(await whole.text()).text).toContain('hello there');
    expect(whole.headers.get('x-tiergate-tier')).toBe('fast');
    expect(whole.headers.get('x-request-id')).toBe(whole.headers.get('x-tiergate-request-id'));

    const events = await gateway.post(`${path}:streamGenerateContent?alt=sse`, hello);
    expect(events.headers.get('content-type')).toContain('text/event-stream');
    const read = readGeminiStream(await events.text());
    expect(read).toMatchObject({ finishReasons: ['STOP'] });
    expect(read.usage).not.toBeNull();

    const array = await gateway.post(`${path}:streamGenerateContent`, hello);
    expect(array.headers.get('content-type')).toContain('application/json');
    expect(readGeminiArray(await array.text()).text).toBe(read.text);
  });

  it('the last data event, or the body, carries what was asked for', async () => {
    const body = { ...hello, tiergate: { meta: 'body' } };
    const told = { tier: 'fast', attempts: 1 };
    const whole = await gateway.post('/v1beta/models/fast:generateContent', body);
    expect(readGeminiReply(await whole.text()).documents[0]).toMatchObject({ tiergate: told });
    for (const alt of ['?alt=sse', '']) {
      const stream = await gateway.post(`/v1beta/models/fast:streamGenerateContent${alt}`, body);
      const text = await stream.text();
      const { documents } = alt === '' ? readGeminiArray(text) : readGeminiStream(text);
      expect(documents.at(-1)).toMatchObject({ tiergate: told });
    }
  });

  it('what no other protocol can carry is a 400, or goes to its own', async () => {
    const body = { ...hello, tools: [{ googleSearch: {} }] };
    const answer = await gateway.post('/v1beta/models/fast:generateContent', body);
    if (name === 'p3') expect(answer.status).toBe(200);
    else readGeminiError(await answer.text());
    const [row] = await gateway.rows('?limit=1');
    expect(row?.outcome === 'served').toBe(name === 'p3');
  });
});

describe('a stream that breaks', () => {
  it.each(['?alt=sse', ''])('ends in an error of its form (%s)', async (alt) => {
    const gateway = await startGateway({
      tier: ['p1'],
      policies: { stream: { hold_tokens: 0, on_interrupt: 'fail_forward' } },
    });
    try {
      gateway.simulation.control.script('p1', [{ sse: ['ROLE', 'T:some words', 'RST'] }]);
      const stream = await gateway.post(`/v1beta/models/fast:streamGenerateContent${alt}`, hello);
      const text = await stream.text();
      const read = alt === '' ? readGeminiArray(text) : readGeminiStream(text);
      expect(read.text).toBe('some words');
      expect(read.error).toMatchObject({
        code: 502,
        tiergate: { class: 'stream_interrupted', regenerate: true },
      });
    } finally {
      await gateway.close();
    }
  });
});

describe('keys, models and paths that are none', () => {
  let gateway: RunningGateway;
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(gateway.origin + path, { headers });
  beforeAll(async () => {
    gateway = await startGateway({ tier: ['p1'], clientKey: key });
  });
  afterAll(() => gateway.close());

  it('a key counts in the header and in the query; without one it is 401 UNAUTHENTICATED', async () => {
    const path = '/v1beta/models/fast:generateContent';
    const inHeader = await gateway.post(path, hello, { headers: { 'x-goog-api-key': key } });
    expect(inHeader.status).toBe(200);
    expect((await gateway.post(`${path}?key=${key}`, hello)).status).toBe(200);
    const without = await gateway.post(path, hello);
    expect(without.status).toBe(401);
    expect(readGeminiError(await without.text())).toMatchObject({ status: 'UNAUTHENTICATED' });
    const lines = JSON.stringify(gateway.log);
    expect(lines).not.toContain(key);
  });

  it.each([
    ['/v1beta/models', {}],
    ['/v1/models', { 'x-goog-api-client': 'genai-sdk' }],
    ['/v1/tiers/fast/v1beta/models', {}],
  ])('%s lists the tiers in its form', async (path, headers) => {
    const listed = await get(path, { 'x-goog-api-key': key, ...headers });
    const { models } = (await listed.json()) as { models: { name: string }[] };
    expect(models[0]).toMatchObject({
      name: 'models/fast',
      inputTokenLimit: expect.any(Number),
      outputTokenLimit: expect.any(Number),
    });
  });

  it('one tier is a model, and an unknown one a 404 in its form', async () => {
    const headers = { 'x-goog-api-key': key };
    expect(await (await get('/v1beta/models/fast', headers)).json()).toMatchObject({
      name: 'models/fast',
    });
    for (const path of ['/v1beta/models/none', '/v1/models/none']) {
      const unknown = await get(path, headers);
      expect(unknown.status).toBe(404);
      expect(readGeminiError(await unknown.text())).toMatchObject({ status: 'NOT_FOUND' });
    }
    const bearer = await get('/v1/models', { authorization: `Bearer ${key}` });
    expect(await bearer.json()).toMatchObject({ object: 'list' });
  });

  it.each(['/v1beta/models/fast:embedContent', '/v1beta/models/fast', '/v1beta/other'])(
    'POST %s is a 404 in the form of its clients',
    async (path) => {
      const answer = await gateway.post(path, hello, { headers: { 'x-goog-api-key': key } });
      expect(answer.status).toBe(404);
      expect(readGeminiError(await answer.text())['message']).toContain('Google Gen AI http://');
    },
  );

  it('another method is a 405 that names those there are', async () => {
    const init = { method: 'DELETE', headers: { 'x-goog-api-key': key } };
    const answer = await fetch(`${gateway.origin}/v1beta/models/fast:generateContent`, init);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(['GET', 'POST']);
  });
});
