/** Whatever a client sends: a clear error in its own form, nobody asked, and a process that goes on. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CaseGateway, hello } from '../support/case-gateway.ts';
import { chat } from '../support/running-gateway.ts';

let cases: CaseGateway;
let tier = '';
beforeAll(async () => {
  cases = await CaseGateway.start();
  tier = await cases.tier(['p1', 'p2'], { p1: [{ text: 'hello' }], p2: [{ text: 'hello' }] });
});
afterAll(() => cases.close());
afterEach(async () => {
  expect((await cases.post(tier)).status).toBe(200);
  expect(cases.gateway.log.filter(({ fields }) => fields['alert'] === 'internal_error')).toEqual(
    [],
  );
});

type ErrorDocument = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
    readonly tiergate: { readonly class: string; readonly retryable: boolean };
  };
};

/** Posts `body` as it is; the status and the error document, which must be complete. */
async function refused(
  body: string,
  headers: Record<string, string> = {},
  path = '/v1/chat/completions',
) {
  const before = cases.calls('p1') + cases.calls('p2');
  const response = await cases.gateway.post(path, body, { headers });
  const document = (await response.json()) as ErrorDocument;
  expect(document.error).toMatchObject({
    message: expect.stringMatching(/\S/),
    type: expect.any(String),
    code: expect.any(String),
    tiergate: { retryable: false },
  });
  expect(response.headers.get('x-should-retry')).toBe('false');
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(document.error.message).toContain(response.headers.get('x-request-id'));
  expect(cases.calls('p1') + cases.calls('p2')).toBe(before);
  return { status: response.status, ...document.error };
}

const asText = (over: Record<string, unknown>): string => JSON.stringify(chat(tier, over as never));

describe('bodies that are no request', () => {
  it.each([
    ['nothing', ''],
    ['no JSON', '{"model": "fast", '],
    ['a number', '42'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"hi"'],
    ['bytes that are no UTF-8', '\u00ff\u00fe'],
    ['100,000 lists in one another', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('%s is a 400', async (_name, body) => {
    expect(await refused(body)).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_request',
    });
  });

  it('100,000 objects deep inside a valid request is a 400', async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const body = `{"model":"${tier}","messages":[{"role":"user","content":"hi"}],"metadata":${deep}}`;
    expect(await refused(body)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('40 MB is a 413', async () => {
    const body = asText({ messages: [{ role: 'user', content: 'x'.repeat(40_000_000) }] });
    expect(await refused(body)).toMatchObject({ status: 413, code: 'body_too_large' });
  });

  it.each([
    ['messages of a wrong type', { messages: 'hi' }, 'messages'],
    ['no messages', { messages: [] }, 'messages'],
    ['a message that is none', { messages: [7] }, 'messages'],
    ['an unknown role', { messages: [{ role: 'wizard', content: 'x' }] }, 'messages'],
    ['a content of a wrong type', { messages: [{ role: 'user', content: 7 }] }, 'messages'],
    ['a stream of a wrong type', { stream: 'yes' }, 'stream'],
    ['a temperature of a wrong type', { temperature: 'hot' }, 'temperature'],
    ['tools of a wrong type', { tools: 'all' }, 'tools'],
    ['max_tokens of a wrong type', { max_tokens: 'many' }, 'max_tokens'],
    ['a model of a wrong type', { model: 7 }, 'model'],
    ['a tiergate of a wrong type', { tiergate: 'on' }, 'tiergate'],
  ])('%s is a 400 that names the field', async (_name, over, field) => {
    const error = await refused(asText(over));
    expect(error).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(`${error.param} ${error.message}`).toContain(field);
  });

  it.each([
    ['api_base', 'http://169.254.169.254/'],
    ['base_url', 'http://127.0.0.1:1'],
    ['api_key', 'sk-x'],
    ['extra_headers', { a: 'b' }],
  ])('SE-01 a body with %s is a 400', async (name, value) => {
    const error = await refused(asText({ [name]: value }));
    expect(error).toMatchObject({ status: 400 });
    expect(error.message).toContain(name);
  });

  it.each(['nope', 'http://evil/v1#p1', '__proto__', 'constructor', '', '\ud800'])(
    'SE-01 the unknown tier %j is a 404 that lists the known ones',
    async (model) => {
      const error = await refused(asText({ model }));
      expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
      expect(error.message).toContain('fast');
    },
  );
});

describe('bodies that are odd but sound', () => {
  it('SE-10 keys that would reach prototypes stay data, and reach nothing', async () => {
    const body = `{"model":"${tier}","messages":[{"role":"user","content":"hi"}],"__proto__":{"stream":true,"isAdmin":true},"constructor":{"prototype":{"x":1}},"metadata":{"__proto__":{"y":1}},"tiergate":{"__proto__":{"pin":"p9/x"}}}`;
    const response = await cases.gateway.post('/v1/chat/completions', body);
    expect(response.status).toBeLessThan(500);
    expect(response.headers.get('content-type')).toContain('application/json');
    const plain: Record<string, unknown> = {};
    expect([plain['isAdmin'], plain['x'], plain['y'], plain['stream']]).toEqual(
      Array(4).fill(undefined),
    );
  });

  it.each(['p1', 'p2', 'p3'] as const)(
    'lone surrogates go through to %s, or are refused',
    async (name) => {
      const odd = await cases.tier([name], { [name]: [{ text: 'hello' }] });
      const body = `{"model":"${odd}","messages":[{"role":"user","content":"a\\ud800b"}],"stop":["\\udc00"]}`;
      const response = await cases.gateway.post('/v1/chat/completions', body);
      expect([200, 400]).toContain(response.status);
      await response.arrayBuffer();
      for (const sent of cases.bodies(name)) expect(sent).toBeTypeOf('object');
      tier = await cases.tier(['p1'], { p1: [{ text: 'hello' }] });
    },
  );

  it('NUL, line separators and the longest sensible strings arrive as they were sent', async () => {
    const odd = await cases.tier(['p2'], { p2: hello.anthropic });
    const content = `\u0000\u2028\u2029"\\\u{1F30D}${'y'.repeat(100_000)}`;
    await cases.stream(odd, { messages: [{ role: 'user', content }] });
    expect(JSON.stringify(cases.bodies('p2')[0].messages)).toContain(
      JSON.stringify(content).slice(1, -1),
    );
    tier = await cases.tier(['p1'], { p1: [{ text: 'hello' }] });
  });

  it('a BOM before the document and any content type are no obstacle, or a clear 400', async () => {
    const body = `\ufeff${asText({})}`;
    const response = await cases.gateway.post('/v1/chat/completions', body, {
      headers: { 'content-type': 'text/plain' },
    });
    expect([200, 400]).toContain(response.status);
    expect(await response.json()).toBeTypeOf('object');
  });
});

describe('headers and extension of the gateway', () => {
  it.each([
    ['x-tiergate-deadline-ms', '0'],
    ['x-tiergate-deadline-ms', '-5'],
    ['x-tiergate-deadline-ms', '1.5'],
    ['x-tiergate-deadline-ms', 'soon'],
    ['x-tiergate-deadline-ms', '2147483648'],
    ['x-tiergate-deadline-ms', ''],
    ['x-tiergate-pin', 'p9/unknown'],
    ['x-tiergate-failover', 'maybe'],
    ['x-tiergate-max-retries', '-1'],
    ['x-tiergate-max-retries', 'abc'],
    ['x-tiergate-eval-mode', 'lax'],
    ['x-tiergate-meta', 'header'],
    ['x-tiergate-tags', 'no pairs'],
    ['x-tiergate-tags', Array.from({ length: 17 }, (_, nth) => `k${nth}=v`).join(',')],
    ['x-tiergate-tags', `${'k'.repeat(65)}=v`],
    ['x-tiergate-tags', `k=${'v'.repeat(257)}`],
    ['x-tiergate-tags', 'k=%E0%A4%A'],
    ['x-tiergate-variables', '[]'],
    ['x-tiergate-variables', '{'],
    ['x-tiergate-variables', 'b64:e'],
    ['x-tiergate-variables', JSON.stringify({ a: 'x'.repeat(8192) })],
  ])('CF-04 %s: %.30s is a 400 that names it', async (name, value) => {
    const error = await refused(asText({}), { [name]: value });
    expect(error).toMatchObject({ status: 400 });
    expect(`${error.param} ${error.message}`).toContain(name);
  });

  it.each([
    ['deadline_ms', 0],
    ['deadline_ms', '1e3'],
    ['pin', 7],
    ['failover', 'maybe'],
    ['max_retries', -1],
    ['max_retries', 1.5],
    ['tags', { k: 7 }],
    ['variables', 'x'],
    ['meta', true],
  ])('CF-04 tiergate.%s = %j is a 400 that names it', async (name, value) => {
    const error = await refused(asText({ tiergate: { [name]: value } }));
    expect(error).toMatchObject({ status: 400 });
    expect(`${error.param} ${error.message}`).toContain(name);
  });
});
