/** What clients that repeat are told, and what the gateway takes from their SDKs, on real sockets (R32). */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CaseGateway } from '../support/case-gateway.ts';

const clientKey = 'client-key-0123456789';
const authorization = `Bearer ${clientKey}`;

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start({ clientKey, document: { server: { max_body: '64kb' } } });
});
afterAll(() => cases.close());

const busy = {
  status: 529,
  headers: { 'retry-after': '30' },
  body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
};
const ask = { headers: { authorization } };
const impatient = { policies: { deadline: '5s' } };

describe('a repeat by its bytes', () => {
  it('R32 gets the failure again until the operator changes something', async () => {
    const tier = await cases.tier(['p2'], { p2: [busy, { text: 'hello' }] }, impatient);
    const first = await cases.post(tier, {}, ask);
    expect(first.status).toBe(503);
    expect(first.headers.get('x-should-retry')).toBe('true');
    const again = await cases.post(tier, {}, ask);
    expect(again.status).toBe(503);
    expect(again.headers.get('x-tiergate-attempts')).toBe('0');
    const told = [first, again].map(({ headers }) => Number(headers.get('retry-after-ms')));
    expect(told[1]).toBeLessThan(told[0] ?? 0);
    expect(told[1]).toBeGreaterThan(0);
    expect(cases.calls('p2')).toBe(1);
    const path = `/targets/${encodeURIComponent(cases.targetOf('p2'))}/override`;
    const body = JSON.stringify({ state: 'auto' });
    const headers = { 'content-type': 'application/json' };
    expect((await cases.gateway.admin(path, { method: 'PUT', headers, body })).ok).toBe(true);
    const last = await cases.post(tier, {}, ask);
    expect(last.status).toBe(200);
    expect(await cases.rowOf(last)).toMatchObject({ client_retry_count: 2, key_id: 'client' });
  });

  it('R32 is asked for anew under another config', async () => {
    const tier = await cases.tier(['p2'], { p2: [busy, { text: 'hello' }] }, impatient);
    expect((await cases.post(tier, {}, ask)).status).toBe(503);
    const targets = [{ provider: 'p1', model: cases.modelOf('p1') }];
    await cases.put(tier, { targets }, { 'if-match': '*' });
    const served = await cases.post(tier, {}, ask);
    expect([served.status, served.headers.get('x-tiergate-served-by')]).toEqual([
      200,
      cases.targetOf('p1'),
    ]);
  });

  it('R32 of a stream too, before anything was sent', async () => {
    const tier = await cases.tier(['p2'], { p2: [busy] }, impatient);
    const stream = { stream: true };
    for (const attempts of ['1', '0']) {
      const response = await cases.post(tier, stream, ask);
      expect([response.status, response.headers.get('x-tiergate-attempts')]).toEqual([
        503,
        attempts,
      ]);
    }
    expect((await cases.post(tier, {}, ask)).headers.get('x-tiergate-attempts')).toBe('1');
  });
});

describe('every error says whether to repeat', () => {
  const wrongs: readonly (readonly [string, number, () => Promise<Response>])[] = [
    ['no key', 401, () => cases.post('fast')],
    ['an unknown tier', 404, () => cases.post('nobody', {}, ask)],
    ['an unknown path', 404, () => cases.gateway.post('/v1/nothing', {}, ask)],
    ['a body that is no JSON', 400, () => cases.gateway.post('/v1/chat/completions', '{', ask)],
    ['a body too large', 413, () => cases.post('fast', { user: 'x'.repeat(80_000) }, ask)],
    [
      'a body that is packed',
      415,
      () => cases.post('fast', {}, { headers: { authorization, 'content-encoding': 'gzip' } }),
    ],
    [
      'a bad option',
      400,
      () => cases.post('fast', {}, { headers: { authorization, 'x-tiergate-deadline-ms': '0' } }),
    ],
  ];
  it.each(wrongs)('R32 %s: not', async (_name, status, send) => {
    const response = await send();
    expect(response.status).toBe(status);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(response.headers.get('retry-after')).toBeNull();
  });
});

describe("an SDK's own patience", () => {
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const patience = 30_000;

  async function deadlineOf(tier: string): Promise<unknown> {
    const [row] = await cases.gateway.rows(`?tier=${tier}`);
    return row?.['deadline_ms'];
  }

  it('R20 openai: its timeout is the deadline of a whole reply, less what our answer needs', async () => {
    const tier = await cases.tier(['p1']);
    const client = new OpenAI({ baseURL: `${cases.gateway.origin}/v1`, apiKey: clientKey });
    await client.chat.completions.create({ model: tier, messages }, { timeout: patience });
    expect(await deadlineOf(tier)).toBe(29_750);
  });

  it('R20 openai: of a stream it bounds no more than the time to the first byte', async () => {
    const tier = await cases.tier(['p1']);
    const client = new OpenAI({ baseURL: `${cases.gateway.origin}/v1`, apiKey: clientKey });
    const stream = await client.chat.completions.create(
      { model: tier, messages, stream: true },
      { timeout: patience },
    );
    for await (const _chunk of stream);
    expect(await deadlineOf(tier)).toBe(120_000);
  });

  it('R20 anthropic', async () => {
    const tier = await cases.tier(['p2']);
    const client = new Anthropic({ baseURL: cases.gateway.origin, apiKey: clientKey });
    const body = { model: tier, max_tokens: 100, messages };
    await client.messages.create(body, { timeout: patience });
    expect(await deadlineOf(tier)).toBe(29_750);
  });
});
