/** Streams that fail before, in and after the hold: the cases of streaming, end to end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptsOf, CaseGateway, hello } from '../support/case-gateway.ts';

let cases: CaseGateway;
beforeAll(async () => {
  cases = await CaseGateway.start({
    providers: { p1b: { max_event: '64kb', allow_missing_finish: true } },
  });
});
afterAll(() => cases.close());

const failForward = { stream: { on_interrupt: 'fail_forward' } };

function anthropicError(type: string): string {
  return `RAW:event: error\\ndata: {"type":"error","error":{"type":"${type}","message":"x"}}\\n\\n`;
}

describe('errors inside a stream before its first content', () => {
  it('ST-01 an error event is a failed attempt, and the next target answers', async () => {
    const tier = await cases.tier(['p2', 'p1'], {
      p2: [{ sse: [anthropicError('overloaded_error'), 'END'] }],
      p1: hello.openai,
    });
    const { response, stream, row } = await cases.stream(tier);
    expect(response.status).toBe(200);
    expect(stream).toMatchObject({ text: 'hello', error: null, isDone: true });
    expect(response.headers.get('x-tiergate-served-by')).toBe(cases.targetOf('p1'));
    expect(cases.calls('p1')).toBe(1);
    expect(attemptsOf(row)).toEqual(['p2 overload', 'p2 overload', 'p2 overload', 'p1 served']);
    expect(row).toMatchObject({ outcome: 'served', provider: 'p1', failed_over: true });
  });

  it('ST-04 a hundred times in one process, each request starts afresh', async () => {
    const tier = await cases.tier(
      ['p1', 'p2'],
      {
        p1: [{ sse: ['RAW:data: {"error":{"message":"boom","code":502}}\\n\\n', 'END'] }],
        p2: hello.anthropic,
      },
      { policies: { retry: { attempts: 2 } } },
    );
    const texts: string[] = [];
    for (let round = 0; round < 100; round += 1) {
      const { stream, row } = await cases.stream(tier);
      texts.push(`${stream.text} ${row['provider']} ${row['outcome']}`);
    }
    expect(new Set(texts)).toEqual(new Set(['hello p2 served']));
  });

  it('ST-06 a role is no content: the status is still open', async () => {
    const tier = await cases.tier(['p1'], {
      p1: [
        { sse: ['ROLE', 'RAW:data: {"error":{"message":"no capacity","code":503}}\\n\\n', 'END'] },
      ],
    });
    const response = await cases.post(tier, { stream: true });
    expect([502, 503]).toContain(response.status);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
  });

  it('ST-07 an unknown event is ignored with a counter, an end without a terminal event is a failure', async () => {
    const tier = await cases.tier(['p2', 'p1'], {
      p2: [
        {
          sse: [
            'ROLE',
            'RAW:event: brand_new_event\\ndata: {"type":"brand_new_event"}\\n\\n',
            anthropicError('api_error'),
            'END',
          ],
        },
        {
          sse: [
            'ROLE',
            'RAW:event: brand_new_event\\ndata: {"type":"brand_new_event"}\\n\\n',
            'END',
          ],
        },
      ],
      p1: hello.openai,
    });
    const { stream, row } = await cases.stream(tier);
    expect(stream.text).toBe('hello');
    expect(attemptsOf(row)).toEqual([
      'p2 transient_infra',
      'p2 stream_interrupted',
      'p2 stream_interrupted',
      'p1 served',
    ]);
    expect(row['malformed_events']).toBe(0);
    const { totals } = (await (await cases.gateway.admin('/status')).json()) as {
      readonly totals: { readonly unknown_events: unknown };
    };
    expect(totals.unknown_events).toMatchObject({ [`${cases.targetOf('p2')} brand_new_event`]: 3 });
  });

  it('ST-08 an error hidden in a chunk, or as a finish reason, is a failure', async () => {
    const tier = await cases.tier(['p1', 'p2'], {
      p1: [
        {
          sse: [
            'RAW:data: {"id":"x","choices":[],"error":{"code":502,"message":"worker limit"}}\\n\\n',
            'DONE',
          ],
        },
        { sse: ['ROLE', 'FIN:error', 'DONE'] },
      ],
      p2: hello.anthropic,
    });
    const { stream, row } = await cases.stream(tier);
    expect(stream).toMatchObject({ text: 'hello', finishReasons: ['stop'] });
    expect(row).toMatchObject({ provider: 'p2', outcome: 'served' });
    expect(row.attempts[0]).toMatchObject({ provider: 'p1', error_class: 'transient_infra' });
    expect(row.attempts[1]).toMatchObject({ provider: 'p1', outcome: 'failed' });
  });
});

describe('silence', () => {
  const silent = { timeout: { first_content: '300ms', headers: '300ms', idle: '300ms' } };

  it('ST-05 no content at all is a timeout that counts, and the next target answers', async () => {
    const tier = await cases.tier(
      ['p1', 'p2'],
      { p1: [{ sse: ['HANG'] }], p2: hello.anthropic },
      { policies: { ...silent, breaker: { failures: 1, min_span: '0s' } } },
    );
    const started = performance.now();
    const { stream, row } = await cases.stream(tier);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(stream.text).toBe('hello');
    expect(attemptsOf(row)).toEqual(['p1 timeout', 'p2 served']);
    expect(row.attempts[0]).toMatchObject({ output_tokens: null, breaker_after: 'open' });
  });

  it('ST-24 a role again and again is no first content', async () => {
    const tier = await cases.tier(
      ['p1', 'p2'],
      { p1: [{ sse: ['ROLE', 'ROLE', 'HANG'] }], p2: hello.anthropic },
      { policies: silent },
    );
    const { stream, row } = await cases.stream(tier);
    expect(stream.text).toBe('hello');
    expect(attemptsOf(row)).toEqual(['p1 timeout', 'p2 served']);
  });

  it('ST-21 silence after the first words, inside the hold, is cut and restarted', async () => {
    const tier = await cases.tier(
      ['p1', 'p2'],
      { p1: [{ sse: ['ROLE', 'T:a ', 'HANG'] }], p2: hello.anthropic },
      {
        policies: {
          timeout: { idle: '200ms', first_content: '5s' },
          stream: { hold_max: '5s' },
        },
      },
    );
    const started = performance.now();
    const { response, stream } = await cases.stream(tier);
    expect(performance.now() - started).toBeLessThan(3000);
    expect(stream.text).toBe('hello');
    expect(response.headers.get('x-tiergate-recovery')).toBe('restarted');
    await expect.poll(() => cases.received('p1')[0]?.end).toBe('peer_closed');
  });

  it('ST-20 a whole reply that stops in its middle is cut, and the next target answers', async () => {
    const head = 'HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: 500';
    const tier = await cases.tier(
      ['p1', 'p2'],
      {
        p1: [{ socket: [`RAW:${head}\\r\\n\\r\\n{"id":"x","object":"chat.comple`, 'HANG'] }],
        p2: [{ body: 'ok' }],
      },
      { policies: { timeout: { idle: '300ms' } } },
    );
    const started = performance.now();
    const response = await cases.post(tier);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'ok' } }] });
    expect(performance.now() - started).toBeLessThan(2500);
    expect(response.headers.get('x-tiergate-served-by')).toBe(cases.targetOf('p2'));
    await expect.poll(() => cases.received('p1').every(({ end }) => end !== null)).toBe(true);
  });

  it('ST-22 the headers clock ends with the headers', async () => {
    const tier = await cases.tier(
      ['p1'],
      { p1: [{ sse: ['ROLE', 'T:a ', 'SLEEP:600', 'T:b', 'FIN:stop', 'DONE'] }] },
      { policies: { timeout: { connect: '300ms', headers: '300ms', idle: '2s' } } },
    );
    const { stream, row } = await cases.stream(tier);
    expect(stream.text).toBe('a b');
    expect(row['outcome']).toBe('served');
  });
});

describe('breaks after content', () => {
  it('ST-02 LG-05 a cut after the hold is an error event, never a success', async () => {
    const tier = await cases.tier(
      ['p1'],
      { p1: [{ sse: ['ROLE', 'REP:40:T:w ', 'CUT'] }] },
      { policies: failForward },
    );
    const { response, stream, row } = await cases.stream(tier);
    expect(response.status).toBe(200);
    expect(stream.text).toBe('w '.repeat(40));
    expect(stream).toMatchObject({ isDone: false, finishReasons: [] });
    expect(stream.events.filter(({ error }) => error !== undefined)).toHaveLength(1);
    expect(stream.error).toMatchObject({
      code: 'stream_interrupted',
      tiergate: { class: 'stream_interrupted', regenerate: true },
    });
    expect(String(stream.error?.['message'])).toContain(String(row['id']));
    expect(row).toMatchObject({
      outcome: 'failed',
      error_class: 'stream_interrupted',
      recovery: 'failed_forward',
      provider: 'p1',
      finish_reason: null,
      // Nobody told them.
      output_tokens: null,
    });
    cases.control.script('p1', [{ sse: ['ROLE', 'REP:40:T:w ', 'USAGE:3:40', 'SLEEP:30', 'CUT'] }]);
    const told = await cases.stream(tier);
    expect(told.stream).toMatchObject({ text: 'w '.repeat(40), isDone: false });
    expect(told.row).toMatchObject({ outcome: 'failed', input_tokens: 3, output_tokens: 40 });
  });

  it('LG-05 an error event after thirty words is a failed row that names who wrote', async () => {
    const tier = await cases.tier(
      ['p1'],
      {
        p1: [
          {
            sse: [
              'ROLE',
              'REP:30:T:x ',
              'SLEEP:60',
              'RAW:data: {"error":{"code":500}}\\n\\n',
              'END',
            ],
          },
        ],
      },
      { policies: failForward },
    );
    const { stream, row } = await cases.stream(tier);
    expect(stream).toMatchObject({ text: 'x '.repeat(30), isDone: false });
    expect(stream.error).not.toBeNull();
    expect(row).toMatchObject({ outcome: 'failed', provider: 'p1', recovery: 'failed_forward' });
  });

  it('ST-03 with failover off no other target is asked, before the first byte or after it', async () => {
    const off = { 'x-tiergate-failover': 'off' };
    const early = await cases.tier(['p1', 'p2'], {
      p1: [{ sse: ['ROLE', 'T:a', 'CUT'] }],
      p2: hello.anthropic,
    });
    const response = await cases.post(early, { stream: true }, { headers: off });
    expect(response.status).toBe(502);
    expect(cases.calls('p1')).toBe(3);
    expect(cases.calls('p2')).toBe(0);
    const late = await cases.tier(
      ['p1', 'p2'],
      { p1: [{ sse: ['ROLE', 'T:a', 'CUT'] }], p2: hello.anthropic },
      { policies: { stream: { hold_tokens: 0, on_interrupt: 'fail_forward' } } },
    );
    const { stream } = await cases.stream(late, {}, off);
    expect(stream).toMatchObject({ text: 'a', isDone: false });
    expect(stream.error).not.toBeNull();
    expect(cases.calls('p2')).toBe(0);
  });

  it('ST-09 a silent restart shows one role, one id, one created, and no word of the first', async () => {
    const tier = await cases.tier(['p1', 'p2'], {
      p1: [{ sse: ['ROLE', 'T:one ', 'T:two ', 'CUT'] }],
      p2: [{ sse: ['ROLE', 'T:fresh', 'FIN:end_turn', 'DONE'] }],
    });
    const { stream, row } = await cases.stream(tier);
    const roles = stream.events.flatMap(({ choices }) => choices ?? []).map(({ delta }) => delta);
    expect(roles.filter((delta) => delta?.role !== undefined)).toHaveLength(1);
    expect(new Set(stream.events.map(({ id }) => id)).size).toBe(1);
    expect(new Set(stream.events.map(({ created }) => created)).size).toBe(1);
    expect(stream.text).toBe('fresh');
    expect(row).toMatchObject({ recovery: 'restarted', provider: 'p2' });
  });

  it('ST-10 an answer that starts over adds only what is new, or fails forward', async () => {
    const tier = await cases.tier(
      ['p1', 'p2'],
      {
        p1: [{ sse: ['ROLE', 'REP:25:T:alpha ', 'CUT'] }],
        p2: [{ sse: ['ROLE', 'REP:25:T:alpha ', 'T:omega', 'FIN:end_turn', 'DONE'] }],
      },
      { policies: failForward },
    );
    const { stream } = await cases.stream(tier);
    expect(stream.text).toBe('alpha '.repeat(25));
    expect(stream).toMatchObject({ isDone: false });
    expect(stream.error).not.toBeNull();
    expect(cases.calls('p2')).toBe(0);
    const continued = await cases.tier(
      ['p1', 'p2'],
      {
        p1: [{ sse: ['ROLE', 'REP:25:T:alpha ', 'SLEEP:30', 'CUT'] }],
        p2: [{ sse: ['ROLE', 'REP:25:T:alpha ', 'T:omega', 'FIN:end_turn', 'DONE'] }],
      },
      { policies: { breaker: { failures: 1, min_span: '0s' } } },
    );
    const whole = await cases.stream(continued);
    expect(whole.stream).toMatchObject({ text: `${'alpha '.repeat(25)}omega`, isDone: true });
    expect(whole.row).toMatchObject({ outcome: 'served', recovery: 'continued', provider: 'p2' });
  });

  it('ST-11 an end without its finish is a failure, unless the provider is known to send none', async () => {
    const half = [{ sse: ['ROLE', 'T:half', 'END'] }];
    const tier = await cases.tier(['p1', 'p2'], { p1: half, p2: hello.anthropic });
    const strict = await cases.stream(tier);
    expect(strict.stream.text).toBe('hello');
    expect(strict.row['provider']).toBe('p2');
    const lenient = await cases.tier(['p1b', 'p2'], { p1b: half, p2: hello.anthropic });
    const { stream, row } = await cases.stream(lenient);
    expect(stream).toMatchObject({ text: 'half', finishReasons: ['stop'], isDone: true });
    expect(row).toMatchObject({ provider: 'p1b', outcome: 'served', finish_reason: 'stop' });
    expect(cases.calls('p2')).toBe(0);
    const message = { role: 'assistant', content: 'half' };
    const body = { id: 'x', choices: [{ index: 0, message, finish_reason: null }] };
    const whole = await cases.tier(['p1b', 'p2'], { p1b: [{ body }], p2: hello.anthropic });
    const inOnePiece = (await cases.stream(whole)).stream;
    expect(inOnePiece).toMatchObject({ text: 'half', finishReasons: ['stop'], isDone: true });
  });

  it('ST-12 a finish without [DONE] is complete, and the client gets its [DONE]', async () => {
    const tier = await cases.tier(['p1', 'p2'], {
      p1: [{ sse: ['ROLE', 'T:hello', 'FIN:stop', 'END'] }],
    });
    const { stream, row } = await cases.stream(tier);
    expect(stream).toMatchObject({ text: 'hello', finishReasons: ['stop'], isDone: true });
    expect(stream.raw.trimEnd().endsWith('data: [DONE]')).toBe(true);
    expect(row).toMatchObject({ provider: 'p1', outcome: 'served' });
    expect(cases.calls('p2')).toBe(0);
  });
});
