/** What a client may say to the gateway itself, and where it shows: pin, failover, tags, variables, meta. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CaseGateway } from '../support/case-gateway.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

const both = { p1: [{ text: 'one' }], p2: [{ text: 'two' }] };

it.each(['header', 'extension'])('a pin by %s is asked alone, well or ill', async (how) => {
  const tier = await cases.tier(['p1', 'p2'], both);
  const pin = cases.targetOf('p2');
  const send = () =>
    how === 'header'
      ? cases.post(tier, {}, { headers: { 'x-tiergate-pin': pin } })
      : cases.post(tier, { tiergate: { pin } });
  const served = await send();
  expect(served.headers.get('x-tiergate-served-by')).toBe(pin);
  expect(cases.received('p2')[0]?.body.toString('utf8')).not.toContain('tiergate');
  cases.control.script('p2', [{ status: 500 }]);
  expect((await send()).status).toBe(502);
  expect(cases.calls('p1')).toBe(0);
});

it('a header wins over the extension', async () => {
  const tier = await cases.tier(['p1', 'p2'], both);
  const response = await cases.post(
    tier,
    { tiergate: { pin: cases.targetOf('p2') } },
    { headers: { 'x-tiergate-pin': cases.targetOf('p1') } },
  );
  expect(response.headers.get('x-tiergate-served-by')).toBe(cases.targetOf('p1'));
});

it('failover off and strict evals ask the first target only', async () => {
  for (const name of ['x-tiergate-failover', 'x-tiergate-eval-mode']) {
    const tier = await cases.tier(['p1', 'p2'], { ...both, p1: [{ status: 503 }] });
    const value = name === 'x-tiergate-failover' ? 'off' : 'strict';
    expect((await cases.post(tier, {}, { headers: { [name]: value } })).status).toBe(502);
    expect(cases.calls('p2')).toBe(0);
  }
});

it('R80 R82 names of the operation, the eval, the session and tags are in the row, and come back', async () => {
  const tier = await cases.tier(['p1'], both);
  const response = await cases.post(
    tier,
    {},
    {
      headers: {
        'x-client-request-id': 'operation 7',
        'x-tiergate-eval-run': 'run-1',
        'x-tiergate-session': 'session-1',
        'x-tiergate-run-id': 'agent-1',
        'x-tiergate-tags': 'team=blue,city=Z%C3%BCrich',
        'x-stainless-retry-count': '2',
      },
    },
  );
  expect(response.headers.get('x-client-request-id')).toBe('operation 7');
  expect(await cases.rowOf(response)).toMatchObject({
    client_request_id: 'operation 7',
    eval_run: 'run-1',
    session: 'session-1',
    run_id: 'agent-1',
    tags: { team: 'blue', city: 'Zürich' },
    client_retry_count: 2,
  });
  expect(cases.received('p1')[0]?.headers['x-client-request-id']).toBe('operation 7');
  const found = await cases.gateway.rows('?client_request_id=operation%207&eval_run=run-1');
  expect(found).toHaveLength(1);
});

it('an unusable client request id is replaced, not refused', async () => {
  const tier = await cases.tier(['p1'], both);
  const headers = { 'x-client-request-id': 'x'.repeat(129) };
  const response = await cases.post(tier, {}, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-client-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

it('variables are taken as JSON and as base64url', async () => {
  const tier = await cases.tier(['p1'], both);
  const json = JSON.stringify({ tone: 'dry' });
  for (const value of [json, `b64:${Buffer.from(json).toString('base64url')}`]) {
    const headers = { 'x-tiergate-variables': value };
    expect((await cases.post(tier, {}, { headers })).status).toBe(200);
  }
});

it('meta: body puts who served into the answer, whole and streamed', async () => {
  for (const isStream of [false, true]) {
    const tier = await cases.tier(['p1', 'p2'], { ...both, p1: [{ status: 503 }] });
    const headers = { 'x-tiergate-meta': 'body' };
    const response = await cases.post(tier, { stream: isStream }, { headers });
    const text = await response.text();
    const documents = isStream
      ? text.split('\n').filter((line) => line.startsWith('data: {'))
      : [`data: ${text}`];
    const last = JSON.parse(documents.at(-1)?.slice(6) ?? '');
    expect(last.tiergate).toMatchObject({
      request_id: response.headers.get('x-tiergate-request-id'),
      tier,
      served_by: cases.targetOf('p2'),
      attempts: 4,
      failovers: 1,
      recovery: 'none',
    });
    expect(documents.filter((line) => line.includes('"tiergate"'))).toHaveLength(1);
    const plain = await (await cases.post(tier, { stream: isStream })).text();
    expect(plain).not.toContain('"tiergate"');
  }
});

it('the tier in the path counts, whatever the model says', async () => {
  const tier = await cases.tier(['p2'], both);
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };
  const response = await cases.gateway.post(`/v1/tiers/${tier}/chat/completions`, body);
  expect(response.headers.get('x-tiergate-tier')).toBe(tier);
  expect(await cases.rowOf(response)).toMatchObject({ requested_model: 'gpt-4o', provider: 'p2' });
});
