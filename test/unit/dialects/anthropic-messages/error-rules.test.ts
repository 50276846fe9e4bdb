import { describe, expect, it } from 'vitest';
import { anthropicMessagesUpstream as dialect } from '../../../../src/dialects/anthropic-messages/upstream.ts';
import { readHint } from '../../../../src/failure/hints.ts';

function read(body: unknown, headers = {}, status: number | null = 400) {
  return dialect.readError({ status, headers, body });
}

describe('an error document', () => {
  it('is read with its machine words', () => {
    const error = {
      type: 'rate_limit_error',
      message: 'slow',
      details: { error_code: 'ramp_limit_exceeded' },
    };
    expect(read({ type: 'error', error, request_id: 'req_body' })).toEqual({
      status: 400,
      code: 'ramp_limit_exceeded',
      type: 'rate_limit_error',
      param: null,
      message: 'slow',
      reasons: ['ramp_limit_exceeded'],
      upstreamRequestId: 'req_body',
      isKnownShape: true,
    });
  });

  it('has its request id from the header first', () => {
    const body = {
      type: 'error',
      error: { type: 'api_error', message: 'x' },
      request_id: 'req_body',
    };
    expect(read(body, { 'request-id': 'req_header' }).upstreamRequestId).toBe('req_header');
  });

  it('of a cloud in front states its own status inside a 200', () => {
    const body = { error: { code: 403, message: 'no', status: 'PERMISSION_DENIED' } };
    expect(read(body, {}, null)).toMatchObject({ status: 403, reasons: ['PERMISSION_DENIED'] });
  });

  it.each([
    null,
    undefined,
    '',
    'plain',
    '<html>',
    7,
    [],
    {},
    { error: null },
    { error: 'x' },
    { error: { type: 1 } },
  ])('of an odd shape is no crash: %j', (body) => {
    const facts = read(body);
    expect(facts.isKnownShape).toBe(false);
    expect(typeof facts.message).toBe('string');
  });
});

describe('a hint', () => {
  const date = 'Tue, 26 Mar 2024 19:59:59 GMT';
  const reset = '2024-03-26T20:00:29Z';

  it('is the reset of the limit that is used up', () => {
    const headers = {
      date,
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': reset,
      'anthropic-ratelimit-tokens-remaining': '16000',
      'anthropic-ratelimit-tokens-reset': '2024-03-26T21:00:00Z',
    };
    const answer = {
      headers,
      body: {},
      message: '',
      table: dialect.hints,
      status: 429,
      nowWallMs: 0,
    };
    expect(readHint(answer).hint).toEqual({
      waitMs: 30_000,
      source: 'anthropic-ratelimit-requests-reset',
    });
  });

  it('of a subscription is an epoch', () => {
    const at = Date.parse('2024-03-26T20:00:00Z') / 1000;
    const headers = {
      date,
      'anthropic-ratelimit-unified-5h-remaining': '0',
      'anthropic-ratelimit-unified-5h-reset': String(at),
    };
    const answer = {
      headers,
      body: {},
      message: '',
      table: dialect.hints,
      status: 429,
      nowWallMs: 0,
    };
    expect(readHint(answer).hint?.waitMs).toBe(1000);
  });

  it('is not read of a 200', () => {
    const headers = { date, 'retry-after': '16' };
    const answer = {
      headers,
      body: {},
      message: '',
      table: dialect.hints,
      status: 200,
      nowWallMs: 0,
    };
    expect(readHint(answer).hint).toBeNull();
  });
});
