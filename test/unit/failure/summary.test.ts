import { describe, expect, it } from 'vitest';
import type { AttemptFailure, ErrorClass } from '../../../src/failure/attempt-failure.ts';
import type { FailedAttempt } from '../../../src/failure/public-message.ts';
import { isRetryable } from '../../../src/failure/request-failure.ts';
import {
  failureOfBrokenStream,
  failureOfRequest,
  type RequestEnd,
} from '../../../src/failure/summary.ts';
import { classified } from './failed-answers.ts';

function attempt(
  target: string,
  errorClass: ErrorClass,
  rest: Partial<AttemptFailure> & { readonly isOfOurMaking?: boolean } = {},
): FailedAttempt {
  const { isOfOurMaking = false, ...failure } = rest;
  return {
    target,
    failure: { ...classified({ status: 500, message: 'words' }), errorClass, ...failure },
    startedMs: 10.4,
    durationMs: 20.6,
    isOfOurMaking,
  };
}

function end(rest: Partial<RequestEnd>): RequestEnd {
  return {
    requestId: 'row-1',
    clientRequestId: 'client-1',
    tier: 'smart',
    attempts: [],
    skipped: [],
    obstacle: null,
    deadline: 'left',
    requestFault: null,
    largestWindow: null,
    ...rest,
  };
}

const hint = { kind: 'hint', backInMs: 2_000.2 } as const;

describe('failure of a request', () => {
  const rows: readonly (readonly [string, Partial<RequestEnd>, string, number])[] = [
    ['nothing was asked', {}, 'no_target_available', 503],
    ['nothing was asked and time ran out', { deadline: 'ran_out' }, 'deadline_exceeded', 504],
    [
      'no dialect can carry it',
      { requestFault: { message: 'no audio', param: 'messages[0]' } },
      'invalid_request',
      400,
    ],
    [
      'no dialect of the others can carry it, but one was asked',
      {
        requestFault: { message: 'no audio', param: null },
        attempts: [attempt('p1/m', 'transient_infra')],
      },
      'upstream_failed',
      502,
    ],
    ['a 500', { attempts: [attempt('p1/m', 'transient_infra')] }, 'upstream_failed', 502],
    ['a 404 of the model', { attempts: [attempt('p1/m', 'not_found')] }, 'upstream_failed', 502],
    ['a 400', { attempts: [attempt('p1/m', 'invalid_request')] }, 'invalid_request', 400],
    [
      'a 400 goes before everything that came later',
      {
        attempts: [
          attempt('p1/m', 'transient_infra'),
          attempt('p2/m', 'invalid_request'),
          attempt('p3/m', 'rate_limit'),
        ],
        obstacle: hint,
        deadline: 'ran_out_under_way',
      },
      'invalid_request',
      400,
    ],
    [
      'a 400 of our own making',
      { attempts: [attempt('p1/m', 'invalid_request', { isOfOurMaking: true })] },
      'upstream_failed',
      502,
    ],
    ['a blocked prompt', { attempts: [attempt('p1/m', 'content_policy')] }, 'content_policy', 400],
    ['too long', { attempts: [attempt('p1/m', 'context_length')] }, 'context_length', 400],
    [
      'time ran out under way',
      { attempts: [attempt('p1/m', 'timeout')], deadline: 'ran_out_under_way', obstacle: hint },
      'deadline_exceeded',
      504,
    ],
    [
      'time ran out with an error in hand',
      { attempts: [attempt('p1/m', 'overload')], deadline: 'ran_out' },
      'upstream_failed',
      502,
    ],
    [
      'every target rate-limited',
      { attempts: [attempt('p1/m', 'rate_limit'), attempt('p2/m', 'rate_limit')], obstacle: hint },
      'rate_limited',
      429,
    ],
    [
      'every target cooling, none asked',
      {
        skipped: [{ target: 'p1/m', reason: 'cooling' }],
        obstacle: { kind: 'cooling', backInMs: 5 },
      },
      'rate_limited',
      429,
    ],
    [
      'those able to serve rate-limited, the others not able',
      {
        attempts: [attempt('p1/m', 'auth'), attempt('p2/m', 'rate_limit')],
        skipped: [
          { target: 'p3/m', reason: 'ability:tools' },
          { target: 'p4/m', reason: 'drained' },
          { target: 'p5/m', reason: 'parked' },
        ],
        obstacle: hint,
      },
      'rate_limited',
      429,
    ],
    [
      'one rate-limited, one overloaded',
      { attempts: [attempt('p1/m', 'rate_limit'), attempt('p2/m', 'overload')], obstacle: hint },
      'no_target_available',
      503,
    ],
    [
      'a target that was rate-limited and then overloaded',
      { attempts: [attempt('p1/m', 'rate_limit'), attempt('p1/m', 'overload')], obstacle: hint },
      'no_target_available',
      503,
    ],
    [
      'one rate-limited, one open',
      {
        attempts: [attempt('p1/m', 'rate_limit')],
        skipped: [{ target: 'p2/m', reason: 'open' }],
        obstacle: hint,
      },
      'no_target_available',
      503,
    ],
    [
      'rate-limited, but a breaker stood last in the way',
      { attempts: [attempt('p1/m', 'rate_limit')], obstacle: { kind: 'open', backInMs: 900 } },
      'no_target_available',
      503,
    ],
    [
      'an overload with a hint that does not fit',
      { attempts: [attempt('p1/m', 'overload')], obstacle: hint },
      'no_target_available',
      503,
    ],
    [
      'a rate limit that nobody waits for',
      { attempts: [attempt('p1/m', 'rate_limit')] },
      'upstream_failed',
      502,
    ],
    [
      'no quota anywhere',
      { attempts: [attempt('p1/m', 'quota_exhausted'), attempt('p2/m', 'quota_exhausted')] },
      'upstream_quota',
      502,
    ],
    [
      'refused keys',
      {
        attempts: [
          attempt('p1/m', 'quota_exhausted'),
          attempt('p2/m', 'auth'),
          attempt('p3/m', 'permission'),
        ],
      },
      'upstream_auth',
      502,
    ],
    [
      'a refused key and a fault',
      { attempts: [attempt('p1/m', 'auth'), attempt('p2/m', 'timeout')] },
      'upstream_failed',
      502,
    ],
    ['the client left', { attempts: [attempt('p1/m', 'client_gone')] }, 'client_gone', 499],
    [
      'a fault of ours',
      { attempts: [attempt('p1/m', 'overload'), attempt('p1/m', 'internal')] },
      'internal',
      500,
    ],
  ];
  it.each(rows)('%s: as 2-api says', (_case, given, failureClass, status) => {
    const failure = failureOfRequest(end(given));
    expect([failure.failureClass, failure.status]).toEqual([failureClass, status]);
    const carriesRetryAfter = status === 429 || status === 503;
    expect(failure.retryAfterMs !== null).toBe(carriesRetryAfter);
    expect(failure.attempts).toHaveLength(given.attempts?.length ?? 0);
    expect(failure.message).not.toBe('');
  });

  it('RH-04 a 503 with an unreadable hint: its own words, no internal class', () => {
    const told = classified({
      status: 503,
      message: 'service down',
      headers: { 'retry-after': 'Fri, 31 Dec 999999 23:59:59 GMT' },
    });
    const failure = failureOfRequest(
      end({ attempts: [{ ...attempt('p1/m', 'transient_infra'), failure: told }] }),
    );
    expect(failure.failureClass).toBe('upstream_failed');
    expect(failure.message).toContain('HTTP 503: service down');
  });

  it('Retry-After is a whole number of ms, never 0; a repeat is asked for up to 60 s', () => {
    const limited = (backInMs: number | null) =>
      failureOfRequest(
        end({ attempts: [attempt('p1/m', 'rate_limit')], obstacle: { kind: 'hint', backInMs } }),
      );
    expect(limited(2_000.2).retryAfterMs).toBe(2_001);
    expect(limited(0).retryAfterMs).toBe(1);
    expect(limited(-5).retryAfterMs).toBe(1);
    expect(isRetryable(limited(60_000))).toBe(true);
    expect(isRetryable(limited(60_001))).toBe(false);
    expect(isRetryable(limited(null))).toBe(true);
    expect(isRetryable(failureOfRequest(end({})))).toBe(false);
  });

  it('R12 R13 for keys and quota the words are ours, in the message and in the attempts', () => {
    for (const errorClass of ['auth', 'permission', 'quota_exhausted'] as const) {
      const failure = failureOfRequest(
        end({
          attempts: [attempt('p1/m', errorClass, { message: 'org acme-secret owes 5 dollars' })],
        }),
      );
      expect(JSON.stringify(failure)).not.toContain('acme');
      expect(failure.attempts[0]?.message).toContain("gateway's");
    }
  });

  it('a fault of ours says nothing of itself', () => {
    const failure = failureOfRequest(
      end({ attempts: [attempt('p1/m', 'internal', { message: 'TypeError: x of undefined' })] }),
    );
    expect(JSON.stringify(failure)).not.toContain('TypeError');
  });

  it('context_length keeps the words that agents read, and names the largest window', () => {
    const told = classified({
      status: 400,
      message: 'prompt is too long: 300000 tokens > 200000 maximum',
    });
    const given = { attempts: [{ ...attempt('p1/m', 'context_length'), failure: told }] };
    expect(failureOfRequest(end({ ...given, largestWindow: 250_000 }))).toMatchObject({
      message: 'prompt is too long: 300000 tokens > 200000 maximum',
      tokens: { requested: 300_000, limit: 250_000 },
    });
    expect(failureOfRequest(end(given)).tokens).toEqual({ requested: 300_000, limit: 200_000 });
  });

  it('of several 400s the first is told, with its parameter', () => {
    const failure = failureOfRequest(
      end({
        attempts: [
          attempt('p1/m', 'invalid_request', { isOfOurMaking: true, param: 'ours' }),
          attempt('p2/m', 'invalid_request', { param: 'temperature', message: 'too hot' }),
          attempt('p3/m', 'content_policy'),
        ],
      }),
    );
    expect(failure).toMatchObject({
      failureClass: 'invalid_request',
      param: 'temperature',
      message: 'p2/m does not accept the request: too hot',
    });
  });

  it('says what was tried, target by target, and what was not', () => {
    const failure = failureOfRequest(
      end({
        attempts: [
          attempt('p1/m', 'timeout', { status: null, message: 'nothing came' }),
          attempt('p1/m', 'overload', { status: 529, message: 'Overloaded.' }),
          attempt('p2/m', 'transient_infra', { message: `${'x'.repeat(300)}` }),
        ],
        skipped: [{ target: 'p3/m', reason: 'open' }],
      }),
    );
    expect(failure.message).toContain(
      'No target of tier "smart" could answer. Tried: p1/m (2 times, last overload, HTTP 529: Overloaded); p2/m (transient_infra, HTTP 500: xxx',
    );
    expect(failure.message).toContain('Skipped: p3/m (open).');
    expect(failure.message.length).toBeLessThan(400);
  });

  it('names four targets at most', () => {
    const attempts = [1, 2, 3, 4, 5, 6].map((number) => attempt(`p${number}/m`, 'timeout'));
    const { message } = failureOfRequest(end({ attempts }));
    expect(message).toContain('p4/m');
    expect(message).not.toContain('p5/m');
    expect(message).toContain('and 2 more');
  });

  it('the attempts in public form', () => {
    const failure = failureOfRequest(
      end({ attempts: [attempt('p1/m', 'overload', { status: 529, upstreamRequestId: 'req_1' })] }),
    );
    expect(failure.attempts).toEqual([
      {
        target: 'p1/m',
        status: 529,
        class: 'overload',
        message: 'words',
        upstream_request_id: 'req_1',
        started_ms: 10,
        duration_ms: 21,
      },
    ]);
  });

  it('a broken stream may be asked for again', () => {
    const failure = failureOfBrokenStream({
      requestId: 'row-1',
      clientRequestId: 'client-1',
      attempts: [attempt('p1/m', 'stream_interrupted', { message: 'it broke off' })],
    });
    expect(failure).toMatchObject({ failureClass: 'stream_interrupted', regenerate: true });
    expect(failure.message).toContain('p1/m broke off in the middle of its answer: it broke off.');
    expect(isRetryable(failure)).toBe(false);
  });
});
