/** A tier edited while it is in use: no request fails, and each row's version is the one that served it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CaseGateway } from '../support/case-gateway.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

type TierView = { readonly version: number; readonly config: Record<string, unknown> };

async function put(tier: string, config: unknown, etag: string): Promise<Response> {
  return cases.gateway.admin(`/tiers/${tier}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'if-match': etag },
    body: typeof config === 'string' ? config : JSON.stringify(config),
  });
}

/** Sends a request every `everyMs` until stopped; what each was answered. */
function traffic(tier: string, everyMs: number) {
  const answers: Promise<Response>[] = [];
  const timer = setInterval(() => {
    const isStream = answers.length % 2 === 0;
    answers.push(
      cases.post(tier, { stream: isStream }).then(async (response) => {
        await response.arrayBuffer();
        return response;
      }),
    );
  }, everyMs);
  return {
    stop: async (): Promise<readonly Response[]> => {
      clearInterval(timer);
      return Promise.all(answers);
    },
  };
}

it('CF-03 PUTs during 100 requests a second: none fails, each row names the version that served it', async () => {
  const tier = await cases.tier(['p1', 'p2'], { p1: [{ text: 'one' }], p2: [{ text: 'two' }] });
  const target = (name: 'p1' | 'p2'): object => ({ provider: name, model: cases.modelOf(name) });
  const firstOf = new Map<number, string>();
  const first = await cases.gateway.admin(`/tiers/${tier}`);
  const { version, config } = (await first.json()) as TierView;
  firstOf.set(version, 'p1');
  let etag = first.headers.get('etag') ?? '';
  const running = traffic(tier, 10);
  for (let edit = 0; edit < 10; edit += 1) {
    const order = edit % 2 === 0 ? (['p2', 'p1'] as const) : (['p1', 'p2'] as const);
    const saved = await put(tier, { ...config, targets: order.map(target) }, etag);
    expect(saved.status).toBe(200);
    etag = saved.headers.get('etag') ?? '';
    firstOf.set(((await saved.json()) as TierView).version, order[0]);
    for (const broken of ['{', { targets: [] }, { targets: [{ provider: 'p9', model: 'x' }] }]) {
      const refused = await put(tier, broken, etag);
      expect(refused.status).toBe(400);
      expect(JSON.stringify(await refused.json())).toMatch(/targets|JSON|body/);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const answers = await running.stop();
  expect(answers.length).toBeGreaterThan(20);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  expect(firstOf.size).toBe(11);
  const rows = await Promise.all(answers.map((answer) => cases.rowOf(answer)));
  for (const [index, row] of rows.entries()) {
    const answer = answers[index];
    expect(String(row['config_version'])).toBe(answer?.headers.get('x-tiergate-config-version'));
    expect(row['provider']).toBe(firstOf.get(Number(row['config_version'])));
    expect(answer?.headers.get('x-tiergate-served-by')).toBe(row['target']);
  }
  expect(new Set(rows.map((row) => row['config_version'])).size).toBeGreaterThan(2);
});

it('a request under way ends on the version with which it began; the next one takes the new', async () => {
  const tier = await cases.tier(['p1'], {
    p1: [{ sse: ['ROLE', { repeat: 10, steps: ['T:x ', 'SLEEP:40'] }, 'FIN:stop', 'DONE'] }],
    p2: [{ text: 'two' }],
  });
  const shown = await cases.gateway.admin(`/tiers/${tier}`);
  const { version, config } = (await shown.json()) as TierView;
  const early = cases.stream(tier);
  await expect.poll(() => cases.calls('p1')).toBe(1);
  const targets = [{ provider: 'p2', model: cases.modelOf('p2') }];
  const saved = await put(tier, { ...config, targets }, shown.headers.get('etag') ?? '');
  const next = (await saved.json()) as TierView;
  const late = await cases.stream(tier);
  expect(late.row).toMatchObject({ provider: 'p2', config_version: next.version });
  const { stream, row } = await early;
  expect(stream).toMatchObject({ text: 'x '.repeat(10), isDone: true });
  expect(row).toMatchObject({ provider: 'p1', config_version: version, outcome: 'served' });
});

it('what is known of a target survives an edit: its open breaker stays open', async () => {
  const tier = await cases.tier(
    ['p1', 'p2'],
    { p1: [{ status: 500 }], p2: [{ text: 'two' }] },
    {
      policies: {
        retry: { attempts: 1 },
        breaker: { failures: 1, min_span: '0s', open_for: '60s', open_for_max: '60s' },
      },
    },
  );
  await (await cases.post(tier)).arrayBuffer();
  const shown = await cases.gateway.admin(`/tiers/${tier}`);
  const { config } = (await shown.json()) as TierView;
  const saved = await put(
    tier,
    { ...config, description: 'edited' },
    shown.headers.get('etag') ?? '',
  );
  expect(saved.status).toBe(200);
  await (await cases.post(tier)).arrayBuffer();
  expect(cases.calls('p1')).toBe(1);
});
