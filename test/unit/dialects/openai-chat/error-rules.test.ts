import { describe, expect, it } from 'vitest';
import { openaiChatUpstream } from '../../../../src/dialects/openai-chat/upstream.ts';
import { classify } from '../../../../src/failure/classify.ts';

function facts(body: unknown, status: number | null = 400, headers: Record<string, string> = {}) {
  return openaiChatUpstream.readError({ status, headers, body });
}

function failureOf(status: number | null, body: unknown, headers: Record<string, string> = {}) {
  return classify({
    facts: facts(body, status, headers),
    isJson: typeof body !== 'string',
    body,
    headers,
    rules: openaiChatUpstream.rules,
    operatorRules: [],
    hints: openaiChatUpstream.hints,
    nowWallMs: 0,
  });
}

describe('an error document', () => {
  it.each([
    [{ error: { message: 'm', type: 't', param: 'p', code: 'c' } }, 'm', 't', 'c'],
    [{ error: { message: 'm', code: 429, metadata: {} } }, 'm', null, '429'],
    [{ error: 'm', code: 'c' }, 'm', null, 'c'],
    [{ object: 'error', message: 'm', type: 't', code: 400 }, 'm', 't', '400'],
    [{ message: 'm' }, 'm', null, null],
    [{ detail: 'm' }, 'm', null, null],
    [{ detail: [{ loc: ['body', 'n'], msg: 'm', type: 't' }] }, 'body.n: m', null, null],
    [{ object: 'error', message: { detail: [{ msg: 'm' }] } }, 'm', null, null],
    [[{ error: { code: 503, message: 'm', status: 'UNAVAILABLE' } }], 'm', null, '503'],
    ['plain text', 'plain text', null, null],
    ['', '', null, null],
    [null, '', null, null],
    [7, '', null, null],
  ])('%j is read', (body, message, type, code) => {
    expect(facts(body)).toMatchObject({ message, type, code, status: 400 });
  });

  it('states a status of its own only inside a 200', () => {
    expect(facts({ error: { message: 'm', code: 502 } }, null).status).toBe(502);
    expect(facts({ error: { message: 'm', code: '429' } }, null).status).toBe(429);
    expect(facts({ error: { message: 'm', status_code: 400, code: 'x' } }, null).status).toBe(400);
    expect(facts({ error: { message: 'm', code: 3051 } }, null).status).toBeNull();
    expect(facts({ error: { message: 'm', code: 502 } }, 400).status).toBe(400);
  });

  it('is told from a shape that nobody knows', () => {
    expect(facts({ error: { message: 'm' } }).isKnownShape).toBe(true);
    expect(facts({ oops: true }).isKnownShape).toBe(false);
    expect(facts('<html>').isKnownShape).toBe(false);
  });

  it('is bounded', () => {
    expect(facts({ error: { message: 'x'.repeat(100_000) } }).message.length).toBe(8000);
  });

  it.each([
    [{ 'x-request-id': 'a', 'cf-ray': 'b' }, {}, 'a'],
    [{ 'x-ds-trace-id': 'd' }, {}, 'd'],
    [{ 'cf-ray': 'b' }, {}, 'b'],
    [{}, { request_id: 'r' }, 'r'],
    [{}, { x_groq: { id: 'g' } }, 'g'],
    [{}, {}, null],
  ])('names the request: %j %j', (headers, body, id) => {
    expect(facts({ error: { message: 'm' }, ...body }, 500, headers).upstreamRequestId).toBe(id);
  });
});

describe('a hint', () => {
  it('R06 is the reset of the limit that is used up', () => {
    const headers = {
      'x-ratelimit-remaining-requests': '10',
      'x-ratelimit-reset-requests': '1h',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1m26.4s',
    };
    expect(failureOf(429, { error: { message: 'slow' } }, headers).hint?.waitMs).toBe(86_400);
  });

  it.each([
    [{ error: { message: 'm', details: [{ '@type': 'x' }, { retryDelay: '34.4s' }] } }, 34_400],
    [{ error: { message: 'm', availability: { code: 'x', retry_after: 7 } } }, 7000],
    [{ error: { message: 'Please try again in 644ms.' } }, 644],
    [{ error: { message: 'm' } }, undefined],
  ])('is read from the body: %j', (body, waitMs) => {
    expect(failureOf(429, body).hint?.waitMs).toBe(waitMs);
  });
});

describe('a class', () => {
  it.each([
    [
      429,
      { code: 'insufficient_quota', message: 'You exceeded your current quota' },
      'quota_exhausted',
    ],
    [
      429,
      { type: 'tokens', code: 'rate_limit_exceeded', message: 'Rate limit reached' },
      'rate_limit',
    ],
    [
      413,
      { type: 'tokens', code: 'rate_limit_exceeded', message: 'TPM: Limit 6000, Requested 6294' },
      'context_length',
    ],
    [429, { type: 'engine_overloaded_error', message: 'busy' }, 'overload'],
    [429, { type: 'exceeded_current_quota_error', message: 'x' }, 'quota_exhausted'],
    [400, { code: 'data_inspection_failed', message: 'x' }, 'content_policy'],
    [400, { code: 'Arrearage', message: 'x' }, 'quota_exhausted'],
    [503, { message: 'The engine is currently overloaded' }, 'overload'],
    [500, { type: 'server_error', message: 'x' }, 'transient_infra'],
    [409, { message: 'conflict' }, 'transient_infra'],
    [null, { type: 'server_error', message: 'x' }, 'transient_infra'],
    [null, { code: 'rate_limit_exceeded', message: 'x' }, 'rate_limit'],
    [null, { code: 'insufficient_system_resource', message: 'x' }, 'overload'],
    [null, { code: 'tool_use_failed', message: 'x' }, 'malformed_response'],
    [404, { code: 'DeploymentNotFound', message: 'x' }, 'not_found'],
    [401, { type: 'server_error', message: 'overloaded' }, 'auth'],
  ])('of %s %j is %s', (status, error, expected) => {
    expect(failureOf(status, { error }).errorClass).toBe(expected);
  });
});
