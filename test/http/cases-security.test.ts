/** What leaves the gateway, towards providers and towards clients: the cases of security, end to end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CaseGateway, hello } from '../support/case-gateway.ts';

const clientKey = 'client-key-CANARY-0123456789';
const providerKey = 'sk-provider-key-of-p1-0123456789';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start({ clientKey });
});
afterAll(() => cases.close());

const authorized = { authorization: `Bearer ${clientKey}` };

describe('towards providers', () => {
  it('SE-02 of the client\u2019s headers only the listed ones go on', async () => {
    const tier = await cases.tier(['p1', 'p2'], { p1: hello.openai, p2: hello.anthropic });
    const headers = {
      ...authorized,
      'x-goog-api-key': 'CANARY1',
      'x-internal': 'CANARY2',
      cookie: 'CANARY3',
      'x-forwarded-for': '1.2.3.4',
      'user-agent': 'CANARY4',
      'openai-beta': 'assistants=v2',
      'anthropic-version': 'CANARY5',
      'x-tiergate-tags': 'k=CANARY6',
      'x-client-request-id': 'operation-7',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    };
    const { stream } = await cases.stream(tier, {}, headers);
    expect(stream.text).toBe('hello');
    const [sent] = cases.received('p1');
    const names = Object.keys(sent?.headers ?? {});
    const allowed = [
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'idempotency-key',
      'openai-beta',
      'traceparent',
      'transfer-encoding',
      'user-agent',
      'x-client-request-id',
    ];
    expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
    expect(JSON.stringify(sent?.headers)).not.toContain('CANARY');
    expect(sent?.body.toString('utf8')).not.toContain('CANARY');
    expect(sent?.headers).toMatchObject({
      'x-client-request-id': 'operation-7',
      traceparent: headers.traceparent,
      'openai-beta': 'assistants=v2',
    });
  });

  it('SE-02 another dialect gets no version or beta header of this one', async () => {
    const tier = await cases.tier(['p2'], { p2: hello.anthropic });
    await cases.stream(
      tier,
      {},
      { ...authorized, 'openai-beta': 'CANARY', 'anthropic-beta': 'CANARY' },
    );
    expect(JSON.stringify(cases.received('p2')[0]?.headers)).not.toContain('CANARY');
  });

  it.each(['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', '?key='])(
    'SE-03 the client\u2019s key in %s opens the gateway and goes no further',
    async (place) => {
      const tier = await cases.tier(['p1'], { p1: [{ text: 'hello' }] });
      const isQuery = place === '?key=';
      const value = place === 'authorization' ? `Bearer ${clientKey}` : clientKey;
      const response = await cases.gateway.post(
        `/v1/chat/completions${isQuery ? `?key=${clientKey}` : ''}`,
        { model: tier, messages: [{ role: 'user', content: 'hi' }] },
        { headers: isQuery ? {} : { [place]: value } },
      );
      expect(response.status).toBe(200);
      const [sent] = cases.received('p1');
      expect(`${sent?.path} ${JSON.stringify(sent?.headers)} ${sent?.body}`).not.toContain(
        'CANARY',
      );
      expect(JSON.stringify(cases.gateway.log)).not.toContain('CANARY');
      expect(JSON.stringify(await cases.rowOf(response))).not.toContain('CANARY');
    },
  );

  it('SE-04 a redirect is not followed, and its address goes no further', async () => {
    const tier = await cases.tier(['p1', 'p2'], {
      p1: [{ status: 302, headers: { location: 'http://10.0.0.5/x' }, body: Buffer.from('moved') }],
      p2: hello.anthropic,
    });
    const { response, stream, row } = await cases.stream(tier, {}, authorized);
    expect(stream.text).toBe('hello');
    expect(row['provider']).toBe('p2');
    expect(row.attempts[0]).toMatchObject({ provider: 'p1', outcome: 'failed', status: 302 });
    const told = `${JSON.stringify([...response.headers])} ${stream.raw} ${JSON.stringify(row)}`;
    expect(told).not.toContain('10.0.0.5');
  });
});

describe('towards clients', () => {
  const leaky = `Incorrect API key provided: ${providerKey} at http://10.0.0.5/v1`;

  it.each([
    ['a 401', 401, 'invalid_api_key'],
    ['a 403', 403, 'permission_denied'],
    ['a 500', 500, 'internal'],
    ['a 503', 503, 'unavailable'],
    ['a 400', 400, 'bad'],
  ])('SE-08 %s that tells a secret tells it to nobody', async (_name, status, code) => {
    for (const isStream of [true, false]) {
      const tier = await cases.tier(['p1'], {
        p1: [{ status, body: { error: { message: leaky, code, param: providerKey } } }],
      });
      const response = await cases.post(tier, { stream: isStream }, { headers: authorized });
      expect(response.status).toBeGreaterThanOrEqual(400);
      const told = `${JSON.stringify([...response.headers])} ${await response.text()}`;
      const row = JSON.stringify(await cases.rowOf(response));
      const log = JSON.stringify(cases.gateway.log);
      for (const text of [told, row, log]) {
        expect(text).not.toContain(providerKey);
        expect(text).not.toContain('10.0.0.5');
      }
      expect(told).toContain(String(response.headers.get('x-request-id')));
    }
  });

  it('SE-08 an error inside a stream tells no secret either', async () => {
    const tier = await cases.tier(
      ['p1'],
      {
        p1: [
          {
            sse: [
              'ROLE',
              'REP:40:T:w ',
              'SLEEP:50',
              `RAW:data: {"error":{"message":"${leaky}","code":500}}\\n\\n`,
              'END',
            ],
          },
        ],
      },
      { policies: { stream: { on_interrupt: 'fail_forward' } } },
    );
    const { stream, row } = await cases.stream(tier, {}, authorized);
    expect(stream.error).not.toBeNull();
    for (const text of [stream.raw, JSON.stringify(row), JSON.stringify(cases.gateway.log)]) {
      expect(text).not.toContain(providerKey);
      expect(text).not.toContain('10.0.0.5');
    }
  });

  it('nothing of a provider\u2019s own headers is passed on', async () => {
    const tier = await cases.tier(['p1'], {
      p1: [
        {
          headers: {
            'set-cookie': 'CANARY=1',
            'x-provider-internal': 'CANARY',
            'openai-organization': 'CANARY',
            'access-control-allow-origin': '*',
          },
          text: 'hello',
        },
      ],
    });
    const response = await cases.post(tier, {}, { headers: authorized });
    expect(response.status).toBe(200);
    expect(JSON.stringify([...response.headers])).not.toContain('CANARY');
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('LG-07 failures leave a row each, and few lines', async () => {
    const tier = await cases.tier(
      ['p1'],
      { p1: [{ status: 401 }] },
      { policies: { retry: { attempts: 1 } } },
    );
    const before = cases.gateway.log.length;
    const work = async (): Promise<void> => {
      for (let nth = 0; nth < 20; nth += 1) {
        await (await cases.post(tier, {}, { headers: authorized })).arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: 10 }, work));
    const page = (await (await cases.gateway.admin(`/served?tier=${tier}&limit=1000`)).json()) as {
      data: unknown[];
    };
    expect(page.data).toHaveLength(200);
    expect(cases.gateway.log.length - before).toBeLessThanOrEqual(200);
  });
});
