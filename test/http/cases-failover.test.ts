/** Who is asked next, and what is told about it: the cases of failover and of retries, end to end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptsOf, CaseGateway, hello } from '../support/case-gateway.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start();
});
afterAll(() => cases.close());

describe('order and budget', () => {
  it('FO-01 FO-06 a tier as a target, or a model without a provider, is refused by name', async () => {
    for (const targets of [[{ tier: 'fast' }], ['gpt-5.1'], [{ model: 'gpt-5.1' }]]) {
      const response = await cases.gateway.admin('/tiers/cycle', {
        method: 'PUT',
        headers: { 'content-type': 'application/json', 'if-none-match': '*' },
        body: JSON.stringify({ targets }),
      });
      expect(response.status).toBe(400);
      expect(JSON.stringify(await response.json())).toContain('targets');
    }
    expect((await cases.gateway.admin('/tiers/cycle')).status).toBe(404);
  });

  it('FO-02 the budget of retries is the request\u2019s, and no earlier target is asked again', async () => {
    const failing = [{ status: 500 }];
    const tier = await cases.tier(
      ['p1', 'p2', 'p3'],
      { p1: failing, p2: failing, p3: failing },
      { policies: { retry: { attempts: 3, attempts_total: 5 } } },
    );
    const response = await cases.post(tier);
    expect(response.status).toBe(502);
    const row = await cases.rowOf(response);
    expect(row.attempts.map(({ provider }) => provider)).toEqual(['p1', 'p1', 'p1', 'p2', 'p3']);
    expect(row).toMatchObject({ error_class: 'upstream_failed', failover_count: 2 });
    expect(await response.json()).toMatchObject({
      error: { tiergate: { class: 'upstream_failed', attempts: { length: 5 } } },
    });
  });

  it('FO-03 providers that hang are learnt: later requests do not pay', async () => {
    const tier = await cases.tier(
      ['p1', 'p2', 'p3'],
      { p1: [{ sse: ['HANG'] }], p2: [{ sse: ['HANG'] }], p3: hello.gemini },
      {
        policies: {
          timeout: { first_content: '150ms', first_content_soft: '100ms' },
          breaker: { min_span: '100ms' },
        },
      },
    );
    const rows = [];
    for (let nth = 0; nth < 10; nth += 1) rows.push((await cases.stream(tier)).row);
    expect(rows.every(({ provider, outcome }) => `${provider} ${outcome}` === 'p3 served')).toBe(
      true,
    );
    for (const row of rows.slice(3)) {
      expect(attemptsOf(row)).toEqual(['p3 served']);
      expect(row['skipped']).toHaveLength(2);
    }
  });

  it('BR-12 attempts on the way of a failover open the breaker of their own target', async () => {
    const tier = await cases.tier(
      ['p1', 'p2', 'p3'],
      { p1: [{ status: 500 }], p2: [{ status: 500 }], p3: hello.gemini },
      {
        policies: {
          retry: { attempts: 1 },
          breaker: { min_span: '0s', open_for: '60s', open_for_max: '60s' },
        },
      },
    );
    for (let nth = 0; nth < 5; nth += 1) {
      expect((await cases.stream(tier)).row).toMatchObject({ provider: 'p3', outcome: 'served' });
    }
    expect([cases.calls('p1'), cases.calls('p2'), cases.calls('p3')]).toEqual([3, 3, 5]);
  });

  it('BR-03 one probe at a time: the others pass by at once', async () => {
    const tier = await cases.tier(
      ['p1', 'p2'],
      { p1: [{ status: 500 }, { delay: 600, text: 'hello' }], p2: [{ text: 'hello' }] },
      {
        policies: {
          retry: { attempts: 1 },
          breaker: { failures: 1, min_span: '0s', open_for: '900ms', open_for_max: '900ms' },
          hedge: false,
        },
      },
    );
    await (await cases.post(tier)).arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 950));
    const answers = await Promise.all(Array.from({ length: 30 }, () => cases.post(tier)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const [, probe, ...later] = cases.received('p1');
    expect(probe?.end).toBe('completed');
    expect(later.filter(({ startedMs }) => startedMs < (probe?.endedMs ?? 0))).toEqual([]);
    expect(cases.calls('p2')).toBe(30 - later.length);
  });

  it.each([[400], [404], [413], [422]])(
    'BR-05 a %i is the request\u2019s own fault',
    async (status) => {
      const tier = await cases.tier(
        ['p1'],
        { p1: [{ status, body: { error: { message: 'no' } } }] },
        { policies: { breaker: { failures: 1, min_span: '0s' } } },
      );
      for (let nth = 0; nth < 3; nth += 1) {
        const response = await cases.post(tier);
        expect(response.status).toBe(400);
        expect((await cases.rowOf(response)).attempts).toMatchObject([{ breaker_after: 'closed' }]);
      }
      expect(cases.calls('p1')).toBe(3);
    },
  );

  it('BR-11 a lone target whose breaker is open is waited for, and answers', async () => {
    const tier = await cases.tier(
      ['p1'],
      { p1: [{ status: 500 }, { status: 500 }, { status: 500 }, ...hello.openai] },
      {
        policies: {
          retry: { attempts: 1 },
          breaker: { min_span: '0s', open_for: '300ms', open_for_max: '300ms' },
        },
      },
    );
    for (let nth = 0; nth < 3; nth += 1) expect((await cases.post(tier)).status).toBe(502);
    const { stream, row } = await cases.stream(tier);
    expect(stream.text).toBe('hello');
    expect(row.attempts).toMatchObject([{ kind: 'probe', outcome: 'served' }]);
  });
});

describe('what is told', () => {
  it('FO-05 FO-08 the header, the model and the row name who answered, streamed and whole', async () => {
    const tier = await cases.tier(['p1', 'p2'], { p1: [{ status: 503 }], p2: [{ text: 'ok' }] });
    for (const isStream of [true, false]) {
      const response = await cases.post(tier, { stream: isStream });
      const body = await response.text();
      expect(response.headers.get('x-tiergate-served-by')).toBe(cases.targetOf('p2'));
      expect(response.headers.get('x-tiergate-tier')).toBe(tier);
      expect(response.headers.get('x-tiergate-failovers')).toBe('1');
      expect(body).toContain(`"model":"${cases.modelOf('p2')}"`);
      expect(body).not.toContain(`"model":"${tier}"`);
      expect(await cases.rowOf(response)).toMatchObject({
        target: cases.targetOf('p2'),
        reported_model: cases.modelOf('p2'),
        requested_model: tier,
        failed_over: true,
      });
    }
    const [sent] = cases.received('p1');
    expect(cases.bodies('p1')[0].model).toBe(cases.modelOf('p1'));
    expect(sent?.body.toString('utf8')).not.toContain(tier);
  });

  it('FO-07 an empty answer that ends well is an answer; one that does not is none', async () => {
    const tier = await cases.tier(['p1', 'p2'], {
      p1: [{ sse: ['ROLE', 'FIN:stop', 'DONE'] }],
      p2: hello.anthropic,
    });
    const empty = await cases.stream(tier);
    expect(empty.stream).toMatchObject({ text: '', isDone: true, finishReasons: ['stop'] });
    expect(empty.row).toMatchObject({ provider: 'p1', outcome: 'served' });
    cases.control.script('p1', [{ sse: ['ROLE', 'END'] }]);
    expect((await cases.stream(tier)).row).toMatchObject({ provider: 'p2', outcome: 'served' });
  });

  it('RH-09 words about errors in a good answer are words', async () => {
    const text = 'HTTP 429 rate limit, overloaded, invalid api key';
    const tier = await cases.tier(['p1', 'p2'], {
      p1: [{ sse: ['ROLE', `T:${text}`, 'FIN:stop', 'DONE'] }],
    });
    expect((await cases.stream(tier)).stream.text).toBe(text);
    expect([cases.calls('p1'), cases.calls('p2')]).toEqual([1, 0]);
  });
});

describe('answers that are none', () => {
  const page = { headers: { 'content-type': 'text/html' }, body: '<html>lost</html>' };
  const half = 'RAW:HTTP/1.1 200 OK\\r\\ncontent-length: 9\\r\\n\\r\\n{"id":';
  const none = [
    ['an HTML page', page, 'malformed_response'],
    ['an empty object', { body: {} }, 'malformed_response'],
    ['no choices', { body: { object: 'chat.completion', choices: [] } }, 'malformed_response'],
    ['an overload', { body: { error: { code: 'overloaded', message: 'x' } } }, 'overload'],
    ['half a document', { socket: [half, 'CUT'] }, 'connection'],
  ] as const;
  it.each(none.flatMap((row) => [true, false].map((isStream) => [...row, isStream] as const)))(
    'RH-11 RH-08 %s under 200 is a failed attempt, of class %3$s (stream %4$s)',
    async (_name, call, errorClass, isStream) => {
      const tier = await cases.tier(['p1', 'p2'], { p1: [call], p2: [{ text: 'ok' }] });
      const response = await cases.post(tier, { stream: isStream });
      expect(await response.text()).toContain('"content":"ok"');
      const row = await cases.rowOf(response);
      expect(row).toMatchObject({ provider: 'p2', outcome: 'served' });
      const failed = row.attempts.slice(0, -1);
      expect(failed.map((attempt) => attempt['error_class'])).toEqual([
        errorClass,
        errorClass,
        errorClass,
      ]);
    },
  );

  it.each(['p2', 'p3'] as const)(
    'RH-11 a page in place of a stream is no stream of %s either',
    async (name) => {
      const tier = await cases.tier([name, 'p1'], { [name]: [page], p1: hello.openai });
      const { stream, row } = await cases.stream(tier);
      expect(stream.text).toBe('hello');
      expect(row.attempts[0]).toMatchObject({ provider: name, error_class: 'malformed_response' });
    },
  );

  it('RH-08 a 402 is not made retryable by its body', async () => {
    const tier = await cases.tier(['p1', 'p2'], {
      p1: [{ status: 402, body: { error: { type: 'server_error', code: 'InternalServerError' } } }],
      p2: hello.anthropic,
    });
    const { row } = await cases.stream(tier);
    expect(row['provider']).toBe('p2');
    expect(cases.calls('p1')).toBe(1);
  });

  it('RH-04 a date beyond all calendars is no hint, and the fault told is the provider\u2019s', async () => {
    const tier = await cases.tier(['p1'], {
      p1: [{ status: 503, headers: { 'retry-after': 'Fri, 31 Dec 999999 23:59:59 GMT' } }],
    });
    const response = await cases.post(tier);
    expect([502, 503]).toContain(response.status);
    const document = (await response.json()) as { error: { code: string; message: string } };
    expect(['upstream_failed', 'no_target_available']).toContain(document.error.code);
    expect(document.error.message).toContain('503');
  });

  it.each([
    'Wed, 99 Foo 2026 10:00:00 GMT',
    'soon',
    '',
    '5 minutes',
    'Infinity',
    '1e9',
    '0x10',
    '-5',
    '120s',
    '+3',
    '3,5',
  ])('RH-01 RH-03 Retry-After %j is no hint: the backoff counts', async (value) => {
    const tier = await cases.tier(['p1'], {
      p1: [
        { status: 503, headers: { 'retry-after': value }, body: { error: { message: 'x' } } },
        { text: 'ok' },
      ],
    });
    const response = await cases.post(tier);
    expect(response.status).toBe(200);
    const row = await cases.rowOf(response);
    expect(row.attempts[0]).toMatchObject({ retry_after_ms: null });
    expect(row.attempts[1]).toMatchObject({ delay_reason: 'backoff' });
    expect(row.attempts[1]?.['delay_before_ms']).toBeLessThanOrEqual(20);
  });

  it('RH-05 CF-04 the client lowers the retries, and never raises them', async () => {
    const expected = { 1: 2, 0: 1, 9: 3 };
    for (const [asked, calls] of Object.entries(expected)) {
      const tier = await cases.tier(['p1'], { p1: [{ status: 500 }] });
      const headers = { 'x-tiergate-max-retries': asked, 'x-retries': '5' };
      expect((await cases.post(tier, {}, { headers })).status).toBe(502);
      expect(cases.calls('p1')).toBe(calls);
    }
  });

  it('RH-10 sockets that the provider closes as they are used again cost no client an answer', async () => {
    const tier = await cases.tier(
      ['p1'],
      { p1: [{ text: 'ok' }] },
      { policies: { retry: { attempts: 1 } } },
    );
    cases.control.closeIdleAfter('p1', 2);
    const statuses: number[] = [];
    for (let nth = 0; nth < 200; nth += 1) {
      const response = await cases.post(tier);
      await response.arrayBuffer();
      statuses.push(response.status);
      await new Promise((resolve) => setTimeout(resolve, nth % 5));
    }
    cases.control.closeIdleAfter('p1', null);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
