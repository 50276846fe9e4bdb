import { describe, expect, it } from 'vitest';
import type { HintTable } from '../../../src/failure/error-rule.ts';
import { hintMsMax, parseRetryAfter, readHint } from '../../../src/failure/hints.ts';
import { parseHttpDate } from '../../../src/failure/http-date.ts';
import { findWait, parseGoDuration } from '../../../src/failure/wait-text.ts';
import { classified, noHints, nowWallMs } from './failed-answers.ts';

function retryAfter(value: string, date?: string): number | null {
  return parseRetryAfter(value, nowWallMs, date);
}

describe('Retry-After', () => {
  const unreadable = [
    'Wed, 99 Foo 2026 10:00:00 GMT',
    'soon',
    '',
    '5 minutes',
    'Infinity',
    '1e9',
    '0x10',
    'NaN',
    '.5',
    '5.',
    '1 000',
    'Thu, 32 Jan 2026 00:01:00 GMT',
    'Mon, 30 Feb 2026 00:00:00 GMT',
    'Thu, 01 Jan 2026 24:01:00 GMT',
    'Thu, 01 Jan 2026 00:01:00',
    'Thu, 01 Jan 2026 00:01:00 CET',
    '2026-01-01T00:01:00Z',
  ];
  it.each(unreadable)('RH-01 "%s" is no hint, and counted', (value) => {
    expect(retryAfter(value)).toBeNull();
    const reading = readHint({
      headers: { 'retry-after': value },
      body: null,
      message: '',
      table: noHints,
      status: 429,
      nowWallMs,
    });
    expect(reading).toEqual({ hint: null, odd: 1 });
  });

  const readable: readonly (readonly [string, number | null])[] = [
    ['120', 120_000],
    ['0', 0],
    ['-1', null],
    ['1.5', 1_500],
    ['0.5', 500],
    [' 120\t', 120_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Thu Jan  1 00:01:00 2026', 60_000],
    ['Thu, 01 Jan 2015 00:00:00 GMT', 0],
    ['120, 60', 120_000],
    ['60, 120', 120_000],
    ['soon, 60', 60_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT, Thu, 01 Jan 2026 00:02:00 GMT', 120_000],
    ['30, Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thu, 01 Jan 2026 00:00:60 GMT', 59_000],
  ];
  it.each(readable)('RH-02 "%s" is %s ms', (value, waitMs) => {
    expect(retryAfter(value)).toBe(waitMs);
  });

  it('RH-02 a two-digit year lies at most 50 years ahead', () => {
    expect(retryAfter('Friday, 01-Jan-99 00:00:00 GMT')).toBe(0);
    expect(retryAfter('Wednesday, 01-Jan-76 00:00:00 GMT')).toBeGreaterThan(0);
    expect(retryAfter('Friday, 01-Jan-77 00:00:00 GMT')).toBe(0);
  });

  it('RH-02 a two-digit year of the next century is one', () => {
    const at1999 = Date.UTC(1999, 11, 31, 23, 59);
    const newYear = 'Saturday, 01-Jan-00 00:00:00 GMT';
    expect(parseHttpDate(newYear, at1999)).toBe(Date.UTC(2000, 0, 1));
  });

  const strict: readonly (readonly [string, number | null])[] = [
    ['-5', null],
    ['00120', 120_000],
    ['120s', null],
    ['+3', null],
    ['3,5', null],
    ['Jan 120', null],
    ['2001', 2_001_000],
  ];
  it.each(strict)('RH-03 "%s" is %s ms, never a date in the year 120 or 2001', (value, waitMs) => {
    expect(retryAfter(value)).toBe(waitMs);
  });

  it('RH-03 300 nines are over the cap: believed as "not now", cut to a day and counted', () => {
    const failure = classified({ status: 429, headers: { 'retry-after': '9'.repeat(300) } });
    expect(failure.hint).toEqual({ waitMs: hintMsMax, source: 'retry-after' });
    const endless = retryAfter('9'.repeat(900));
    expect(Number.isFinite(endless)).toBe(true);
    expect(retryAfter('9'.repeat(5_000))).toBeNull();
  });

  it('RH-04 a date of the year 999999 is no hint; the failure stays a 503 of the provider', () => {
    const failure = classified({
      status: 503,
      headers: { 'retry-after': 'Fri, 31 Dec 999999 23:59:59 GMT' },
    });
    expect(failure).toMatchObject({ errorClass: 'transient_infra', status: 503, hint: null });
    expect(retryAfter('Fri, 31 Dec 9999 23:59:59 GMT')).toBeGreaterThan(hintMsMax);
  });

  it('R06 a date counts from the Date of the answer, not from our clock', () => {
    const value = 'Thu, 01 Jan 2026 00:01:00 GMT';
    expect(retryAfter(value, 'Thu, 01 Jan 2026 00:00:50 GMT')).toBe(10_000);
    expect(retryAfter(value, 'Thu, 01 Jan 2026 00:02:00 GMT')).toBe(0);
    expect(retryAfter(value, 'yesterday')).toBe(60_000);
  });
});

const limits: HintTable = {
  limits: [
    { remaining: 'x-remaining-requests', reset: 'x-reset-requests', format: 'duration' },
    { remaining: 'x-remaining-tokens', reset: 'x-reset-tokens', format: 'rfc3339' },
    { remaining: 'x-remaining', reset: 'x-reset', format: 'epoch_seconds' },
  ],
  bodyDelay: (body) => (typeof body === 'string' ? body : null),
};

function read(
  headers: Readonly<Record<string, string>>,
  rest: { body?: unknown; message?: string; status?: number | null } = {},
) {
  return readHint({
    headers,
    body: rest.body ?? null,
    message: rest.message ?? '',
    table: limits,
    status: rest.status === undefined ? 429 : rest.status,
    nowWallMs,
  });
}

describe('hint', () => {
  it('R06 retry-after-ms and retry-after: the larger one', () => {
    expect(read({ 'retry-after-ms': '644.5' }).hint).toEqual({
      waitMs: 644.5,
      source: 'retry-after-ms',
    });
    expect(read({ 'retry-after-ms': '0', 'retry-after': '1' }).hint).toEqual({
      waitMs: 1_000,
      source: 'retry-after',
    });
    expect(read({ 'x-amz-retry-after': '250' }).hint?.waitMs).toBe(250);
    expect(read({ 'retry-after-ms': '-5' })).toEqual({ hint: null, odd: 1 });
  });

  it('R06 only the limit that is exhausted decides', () => {
    const headers = {
      'x-remaining-requests': '12',
      'x-reset-requests': '6m0s',
      'x-remaining-tokens': '0',
      'x-reset-tokens': '2026-01-01T00:01:03Z',
    };
    expect(read(headers).hint).toEqual({ waitMs: 63_000, source: 'x-reset-tokens' });
    expect(read({ ...headers, 'x-remaining-tokens': '1' })).toEqual({ hint: null, odd: 0 });
    expect(read({ 'x-reset-requests': '1s' }).hint).toBeNull();
    expect(read({ 'x-remaining-requests': '-3', 'x-reset-requests': '1s' }).hint).toBeNull();
  });

  it('R06 a reset farther away than Retry-After is the one that counts', () => {
    const headers = {
      'retry-after': '16',
      'x-remaining-tokens': '0',
      'x-reset-tokens': '2026-01-01T00:01:03Z',
    };
    expect(read(headers).hint?.waitMs).toBe(63_000);
  });

  const resets: readonly (readonly [string, number | null])[] = [
    ['1s', 1_000],
    ['6m0s', 360_000],
    ['120ms', 120],
    ['1h2m3.5s', 3_723_500],
    ['2m59.56s', 179_560],
    ['30', 30_000],
    ['1.5', 1_500],
    [String(nowWallMs / 1000 + 7), 7_000],
    [String(nowWallMs + 7_000), 7_000],
    [String(nowWallMs / 1000 - 7), 0],
    ['2026-01-01T00:00:05.250Z', 5_250],
    ['2026-01-01T01:00:05+01:00', 5_000],
    ['2025-12-31T23:59:00Z', 0],
    ['-5s', null],
    ['tomorrow', null],
    ['2026-13-01T00:00:00Z', null],
  ];
  it.each(resets)('R06 a reset of "%s" is %s ms', (value, waitMs) => {
    const reading = read({ 'x-remaining': '0', 'x-reset': value });
    expect(reading.hint?.waitMs ?? null).toBe(waitMs);
    expect(reading.odd).toBe(waitMs === null ? 1 : 0);
  });

  it('R06 resets count from the Date of the answer', () => {
    const headers = {
      date: 'Wed, 31 Dec 2025 23:59:59 GMT',
      'x-remaining-tokens': '0',
      'x-reset-tokens': '2026-01-01T00:00:00Z',
    };
    expect(read(headers).hint?.waitMs).toBe(1_000);
  });

  it('R06 headers beat the body, the body beats the message', () => {
    const message = 'Please try again in 3s.';
    expect(read({ 'retry-after': '1' }, { body: '34.4s', message }).hint).toEqual({
      waitMs: 1_000,
      source: 'retry-after',
    });
    expect(read({ 'retry-after': 'soon' }, { body: '34.4s', message })).toEqual({
      hint: { waitMs: 34_400, source: 'body' },
      odd: 1,
    });
    expect(read({}, { body: 'nonsense', message })).toEqual({
      hint: { waitMs: 3_000, source: 'message' },
      odd: 1,
    });
    expect(read({}, { body: '1.203608125s' }).hint?.waitMs).toBeCloseTo(1_203.608125, 6);
    expect(read({}, { body: '0s' }).hint).toEqual({ waitMs: 0, source: 'body' });
    expect(read({}, { body: '37' }).hint?.waitMs).toBe(37_000);
  });

  it('R06 headers of a 2xx are not read, an error document in it is', () => {
    const headers = { 'retry-after': '5', 'x-remaining': '0', 'x-reset': '9' };
    expect(read(headers, { status: 200 })).toEqual({ hint: null, odd: 0 });
    expect(read(headers, { status: null }).hint).toBeNull();
    expect(read(headers, { status: 200, body: '2s' }).hint?.waitMs).toBe(2_000);
  });

  it('R07 more than a day is cut to a day and counted, a day is believed', () => {
    expect(read({ 'retry-after': '86400' })).toEqual({
      hint: { waitMs: 86_400_000, source: 'retry-after' },
      odd: 0,
    });
    expect(read({ 'retry-after': '86401' })).toEqual({
      hint: { waitMs: 86_400_000, source: 'retry-after' },
      odd: 1,
    });
  });
});

describe('durations', () => {
  const durations: readonly (readonly [string, number | null])[] = [
    ['0s', 0],
    ['1ms', 1],
    ['1us', 0.001],
    ['1µs', 0.001],
    ['1ns', 0.000001],
    ['1m26.4s', 86_400],
    ['1.5h', 5_400_000],
    ['5', null],
    ['', null],
    ['s', null],
    ['1d', null],
    ['-1s', null],
    ['1 s', null],
    ['1s soon', null],
    ['9'.repeat(200), null],
  ];
  it.each(durations)('"%s" is %s ms', (text, waitMs) => {
    expect(parseGoDuration(text)).toBe(waitMs);
  });

  const sentences: readonly (readonly [string, number | null])[] = [
    ['Rate limit reached. Please try again in 1.574s. Visit', 1_574],
    ['Please try again in 644ms.', 644],
    ['Please try again in 6m0s.', 360_000],
    ['Please try again in 9m38.016s. Need more tokens?', 578_016],
    ['Please retry after 86400 seconds.', 86_400_000],
    ['Please retry after 1 second.', 1_000],
    ['Please retry in 48.939935699s.', 48_939.935699],
    ['retry in 653.8ms.', 653.8],
    ['Please retry in 1h2m3s', 3_723_000],
    ['Please wait 23 seconds', 23_000],
    ['Please wait 5 minutes and', 300_000],
    ['Try again in about 2 hours', 7_200_000],
    ['please wait before trying again', null],
    ['try again in a while', null],
    ['wait 5 apples', null],
    ['retry 3 times', null],
    ['you waited 5 seconds', null],
    ['Please try again in 3months', null],
  ];
  it.each(sentences)('"%s" announces %s ms', (message, waitMs) => {
    const found = findWait(message);
    if (waitMs === null) expect(found).toBeNull();
    else expect(found).toBeCloseTo(waitMs, 3);
  });
});
