/** Outages as clients live through them, on real sockets: overload, rate limits, refusals, silence, deadlines. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { attemptsOf, CaseGateway, hello } from '../support/case-gateway.ts';
import type { ServedRowWithAttempts } from '../support/running-gateway.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

const overloaded = {
  status: 529,
  body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
};

/** `total` requests, `atOnce` of them at a time; each one's status and row. */
async function load(
  tier: string,
  total: number,
  atOnce: number,
): Promise<readonly { readonly status: number; readonly row: ServedRowWithAttempts }[]> {
  const responses: Response[] = [];
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < total) {
      begun += 1;
      const response = await cases.post(tier);
      await response.arrayBuffer();
      responses.push(response);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const rows = await Promise.all(responses.map((response) => cases.rowOf(response)));
  return responses.map(({ status }, index) => {
    const row = rows[index];
    if (row === undefined) throw new Error('no row');
    return { status, row };
  });
}

it('RH-07 R72 R73 R80 primary answering 529 throughout: 200 answers, then all of the second; a probe per period', async () => {
  const tier = await cases.tier(
    ['p2', 'p1'],
    { p2: [overloaded], p1: [{ text: 'hello' }] },
    {
      policies: {
        retry: { base: '500ms', cap: '1s', attempts: 4 },
        breaker: { min_span: '200ms', open_for: '1s', open_for_max: '1s' },
      },
    },
  );
  const answers = await load(tier, 200, 20);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  // Those that were under way while it was still closed paid; all after them did not, but for a
  // probe a period, however long the machine takes for the rest.
  const later = answers.filter(({ row }) => row.attempts.length === 1);
  const probes = answers.filter(({ row }) => row.attempts[0]?.['kind'] === 'probe');
  expect(answers.length - later.length - probes.length).toBeLessThanOrEqual(40);
  for (const { row } of answers) {
    expect(row).toMatchObject({ outcome: 'served', provider: 'p1', failed_over: true });
    expect(row['attempt_count']).toBe(row.attempts.length);
    expect(row.attempts.at(-1)).toMatchObject({ provider: 'p1', outcome: 'served', status: 200 });
    for (const attempt of row.attempts.slice(0, -1)) {
      expect(attempt).toMatchObject({ provider: 'p2', error_class: 'overload', status: 529 });
    }
    for (const retry of row.attempts.filter(({ kind }) => kind === 'retry')) {
      expect(retry).toMatchObject({ delay_reason: 'backoff' });
      expect(retry['delay_before_ms']).toBeGreaterThanOrEqual(499);
    }
  }
  for (const { row } of later) {
    expect(row['skipped']).toEqual([{ target: cases.targetOf('p2'), reason: 'open' }]);
  }
  const before = cases.control.calls('p2');
  const started = performance.now();
  while (performance.now() - started < 2500) await load(tier, 5, 5);
  const periods = Math.ceil((performance.now() - started) / (1000 * 0.8)) + 1;
  expect(cases.control.calls('p2') - before).toBeLessThanOrEqual(periods);
  expect(cases.control.calls('p2') - before).toBeGreaterThanOrEqual(1);
});

it('R72 BR-01 a primary that recovers is found by a probe and serves again', async () => {
  const tier = await cases.tier(
    ['p2', 'p1'],
    { p2: [overloaded, overloaded, overloaded, ...hello.anthropic], p1: hello.openai },
    {
      policies: {
        retry: { attempts: 3, base: '120ms', cap: '120ms' },
        breaker: { min_span: '100ms', open_for: '1s', open_for_max: '1s' },
      },
    },
  );
  expect((await cases.stream(tier)).row).toMatchObject({ provider: 'p1' });
  expect((await cases.stream(tier)).row).toMatchObject({ provider: 'p1', attempt_count: 1 });
  await new Promise((resolve) => setTimeout(resolve, 1050));
  const probe = await cases.stream(tier);
  expect(probe.row).toMatchObject({ provider: 'p2', failed_over: false });
  expect(probe.row.attempts[0]).toMatchObject({ kind: 'probe', breaker_after: 'closed' });
});

describe('one fault, then fine', () => {
  it('R72 one 529: the primary answers after one retry, no failover, breaker closed', async () => {
    const tier = await cases.tier(['p2', 'p1'], { p2: [overloaded, { text: 'hello' }] });
    const response = await cases.post(tier);
    expect(response.headers.get('x-tiergate-served-by')).toBe(cases.targetOf('p2'));
    expect(response.headers.get('x-tiergate-attempts')).toBe('2');
    expect(response.headers.get('x-tiergate-failovers')).toBe('0');
    const row = await cases.rowOf(response);
    expect(row).toMatchObject({ retry_count: 1, failover_count: 0, failed_over: false });
    expect(row.attempts.map(({ breaker_after: state }) => state)).toEqual(['closed', 'closed']);
    expect(cases.calls('p1')).toBe(0);
  });

  it('R10 a 400 is asked once, nowhere else, and its reason reaches the client', async () => {
    const error = { message: 'bad thing', type: 'invalid_request_error', param: 'messages' };
    const tier = await cases.tier(['p1', 'p2'], { p1: [{ status: 400, body: { error } }] });
    const response = await cases.post(tier);
    expect(response.status).toBe(400);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({
      error: {
        message: expect.stringContaining('bad thing'),
        type: 'invalid_request_error',
        param: 'messages',
        tiergate: { class: 'invalid_request', retryable: false },
      },
    });
    expect([cases.calls('p1'), cases.calls('p2')]).toEqual([1, 0]);
  });

  it.each([
    ['R13 a 401', { status: 401 }, 'auth', 'auth_rejected'],
    [
      'R12 RH-06 insufficient_quota',
      { status: 429, body: { error: { code: 'insufficient_quota', message: 'x' } } },
      'quota_exhausted',
      'quota_exhausted',
    ],
  ] as const)('%s fails over at once, and loudly', async (_name, refusal, errorClass, alert) => {
    const tier = await cases.tier(['p1', 'p2'], { p1: [refusal], p2: hello.anthropic });
    const { stream, row } = await cases.stream(tier);
    expect(stream.text).toBe('hello');
    expect(attemptsOf(row)).toEqual([`p1 ${errorClass}`, 'p2 served']);
    expect(row['backoff_ms']).toBe(0);
    expect(row.attempts[0]).toMatchObject({ breaker_after: 'closed' });
    const loud = cases.gateway.log.filter(({ fields }) => fields['alert'] === alert);
    expect(loud.some(({ level }) => level === 'error')).toBe(true);
    expect((await cases.stream(tier)).row['skipped']).toEqual([
      { target: cases.targetOf('p1'), reason: 'parked' },
    ]);
    expect(cases.calls('p1')).toBe(1);
  });
});

describe('rate limits', () => {
  const limited = (seconds: string): JsonObject => ({
    status: 429,
    headers: { 'retry-after': seconds },
    body: { error: { message: 'slow down', code: 'rate_limit_exceeded' } },
  });

  it('R06 Retry-After: 2 is waited for in full, and the primary answers', async () => {
    const tier = await cases.tier(['p1', 'p2'], { p1: [limited('2'), { text: 'hello' }] });
    const response = await cases.post(tier);
    const row = await cases.rowOf(response);
    expect(attemptsOf(row)).toEqual(['p1 rate_limit', 'p1 served']);
    expect(row.attempts[0]).toMatchObject({ retry_after_ms: 2000 });
    expect(row.attempts[1]).toMatchObject({ delay_reason: 'hint' });
    const [first, second] = cases.received('p1');
    expect((second?.startedMs ?? 0) - (first?.startedMs ?? 0)).toBeGreaterThanOrEqual(2000);
    expect(row['backoff_ms']).toBeGreaterThanOrEqual(2000);
    expect(cases.calls('p2')).toBe(0);
  });

  it('R07 Retry-After: 3600 holds nobody; alone it is a 429 that says so', async () => {
    const tier = await cases.tier(['p1', 'p2'], { p1: [limited('3600')], p2: hello.anthropic });
    const started = performance.now();
    const { row } = await cases.stream(tier);
    expect(attemptsOf(row)).toEqual(['p1 rate_limit', 'p2 served']);
    const lone = await cases.tier(['p1'], { p1: [limited('3600')] });
    const response = await cases.post(lone);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(response.status).toBe(429);
    const retryAfter = Number(response.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(590);
    expect(retryAfter).toBeLessThanOrEqual(3600);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });

  it('BR-06 during the wait others pass it by, and the breaker stays closed', async () => {
    const tier = await cases.tier(
      ['p1', 'p2'],
      { p1: [limited('1'), { text: 'hello' }], p2: hello.anthropic },
      { policies: { retry: { max_wait: '0s' } } },
    );
    for (let nth = 0; nth < 5; nth += 1) {
      expect((await cases.stream(tier)).row).toMatchObject({ provider: 'p2' });
    }
    expect(cases.calls('p1')).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const { row } = await cases.stream(tier);
    expect(row).toMatchObject({ provider: 'p1' });
    expect(row.attempts[0]).toMatchObject({ breaker_before: 'closed' });
  });
});

describe('deadlines', () => {
  const silent = [{ delay: 60_000, body: 'late' }];

  it('R20 FO-09 a silent primary leaves the fallback time enough, streamed and whole', async () => {
    for (const isStream of [false, true]) {
      const tier = await cases.tier(
        ['p1', 'p2'],
        { p1: silent, p2: [{ text: 'hello' }] },
        { policies: { deadline: '2s' } },
      );
      const started = performance.now();
      const response = await cases.post(tier, { stream: isStream });
      expect(await response.text()).toContain('hello');
      expect(performance.now() - started).toBeLessThan(2000);
      const row = await cases.rowOf(response);
      expect(attemptsOf(row)).toEqual(['p1 timeout', 'p2 served']);
      expect(row.attempts[0]?.['duration_ms']).toBeLessThan(1500);
    }
  });

  it('R20 a hedge beside the silent primary answers as well', async () => {
    const tier = await cases.tier(
      ['p1', 'p2'],
      { p1: silent, p2: [{ text: 'hello' }] },
      { policies: { deadline: '2s', hedge: {} } },
    );
    const { stream, row } = await cases.stream(tier);
    expect(stream.text).toBe('hello');
    expect(row['latency_ms']).toBeLessThan(2000);
    expect(row).toMatchObject({ outcome: 'served', provider: 'p2', failed_over: true });
  });

  it('R20 with every target silent a 504 comes at the deadline, not later', async () => {
    const tier = await cases.tier(['p1', 'p2', 'p3'], { p1: silent, p2: silent, p3: silent });
    const started = performance.now();
    const response = await cases.post(tier, {}, { headers: { 'x-tiergate-deadline-ms': '2000' } });
    const tookMs = performance.now() - started;
    expect(response.status).toBe(504);
    expect(tookMs).toBeGreaterThan(1800);
    expect(tookMs).toBeLessThan(2600);
    expect(await response.json()).toMatchObject({
      error: { code: 'deadline_exceeded', tiergate: { retryable: false } },
    });
    expect(await cases.rowOf(response)).toMatchObject({
      outcome: 'failed',
      error_class: 'deadline_exceeded',
      status: 504,
      deadline_ms: 2000,
    });
    await expect.poll(() => cases.control.openRequests('p1')).toBe(0);
  });

  it('R20 the patience that an SDK tells is the deadline of a whole reply, less a margin', async () => {
    const tier = await cases.tier(['p1'], { p1: silent });
    const started = performance.now();
    const response = await cases.post(tier, {}, { headers: { 'x-stainless-timeout': '1' } });
    expect(response.status).toBe(504);
    expect(performance.now() - started).toBeLessThan(1000);
    expect(await cases.rowOf(response)).toMatchObject({ deadline_ms: 750 });
  });
});
