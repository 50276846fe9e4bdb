import { describe, expect, it } from 'vitest';
import { createClassifyError } from '../../../src/admin/classify-error.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import type { Snapshot } from '../../../src/routing/snapshot.ts';
import { plainProvider } from '../../support/engine-harness.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const providers = new Map([
  ['p1', plainProvider('p1', { dialect: dialect('openai-chat') })],
  [
    'ruled',
    plainProvider('ruled', {
      dialect: dialect('openai-chat'),
      operatorRules: [
        { name: 'operator[0]', status: [418], errorClass: 'overload' },
        { name: 'operator[1]', status: [503], errorClass: 'transient_infra', retry: false },
      ],
    }),
  ],
]);

function dialect(name: string) {
  const found = upstreamDialects.get(name);
  if (found === undefined) throw new Error(`no dialect ${name}`);
  return found;
}

const classify = createClassifyError({
  snapshot: () => ({ providers }) as unknown as Snapshot,
  dialects: upstreamDialects,
  clock: new VirtualClock(),
});

function verdict(question: JsonObject): JsonObject {
  const result = classify(question);
  if (!result.ok) throw new Error(JSON.stringify(result.fault));
  return result.value;
}

const openai = (error: JsonObject): JsonObject => ({ error });
const anthropic = (type: string): JsonObject => ({ type: 'error', error: { type, message: 'x' } });

describe('a pasted error', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'overload with a hint',
      {
        protocol: 'anthropic-messages',
        status: 529,
        headers: { 'Retry-After': '7' },
        body: anthropic('overloaded_error'),
      },
      {
        class: 'overload',
        retry_after_ms: 7000,
        retry_same_target: true,
        counts_for_breaker: true,
        fail_over: true,
      },
    ],
    [
      'a rate limit',
      { protocol: 'openai-chat', status: 429, headers: { 'retry-after-ms': 250 } },
      {
        class: 'rate_limit',
        retry_after_ms: 250,
        retry_same_target: true,
        counts_for_breaker: false,
        fail_over: true,
      },
    ],
    [
      'an empty account',
      { provider: 'p1', status: 429, body: openai({ code: 'insufficient_quota', message: 'x' }) },
      {
        class: 'quota_exhausted',
        retry_after_ms: null,
        retry_same_target: false,
        counts_for_breaker: false,
        fail_over: true,
      },
    ],
    [
      'a refused key',
      { protocol: 'gemini', status: 401 },
      { class: 'auth', retry_same_target: false, counts_for_breaker: false, fail_over: true },
    ],
    [
      'a wrong request',
      {
        provider: 'p1',
        status: 400,
        body: openai({ type: 'invalid_request_error', message: 'x' }),
      },
      { class: 'invalid_request', retry_same_target: false, fail_over: false },
    ],
    [
      'the text of a page',
      { provider: 'p1', status: 502, body: '<html><h1>Bad gateway</h1></html>' },
      { class: 'transient_infra', retry_same_target: true, counts_for_breaker: true },
    ],
    [
      'JSON pasted as text',
      {
        provider: 'p1',
        status: 429,
        body: JSON.stringify(openai({ code: 'insufficient_quota', message: 'x' })),
      },
      { class: 'quota_exhausted' },
    ],
  ])('R10 %s', (_name, question, expected) => {
    expect(verdict(question)).toMatchObject({ ...expected, rule: expect.any(String) });
  });

  it("an operator's rules count for its provider, and not for a protocol", () => {
    const teapot = { status: 418, body: openai({ message: 'x' }) };
    expect(verdict({ provider: 'ruled', ...teapot })).toMatchObject({
      class: 'overload',
      rule: 'operator:operator[0]',
    });
    expect(verdict({ protocol: 'openai-chat', ...teapot })['class']).toBe('invalid_request');
    expect(verdict({ provider: 'ruled', status: 503 })).toMatchObject({
      class: 'transient_infra',
      retry_same_target: false,
      fail_over: true,
    });
  });

  it('an error inside a 200 is judged like any other, whole or streamed', () => {
    const event = `event: error\ndata: ${JSON.stringify(anthropic('overloaded_error'))}\n\n`;
    for (const body of [anthropic('overloaded_error'), event]) {
      const question = { protocol: 'anthropic-messages', status: 200, body };
      expect(verdict(question)).toMatchObject({ class: 'overload', counts_for_breaker: true });
    }
  });

  it('a 200 that is none of the protocol is malformed, and an answer is no error', () => {
    expect(verdict({ protocol: 'openai-chat', status: 200, body: { hello: 1 } })['class']).toBe(
      'malformed_response',
    );
    const answer = {
      id: 'c1',
      object: 'chat.completion',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    };
    const result = classify({ protocol: 'openai-chat', status: 200, body: answer });
    expect(result).toMatchObject({ ok: false, fault: [{ path: 'body' }] });
  });

  it('what is repeated of it holds no secret', () => {
    const message = 'Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuvwx';
    const shown = verdict({ provider: 'p1', status: 401, body: openai({ message }) });
    expect(JSON.stringify(shown)).not.toContain('abcdefghijklmnop');
  });
});

describe('a question that cannot be answered', () => {
  it('a body deeper than can be written is refused, one that is only deep is judged', () => {
    const deep = (levels: number): unknown =>
      JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    expect(verdict({ provider: 'p1', status: 500, body: deep(500) })['class']).toBe(
      'transient_infra',
    );
    expect(classify({ provider: 'p1', status: 500, body: deep(200_000) })).toEqual({
      ok: false,
      fault: [{ path: 'body', message: 'is nested too deeply' }],
    });
  });

  it.each<[string, JsonObject, string, RegExp]>([
    ['no status', { provider: 'p1' }, 'status', /HTTP status/],
    ['a status as text', { provider: 'p1', status: '429' }, 'status', /HTTP status/],
    ['a status out of range', { provider: 'p1', status: 99 }, 'status', /200 to 599/],
    ['nobody named', { status: 500 }, 'provider', /either a provider or a protocol/],
    [
      'both named',
      { provider: 'p1', protocol: 'gemini', status: 500 },
      'provider',
      /either a provider or a protocol/,
    ],
    ['an unknown provider', { provider: 'p9', status: 500 }, 'provider', /known are p1, ruled/],
    ['an unknown protocol', { protocol: 'soap', status: 500 }, 'protocol', /openai-chat/],
    [
      'a misspelt key',
      { provider: 'p1', statsu: 500, status: 500 },
      'statsu',
      /did you mean status/,
    ],
    ['headers as a list', { provider: 'p1', status: 500, headers: [] }, 'headers', /object/],
    [
      'a header that is an object',
      { provider: 'p1', status: 500, headers: { a: {} } },
      'headers.a',
      /text/,
    ],
  ])('%s', (_name, question, path, message) => {
    const result = classify(question);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(result.fault).toContainEqual({ path, message: expect.stringMatching(message) });
  });
});
