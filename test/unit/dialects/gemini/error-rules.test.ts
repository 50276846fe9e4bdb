import { describe, expect, it } from 'vitest';
import { geminiUpstream as dialect } from '../../../../src/dialects/gemini/upstream.ts';

function read(body: unknown, status: number | null = 400) {
  return dialect.readError({ status, headers: {}, body });
}

const detail = (type: string, rest: object) => ({
  '@type': `type.googleapis.com/google.rpc.${type}`,
  ...rest,
});

describe('an error document', () => {
  it('is read with its machine words', () => {
    const error = {
      code: 429,
      message: 'slow',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        detail('ErrorInfo', { reason: 'RATE_LIMIT_EXCEEDED' }),
        detail('QuotaFailure', {
          violations: [{ quotaId: 'X-PerMinute' }, { quotaId: 'Y-PerDay' }],
        }),
        detail('BadRequest', { fieldViolations: [{ field: 'contents[0]' }] }),
      ],
    };
    const expected = {
      status: 429,
      code: 'RATE_LIMIT_EXCEEDED',
      type: 'RESOURCE_EXHAUSTED',
      param: 'contents[0]',
      message: 'slow',
      reasons: ['RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'X-PerMinute', 'Y-PerDay'],
      upstreamRequestId: null,
      isKnownShape: true,
    };
    expect(read({ error }, 429)).toEqual(expected);
    expect(read([{ error }], 429)).toEqual(expected);
    expect(read({ error }, null)).toEqual(expected);
  });

  it.each([
    null,
    undefined,
    '',
    '<html>',
    7,
    [],
    [7],
    {},
    { error: null },
    { error: 'x' },
    { error: { details: [1, null] } },
    { promptFeedback: { blockReason: {} } },
  ])('of an odd shape is no crash: %j', (body) => {
    const facts = read(body);
    expect(facts.isKnownShape).toBe(false);
    expect(typeof facts.message).toBe('string');
  });
});

describe('a delay in the body', () => {
  const body = (...details: readonly object[]) => ({ error: { details } });

  it.each([
    ['34.4s', '34.4s'],
    [{ seconds: '3', nanos: 500_000_000 }, '3.500s'],
    [{ seconds: 0 }, '0.000s'],
    [{ seconds: -1 }, null],
    [{ seconds: 'x' }, null],
    [7, null],
  ])('is RetryInfo’s %j', (retryDelay, expected) => {
    expect(dialect.hints.bodyDelay(body(detail('RetryInfo', { retryDelay })))).toBe(expected);
    expect(dialect.hints.bodyDelay([body(detail('RetryInfo', { retryDelay }))])).toBe(expected);
  });

  it('is not believed beside the quota of a day', () => {
    const quota = detail('QuotaFailure', { violations: [{ quotaId: 'RequestsPerDay' }] });
    expect(
      dialect.hints.bodyDelay(body(quota, detail('RetryInfo', { retryDelay: '34s' }))),
    ).toBeNull();
  });

  it('is absent elsewhere', () => {
    for (const odd of [null, 'x', [], {}, { error: { details: 7 } }]) {
      expect(dialect.hints.bodyDelay(odd)).toBeNull();
    }
  });
});
