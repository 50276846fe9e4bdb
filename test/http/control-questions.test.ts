/** `explain` and `classify` on the running gateway: they answer as it would serve, and nothing is sent. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import {
  chat,
  modelNames,
  type ProviderName,
  type RunningGateway,
  startGateway,
} from '../support/running-gateway.ts';

const id = (name: ProviderName): string => `${name}/${modelNames[name]}`;

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({
    tier: ['p1', 'p2', 'p3'],
    providers: { p2: { rules: [{ status: 418, class: 'overload' }] } },
  });
});
afterAll(() => gateway.close());
afterEach(() => gateway.simulation.control.clear());

type Explained = {
  readonly tier: string;
  readonly config_version: number;
  readonly candidates: readonly {
    readonly target: string;
    readonly variant: string | null;
    readonly rendered_system: string | null;
    readonly dropped: readonly string[];
  }[];
  readonly skipped: readonly { readonly target: string; readonly reason: string }[];
};

async function ask(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await gateway.admin(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

async function explain(body: unknown, headers: Record<string, string> = {}): Promise<Explained> {
  const answer = await ask('/explain', body, headers);
  expect(answer.status).toBe(200);
  return answer.body as unknown as Explained;
}

async function drain(target: string, state: string): Promise<void> {
  await gateway.admin(`/targets/${target}/override`, {
    method: 'PUT',
    body: JSON.stringify({ state }),
  });
}

describe('POST /explain', () => {
  it('names the candidates in order with their words, and sends nothing', async () => {
    const before = gateway.simulation.control.requests().length;
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ];
    expect(await explain({ model: 'fast', messages, seed: 7 })).toEqual({
      tier: 'fast',
      config_version: 1,
      candidates: [
        { target: id('p1'), variant: null, rendered_system: 'Be brief.', dropped: [] },
        { target: id('p2'), variant: null, rendered_system: 'Be brief.', dropped: ['seed'] },
        { target: id('p3'), variant: null, rendered_system: 'Be brief.', dropped: [] },
      ],
      skipped: [],
    });
    expect(gateway.simulation.control.requests()).toHaveLength(before);
    expect(await gateway.rows()).toEqual([]);
  });

  it('is what then happens: skips, their reasons, and what is dropped', async () => {
    await drain(id('p1'), 'drained');
    const foreseen = await explain(chat('fast', { seed: 7 }));
    expect(foreseen.skipped).toEqual([{ target: id('p1'), reason: 'drained' }]);
    const response = await gateway.post('/v1/chat/completions', chat('fast', { seed: 7 }));
    await response.arrayBuffer();
    const [first] = foreseen.candidates;
    expect(response.headers.get('x-tiergate-served-by')).toBe(first?.target);
    expect(response.headers.get('x-tiergate-dropped')).toBe(first?.dropped.join(','));
    const row = (await gateway.rows())[0];
    expect(row?.['skipped']).toEqual(foreseen.skipped);
    await drain(id('p1'), 'auto');
  });

  it('shows a parked target, and what a request needs that a target lacks', async () => {
    gateway.simulation.control.fault('p1', 'auth', { count: 1 });
    await (await gateway.post('/v1/chat/completions', chat('fast'))).arrayBuffer();
    const parked = await explain(chat('fast'));
    expect(parked.skipped).toEqual([{ target: id('p1'), reason: 'parked' }]);
    const several = await explain(chat('fast', { n: 2 }));
    expect(several.skipped.map(({ target }) => target)).toContain(id('p2'));
    await drain(id('p1'), 'auto');
  });

  it('honours our headers and the body extension', async () => {
    const pinned = await explain(chat('fast'), { 'x-tiergate-pin': id('p3') });
    expect(pinned.candidates.map(({ target }) => target)).toEqual([id('p3')]);
    expect(pinned.skipped.map(({ reason }) => reason)).toEqual(['pinned', 'pinned']);
    const single = await explain(chat('fast', { tiergate: { failover: 'off' } }));
    expect(single.candidates.map(({ target }) => target)).toEqual([id('p1')]);
    expect(single.skipped.map(({ reason }) => reason)).toEqual(['failover_off', 'failover_off']);
  });

  it('takes the protocol and the tier of a path from the query', async () => {
    const answer = await ask('/explain?protocol=openai-chat&tier=solo', chat('ignored'));
    expect(answer).toMatchObject({
      status: 200,
      body: { tier: 'solo', candidates: [{ target: id('p1') }] },
    });
  });

  it.each<[string, unknown, Record<string, string>, number, RegExp]>([
    ['an unknown tier', chat('nobody'), {}, 404, /fast/],
    ['a bad body', '{', {}, 400, /refused/],
    ['no messages', { model: 'fast' }, {}, 400, /messages/],
    ['a bad header', chat('fast'), { 'x-tiergate-deadline-ms': 'soon' }, 400, /deadline/],
    ['a pin that is no target', chat('fast'), { 'x-tiergate-pin': 'p9/x' }, 400, /pin/],
  ])(
    '%s is refused in the words that the client would get',
    async (_n, body, headers, code, words) => {
      const answer = await ask('/explain', body, headers);
      expect(answer.status).toBe(code);
      expect(answer.body['detail']).toMatch(words);
    },
  );

  it('an unknown protocol or parameter is 400', async () => {
    const protocol = await ask('/explain?protocol=soap', chat('fast'));
    expect(protocol).toMatchObject({ status: 400, body: { errors: [{ path: 'protocol' }] } });
    expect((await ask('/explain?protocl=x', chat('fast'))).status).toBe(400);
  });

  it('a body larger than the data plane takes is 413', async () => {
    const small = await startGateway({ document: { server: { max_body: '1kb' } } });
    try {
      const answer = await small.admin('/explain', {
        method: 'POST',
        body: JSON.stringify(chat('fast', { user: 'x'.repeat(2000) })),
      });
      expect(answer.status).toBe(413);
    } finally {
      await small.close();
    }
  });
});

describe('POST /classify', () => {
  it('R10 says what an error would do', async () => {
    const question = {
      provider: 'p2',
      status: 529,
      headers: { 'retry-after': '2' },
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    };
    expect(await ask('/classify', question)).toMatchObject({
      status: 200,
      body: {
        class: 'overload',
        retry_after_ms: 2000,
        retry_same_target: true,
        counts_for_breaker: true,
        fail_over: true,
        rule: expect.any(String),
      },
    });
  });

  it("counts an operator's rule, as the request that meets it does", async () => {
    const teapot = { status: 418, body: { error: { message: 'short and stout' } } };
    const verdict = await ask('/classify', { provider: 'p2', ...teapot });
    expect(verdict.body).toMatchObject({ class: 'overload', rule: 'operator:operator[0]' });
    gateway.simulation.control.script('p2', [teapot, { text: 'tea' }]);
    const response = await gateway.post('/v1/chat/completions', chat('fast'), {
      headers: { 'x-tiergate-pin': id('p2') },
    });
    await response.arrayBuffer();
    const [row] = await gateway.rows();
    expect(row?.attempts[0]).toMatchObject({ status: 418, error_class: 'overload' });
  });

  it.each<[unknown, string]>([
    [{ status: 500 }, 'provider'],
    [{ provider: 'nobody', status: 500 }, 'provider'],
    [{ protocol: 'nothing', status: 500 }, 'protocol'],
    [{ provider: 'p1' }, 'status'],
    [{ provider: 'p1', status: 500, boddy: 1 }, 'boddy'],
  ])('%j is 400 and names the place', async (question, path) => {
    const answer = await ask('/classify', question);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });

  it('counts nothing: a pasted shape is no traffic', async () => {
    await ask('/classify', { provider: 'p1', status: 500, body: { never: 'seen' } });
    const status = (await (await gateway.admin('/status')).json()) as JsonObject;
    expect(JSON.stringify(status['unknown_shapes'])).not.toContain('never');
  });
});
