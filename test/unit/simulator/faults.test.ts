/** Every kind of fault, on every vendor, seen through bare sockets. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseDuration } from '../../../src/simulator/faults/duration.ts';
import { type Fault, faultKinds, parseFaultOrder } from '../../../src/simulator/faults/fault.ts';
import {
  type SimulatedUpstream,
  startSimulatedUpstream,
} from '../../support/simulated-upstream.ts';
import {
  bodyText,
  dataEvents,
  parseReply,
  type RawOptions,
  type RawReply,
  rawRequest,
} from './raw-client.ts';
import { type Asked, streamed, validRequests } from './requests.ts';

let upstream: SimulatedUpstream;

beforeAll(async () => {
  upstream = await startSimulatedUpstream();
});
beforeEach(() => upstream.control.clear());
afterAll(() => upstream.close());

type Form = 'whole' | 'stream';

function ask(name: Asked, form: Form, options: RawOptions = {}): Promise<RawReply> {
  const request = form === 'stream' ? streamed(name) : validRequests[name];
  return rawRequest(upstream.url(name) + request.path, request.body, {
    ...options,
    headers: { ...request.headers, ...options.headers },
  });
}

function strike(
  name: Asked,
  kind: Fault['kind'],
  settings: Partial<Omit<Fault, 'kind'>> = {},
): void {
  upstream.control.fault(name, kind, settings);
}

const asked = ['p1', 'p2', 'p3'] as const;

describe('an error fault speaks as its vendor does', () => {
  it.each<
    readonly [
      Fault['kind'],
      readonly [number, string],
      readonly [number, string],
      readonly [number, string],
    ]
  >([
    ['overload', [503, 'server_is_overloaded'], [529, 'overloaded_error'], [503, 'UNAVAILABLE']],
    ['rate_limit', [429, 'rate_limit_exceeded'], [429, 'rate_limit_error'], [429, 'PerMinute']],
    ['quota', [429, 'insufficient_quota'], [400, 'credit balance'], [429, 'PerDay']],
    ['auth', [401, 'invalid_api_key'], [401, 'authentication_error'], [400, 'API_KEY_INVALID']],
    [
      'permission',
      [403, 'unsupported_country'],
      [403, 'permission_error'],
      [403, 'PERMISSION_DENIED'],
    ],
    ['not_found', [404, 'model_not_found'], [404, 'model: claude-sonnet-4-5'], [404, 'NOT_FOUND']],
    [
      'context_length',
      [400, 'context_length_exceeded'],
      [400, 'prompt is too long'],
      [400, 'input token count'],
    ],
    [
      'content_policy',
      [400, 'content_policy_violation'],
      [400, 'content filtering policy'],
      [400, 'content policy'],
    ],
    ['server_error', [500, 'server_error'], [500, 'api_error'], [500, 'INTERNAL']],
  ])('%s', async (kind, ...expected) => {
    for (const [index, name] of asked.entries()) {
      strike(name, kind);
      for (const form of ['whole', 'stream'] as const) {
        const { status, body, headers } = parseReply((await ask(name, form)).bytes);
        const [wantedStatus, words] = expected[index] ?? [0, ''];
        expect([name, status, body.toString()]).toEqual([
          name,
          wantedStatus,
          expect.stringContaining(words),
        ]);
        expect(headers['content-type']).toBe('application/json');
        expect(JSON.parse(body.toString())).toHaveProperty('error.message');
      }
    }
  });

  it('rate_limit says when to come back, where the vendor says it', async () => {
    for (const name of asked) strike(name, 'rate_limit', { retryAfterMs: 1_500 });
    const [openai, anthropic, gemini] = await Promise.all(asked.map((name) => ask(name, 'whole')));
    expect(parseReply(openai?.bytes ?? Buffer.of()).headers).toMatchObject({
      'retry-after': '2',
      'retry-after-ms': '1500',
    });
    expect(parseReply(anthropic?.bytes ?? Buffer.of()).headers['retry-after']).toBe('2');
    expect(bodyText(gemini as RawReply)).toContain('"retryDelay": "1.5s"');
  });

  it('bad_gateway is a page of HTML', async () => {
    strike('p1', 'bad_gateway');
    const { status, headers } = parseReply((await ask('p1', 'whole')).bytes);
    expect([status, headers['content-type']]).toEqual([502, 'text/html; charset=utf-8']);
  });
});

describe('a fault of the connection', () => {
  it('refuse closes it without a byte', async () => {
    strike('p1', 'refuse');
    const { bytes, end } = await ask('p1', 'whole');
    expect([bytes.length, end]).toEqual([0, 'end']);
  });

  it('reset resets it without a byte', async () => {
    strike('p1', 'reset');
    const { bytes, end } = await ask('p1', 'whole');
    expect([bytes.length, end]).toEqual([0, 'reset']);
  });

  it('silent takes the request and never answers', async () => {
    strike('p1', 'silent');
    const isSilenced = (): boolean => {
      const by = upstream.requests('p1').at(-1)?.answeredBy;
      return by?.kind === 'fault' && by.fault === 'silent';
    };
    const leaving = new AbortController();
    const asking = ask('p1', 'whole', { signal: leaving.signal });
    await upstream.until(() => isSilenced());
    const record = upstream.requests('p1').at(-1);
    expect(record).toMatchObject({ answeredBy: { fault: 'silent' }, status: null, end: null });
    leaving.abort();
    expect(await asking).toMatchObject({ end: 'left', bytes: Buffer.alloc(0) });
    await upstream.until(() => record?.end === 'peer_closed');
  });

  it('down closes the port, clearing opens the same one again', async () => {
    strike('p1', 'down');
    expect((await ask('p1', 'whole')).end).toBe('refused');
    upstream.control.clear('p1');
    expect(parseReply((await ask('p1', 'whole')).bytes).status).toBe(200);
  });
});

describe('a fault of the answer', () => {
  it('slow holds back the first token of a stream and a whole reply', async () => {
    strike('p1', 'slow', { delayMs: 40 });
    for (const form of ['whole', 'stream'] as const) {
      const startedMs = performance.now();
      const reply = await ask('p1', form);
      expect(performance.now() - startedMs).toBeGreaterThanOrEqual(39);
      expect(bodyText(reply)).toContain('simulated');
    }
  });

  it.each(asked)(
    'cut breaks a stream of %s off after some tokens, without its end',
    async (name) => {
      strike(name, 'cut', { afterTokens: 6 });
      const reply = await ask(name, 'stream');
      expect(parseReply(reply.bytes)).toMatchObject({ status: 200, isComplete: false });
      const text = bodyText(reply);
      expect(text).toContain('This');
      expect(text).not.toContain('said');
      expect(text).not.toMatch(/"finish_reason":"stop"|message_stop|"finishReason"/);
    },
  );

  it('cut after more tokens than there are still never reaches the finish', async () => {
    strike('p1', 'cut', { afterTokens: 10_000 });
    const text = bodyText(await ask('p1', 'stream'));
    expect(text).toContain('" hi"');
    expect(text).not.toContain('"finish_reason":"stop"');
  });

  it.each(asked)('truncate ends a stream of %s cleanly without its finish', async (name) => {
    strike(name, 'truncate', { afterTokens: 3 });
    const reply = await ask(name, 'stream');
    expect(parseReply(reply.bytes).isComplete).toBe(true);
    expect(bodyText(reply)).not.toMatch(/"finish_reason":"stop"|message_stop|"finishReason"/);
  });

  it('stall goes silent and stays open', async () => {
    strike('p1', 'stall', { afterTokens: 3 });
    const reply = await ask('p1', 'stream', { leaveWhen: (text) => text.includes('" a"') });
    expect([reply.end, parseReply(reply.bytes).isComplete]).toEqual(['left', false]);
    await upstream.until(() => upstream.requests('p1').at(-1)?.end === 'peer_closed');
  });

  it.each(asked)('malformed breaks the JSON of the later events of %s', async (name) => {
    strike(name, 'malformed', { afterTokens: 3 });
    const reply = await ask(name, 'stream');
    expect(parseReply(reply.bytes).isComplete).toBe(true);
    const lines = bodyText(reply)
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data: {'));
    const isBroken = (line: string): boolean => {
      try {
        JSON.parse(line.slice(6));
        return false;
      } catch {
        return true;
      }
    };
    expect(lines.filter(isBroken).length).toBeGreaterThanOrEqual(2);
    expect(lines.slice(0, 2).some(isBroken)).toBe(false);
  });

  it.each([
    ['p1', '"code":null'],
    ['p2', 'event: error'],
    ['p3', '"status":"INTERNAL"'],
  ] as const)('stream_error ends a stream of %s with its error event', async (name, words) => {
    strike(name, 'stream_error', { afterTokens: 3 });
    const reply = await ask(name, 'stream');
    expect(parseReply(reply.bytes)).toMatchObject({ status: 200, isComplete: true });
    expect(dataEvents(bodyText(reply)).at(-1)).toHaveProperty('error.message');
    expect(bodyText(reply)).toContain(words);
    expect(parseReply((await ask(name, 'whole')).bytes).status).toBe(500);
  });

  it('whole replies are cut, stalled and broken in the middle', async () => {
    strike('p2', 'cut');
    expect(parseReply((await ask('p2', 'whole')).bytes)).toMatchObject({
      status: 200,
      isComplete: false,
    });
    upstream.control.clear();
    strike('p2', 'malformed');
    const broken = parseReply((await ask('p2', 'whole')).bytes);
    expect(broken.isComplete).toBe(true);
    expect(() => JSON.parse(broken.body.toString())).toThrow();
    upstream.control.clear();
    strike('p2', 'stall');
    const stalled = await ask('p2', 'whole', {
      leaveWhen: (text) => text.includes('"type":"message"'),
    });
    expect(stalled.end).toBe('left');
  });
});

describe('an order for a fault', () => {
  const names = ['openai', 'anthropic'];

  it('has defaults, and reads every field', () => {
    expect(parseFaultOrder({ provider: 'openai', fault: 'cut' }, names)).toEqual({
      ok: true,
      value: {
        providers: ['openai'],
        fault: {
          kind: 'cut',
          forMs: null,
          share: 1,
          model: null,
          count: null,
          afterTokens: 10,
          delayMs: 20_000,
          retryAfterMs: 2_000,
          periodMs: 5_000,
        },
      },
    });
    const full = {
      provider: 'all',
      fault: 'slow',
      for: '60s',
      share: 0.5,
      model: 'm',
      count: 3,
      after_tokens: 0,
      delay: '250ms',
      retry_after: '1.5s',
      period: '1m',
    };
    expect(parseFaultOrder(full, names)).toMatchObject({
      value: {
        providers: names,
        fault: {
          forMs: 60_000,
          share: 0.5,
          model: 'm',
          count: 3,
          afterTokens: 0,
          delayMs: 250,
          retryAfterMs: 1_500,
          periodMs: 60_000,
        },
      },
    });
  });

  it.each([
    [[], 'expected a JSON object'],
    [{ fault: 'cut' }, 'provider: expected one of openai, anthropic, all'],
    [{ provider: 'opnai', fault: 'cut' }, 'provider: expected one of openai, anthropic, all'],
    [{ provider: 'openai', fault: 'boom' }, `fault: expected one of ${faultKinds.join(', ')}`],
    [{ provider: 'openai', fault: 'cut', for: 60 }, 'for: expected a duration such as "250ms"'],
    [{ provider: 'openai', fault: 'cut', for: '60' }, 'for: expected a duration'],
    [{ provider: 'openai', fault: 'flap', period: '0s' }, 'period: expected a duration'],
    [{ provider: 'openai', fault: 'cut', share: 0 }, 'share: expected a number above 0'],
    [{ provider: 'openai', fault: 'cut', share: '1' }, 'share:'],
    [{ provider: 'openai', fault: 'cut', count: 0 }, 'count:'],
    [{ provider: 'openai', fault: 'cut', after_tokens: -1 }, 'after_tokens:'],
    [
      { provider: 'openai', fault: 'cut', duration: '1s' },
      'unknown field "duration"; allowed: provider, fault, for',
    ],
  ])('%j is refused: %s', (body, words) => {
    const parsed = parseFaultOrder(body, names);
    expect(parsed.ok ? '' : parsed.fault).toContain(words);
  });

  it.each([
    ['250ms', 250],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['8000000h', null],
    ['1e3s', null],
    ['-1s', null],
    ['', null],
    [5, null],
  ])('a duration %j is %j ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });
});
