import { describe, expect, it } from 'vitest';
import type { ErrorClass } from '../../../src/failure/attempt-failure.ts';
import { classify } from '../../../src/failure/classify.ts';
import { effectOf } from '../../../src/failure/effects.ts';
import { UnknownShapes } from '../../../src/failure/unknown-shapes.ts';
import { answerOf, classified } from './failed-answers.ts';

const page = '<!DOCTYPE html><html><head><title>Error</title></head></html>';

describe('classes by status alone', () => {
  const rows: readonly (readonly [number, ErrorClass])[] = [
    [300, 'malformed_response'],
    [302, 'malformed_response'],
    [307, 'malformed_response'],
    [400, 'invalid_request'],
    [401, 'auth'],
    [402, 'quota_exhausted'],
    [403, 'permission'],
    [404, 'invalid_request'],
    [405, 'invalid_request'],
    [408, 'timeout'],
    [409, 'transient_infra'],
    [413, 'invalid_request'],
    [418, 'invalid_request'],
    [422, 'invalid_request'],
    [424, 'transient_infra'],
    [425, 'transient_infra'],
    [429, 'rate_limit'],
    [500, 'transient_infra'],
    [501, 'transient_infra'],
    [502, 'transient_infra'],
    [503, 'transient_infra'],
    [504, 'transient_infra'],
    [520, 'transient_infra'],
    [526, 'transient_infra'],
    [529, 'overload'],
    [599, 'transient_infra'],
  ];
  it.each(rows)(
    'R10 R13 %i is %s, with an empty body and with an unknown one',
    (status, errorClass) => {
      expect(classified({ status, text: '' }).errorClass).toBe(errorClass);
      expect(classified({ status, isKnownShape: false }).errorClass).toBe(errorClass);
      expect(classified({ status, message: 'something happened' }).errorClass).toBe(errorClass);
    },
  );

  const pages: readonly (readonly [number, ErrorClass])[] = [
    [400, 'transient_infra'],
    [401, 'auth'],
    [403, 'permission'],
    [404, 'invalid_request'],
    [413, 'invalid_request'],
    [429, 'rate_limit'],
    [421, 'transient_infra'],
    [500, 'transient_infra'],
    [503, 'transient_infra'],
    [504, 'transient_infra'],
    [529, 'overload'],
  ];
  it.each(pages)('a web page with %i is %s, whatever it says', (status, errorClass) => {
    const overloaded = `${page}<p>overloaded, invalid api key</p>`;
    expect(classified({ status, text: page }).errorClass).toBe(errorClass);
    expect(classified({ status, text: overloaded }).errorClass).toBe(errorClass);
  });

  it('plain text with a 5xx says nothing, with a 4xx it may', () => {
    expect(classified({ status: 502, text: 'upstream overloaded' }).errorClass).toBe(
      'transient_infra',
    );
    expect(classified({ status: 400, text: 'prompt is too long' }).errorClass).toBe(
      'context_length',
    );
  });
});

describe('classes by words', () => {
  const rows: readonly (readonly [number | null, string, ErrorClass])[] = [
    [429, 'Too many tokens, please wait before trying again.', 'rate_limit'],
    [429, 'Too many tokens per day, please wait before trying again.', 'quota_exhausted'],
    [
      429,
      'You exceeded your current quota, please check your plan and billing details.',
      'rate_limit',
    ],
    [429, 'The system is currently experiencing high demand.', 'overload'],
    [429, 'Service tier capacity exceeded for this model.', 'overload'],
    [
      429,
      'Request too large for m in organization o on tokens per min (TPM): Limit 30000, Requested 31538.',
      'context_length',
    ],
    [
      429,
      'on tokens per minute (TPM): Limit 7000, Used 0, Requested ~12903. Please try again in 50s',
      'context_length',
    ],
    [429, 'Limit 30000, Used 29937, Requested 385. Please try again in 644ms.', 'rate_limit'],
    [429, 'Please reduce the prompt length or the maximum tokens requested', 'rate_limit'],
    [429, 'Invalid API key for the model that does not exist', 'rate_limit'],
    [429, 'Request too large for the context window of this minute', 'rate_limit'],
    [
      413,
      'Request too large for model: Limit 6000, Requested 6294, please reduce your message size',
      'context_length',
    ],
    [403, "Your newly created teams doesn't have any credits yet.", 'quota_exhausted'],
    [
      429,
      'has either used all available credits or reached its monthly spending limit.',
      'quota_exhausted',
    ],
    [400, 'Your credit balance is too low', 'quota_exhausted'],
    [503, 'The engine is currently overloaded, please try again later', 'overload'],
    [503, 'The model is overloaded.', 'overload'],
    [500, 'maximum context length is 8192 tokens', 'context_length'],
    [500, 'model not found', 'transient_infra'],
    [500, 'invalid api key', 'transient_infra'],
    [400, 'API key not valid. Please pass a valid API key.', 'auth'],
    [400, 'Incorrect API key provided.', 'auth'],
    [400, 'Invalid token.', 'auth'],
    [400, "Invalid 'max_output_tokens': integer below minimum value.", 'invalid_request'],
    [400, 'The provided model identifier is invalid.', 'not_found'],
    [404, "model 'x' was removed on September 15", 'not_found'],
    [404, 'the route does not exist', 'invalid_request'],
    [400, 'This request was flagged as potentially violating our usage policies', 'content_policy'],
    [
      400,
      'prefill 744 tokens exceed n_ctx_per_seq, try increasing total context size',
      'context_length',
    ],
    [400, 'max_tokens must be a number', 'invalid_request'],
    [null, 'The model is overloaded', 'overload'],
    [null, 'something happened', 'transient_infra'],
  ];
  it.each(rows)('R11 %s "%s" is %s', (status, message, errorClass) => {
    expect(classified({ status, message }).errorClass).toBe(errorClass);
  });

  it('machine words count before sentences', () => {
    const facts = { status: 400, code: 'context_length_exceeded', message: 'invalid api key' };
    expect(classified(facts)).toMatchObject({
      errorClass: 'context_length',
      rule: 'words:context_length',
    });
    expect(classified({ status: 429, code: 'insufficient_quota' }).errorClass).toBe(
      'quota_exhausted',
    );
    expect(classified({ status: 503, reasons: ['MODEL_CAPACITY_EXHAUSTED'] }).errorClass).toBe(
      'overload',
    );
    expect(classified({ status: 404, code: 'model_not_found' }).errorClass).toBe('not_found');
  });

  it('no pattern spans two machine words', () => {
    const facts = { status: 400, type: 'invalid_request_error', reasons: ['tokens'] };
    expect(classified(facts).errorClass).toBe('invalid_request');
  });

  it('R12 no money: not retried, the message kept', () => {
    const failure = classified({
      status: 429,
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: 'You exceeded your current quota, please check your plan and billing details.',
      headers: { 'x-should-retry': 'true' },
    });
    expect(failure).toMatchObject({
      errorClass: 'quota_exhausted',
      shouldRetry: null,
      message: 'You exceeded your current quota, please check your plan and billing details.',
    });
    expect(effectOf(failure)).toMatchObject({
      sameTarget: 'other_key_only',
      nextTarget: 'at_once',
      alert: 'quota_exhausted',
    });
  });

  it('RH-07 529 with an overload type is overload, retryable, and counts', () => {
    const failure = classified({ status: 529, type: 'overloaded_error' });
    expect(failure.errorClass).toBe('overload');
    expect(effectOf(failure)).toMatchObject({ sameTarget: 'retry', countsForBreaker: true });
  });

  it('RH-08 a 402 stays final whatever its body says; an error in a 200 is judged by its body', () => {
    const rules = [
      { name: 'server', type: ['server_error'], errorClass: 'transient_infra' as const },
    ];
    const refused = classified({
      status: 402,
      type: 'server_error',
      code: 'InternalServerError',
      rules,
    });
    expect(refused.errorClass).toBe('quota_exhausted');
    expect(effectOf(refused).sameTarget).toBe('other_key_only');

    const inside = classified({ status: null, httpStatus: 200, code: 'overloaded' });
    expect(inside.errorClass).toBe('overload');
    expect(effectOf(inside).sameTarget).toBe('retry');
  });

  it('RH-08 no 4xx but 408, 409, 425 and 429 is made retryable by body text', () => {
    const rules = [
      { name: 'code', code: ['busy'], errorClass: 'overload' as const },
      { name: 'text', message: /overloaded/, errorClass: 'overload' as const },
    ];
    for (let status = 400; status < 500; status += 1) {
      const { errorClass } = classified({ status, code: 'busy', message: 'overloaded', rules });
      const isRetryable = [408, 409, 425, 429].includes(status);
      expect([status, errorClass === 'overload']).toEqual([status, isRetryable]);
    }
  });

  it('401 to 404 are refined only towards a class that no retry cures, also by a rule with the status', () => {
    for (const status of [401, 402, 403, 404]) {
      const soft = [
        { name: 'soft', status: [status], code: ['x'], errorClass: 'overload' as const },
      ];
      expect(classified({ status, code: 'x', rules: soft }).errorClass).not.toBe('overload');
      const hard = [{ name: 'hard', code: ['x'], errorClass: 'content_policy' as const }];
      expect(classified({ status, code: 'x', rules: hard }).errorClass).toBe('content_policy');
    }
  });

  it('another 4xx is made retryable by a rule that names the status, or that blames the model', () => {
    const named = [{ name: 'own', status: [498], errorClass: 'overload' as const }];
    expect(classified({ status: 498, rules: named }).errorClass).toBe('overload');
    const blamed = [
      { name: 'tool', code: ['tool_use_failed'], errorClass: 'malformed_response' as const },
    ];
    expect(classified({ status: 400, code: 'tool_use_failed', rules: blamed }).errorClass).toBe(
      'malformed_response',
    );
  });
});

describe('rules', () => {
  it('are read top to bottom; every given condition must hold', () => {
    const rules = [
      { name: 'both', status: [400], code: ['a'], reason: /^Q/, errorClass: 'auth' as const },
      { name: 'code', code: ['a', 'b'], errorClass: 'permission' as const },
      { name: 'type', type: /^t.pe$/, errorClass: 'not_found' as const },
    ];
    expect(classified({ status: 400, code: 'a', reasons: ['x', 'Qz'], rules }).rule).toBe('both');
    expect(classified({ status: 400, code: 'a', reasons: ['x'], rules }).rule).toBe('code');
    expect(classified({ status: 500, code: 'a', reasons: ['Q'], rules }).rule).toBe('code');
    expect(classified({ status: 400, type: 'type', rules }).rule).toBe('type');
    expect(classified({ status: 400, type: 'other', rules }).rule).toBe('status:4xx');
  });

  it('a rule on the status alone gives way to machine words and messages', () => {
    const rules = [{ name: 'plain', status: [503], errorClass: 'transient_infra' as const }];
    expect(classified({ status: 503, message: 'overloaded', rules }).errorClass).toBe('overload');
    expect(classified({ status: 503, rules }).rule).toBe('plain');
  });

  it('a pattern with state judges every answer alike', () => {
    const rules = [{ name: 'g', message: /busy/g, errorClass: 'overload' as const }];
    for (let round = 0; round < 3; round += 1) {
      expect(classified({ status: 503, message: 'busy', rules }).rule).toBe('g');
    }
  });

  it('R15 an operator decides class and retry, over everything else', () => {
    const operatorRules = [
      {
        name: 'odd proxy',
        status: [404],
        message: /no such route/,
        errorClass: 'transient_infra' as const,
        retry: true,
      },
      { name: 'never', code: ['x1'], errorClass: 'overload' as const, retry: false },
    ];
    const rules = [
      { name: 'own', status: [404], message: /route/, errorClass: 'not_found' as const },
    ];
    const odd = classified({ status: 404, message: 'no such route', rules, operatorRules });
    expect(odd).toMatchObject({
      errorClass: 'transient_infra',
      shouldRetry: true,
      rule: 'operator:odd proxy',
    });
    const never = classified({
      status: 529,
      code: 'x1',
      operatorRules,
      headers: { 'x-should-retry': 'true' },
    });
    expect(never).toMatchObject({ errorClass: 'overload', shouldRetry: false });
    expect(effectOf(never)).toMatchObject({ sameTarget: 'never', nextTarget: 'at_once' });
  });

  it('R15 an operator may have a 400 asked again', () => {
    const operatorRules = [
      { name: 'flaky', status: [400], errorClass: 'invalid_request' as const, retry: true },
    ];
    expect(effectOf(classified({ status: 400, operatorRules }))).toMatchObject({
      sameTarget: 'retry',
      nextTarget: 'when_sustained',
    });
  });
});

describe('x-should-retry', () => {
  const rows: readonly (readonly [number, string, boolean | null])[] = [
    [500, 'false', false],
    [529, 'true', true],
    [504, 'true', true],
    [429, 'false', false],
    [409, 'true', true],
    [400, 'true', null],
    [400, 'false', false],
    [422, 'true', null],
    [401, 'true', null],
    [401, 'false', null],
    [403, 'true', null],
    [402, 'true', null],
    [500, 'perhaps', null],
  ];
  it.each(rows)('R13 %i with %s gives %s', (status, value, shouldRetry) => {
    expect(classified({ status, headers: { 'x-should-retry': value } }).shouldRetry).toBe(
      shouldRetry,
    );
  });
});

describe('what a failure holds', () => {
  it('the facts, the hint, the rule and the token counts', () => {
    const failure = classified({
      status: 400,
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
      param: 'messages',
      message: 'prompt is too long: 3333404 tokens > 200000 maximum',
      upstreamRequestId: 'req_1',
    });
    expect(failure).toEqual({
      errorClass: 'context_length',
      connection: null,
      status: 400,
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
      param: 'messages',
      message: 'prompt is too long: 3333404 tokens > 200000 maximum',
      hint: null,
      shouldRetry: null,
      upstreamRequestId: 'req_1',
      rule: 'words:context_length',
      tokens: { requested: 3_333_404, limit: 200_000 },
    });
  });

  const counts: readonly (readonly [string, number | null, number | null])[] = [
    [
      "This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens (1250025 in the messages",
      1_250_025,
      1_048_565,
    ],
    [
      'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
      1_250_074,
      1_048_576,
    ],
    [
      "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens",
      2_500_021,
      200_000,
    ],
    [
      "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
      150_000,
      131_072,
    ],
    [
      'Prompt contains 40,000 tokens and 0 draft tokens, too large for model with 32,768 maximum context length',
      40_000,
      32_768,
    ],
    ["This model's maximum context length is 8192 tokens.", null, 8_192],
  ];
  it.each(counts)('token counts of "%s"', (message, requested, limit) => {
    expect(classified({ status: 400, message }).tokens).toEqual({ requested, limit });
  });

  it('takes no token counts of another class, and none where there are none', () => {
    expect(
      classified({ status: 429, message: 'Limit 30000, Used 1, Requested 385.' }).tokens,
    ).toBeNull();
    expect(classified({ status: 400, message: 'prompt is too long' }).tokens).toBeNull();
  });

  it('says what came when the provider said nothing', () => {
    expect(classified({ status: 503, text: '' }).message).toBe(
      'the provider answered HTTP 503 with no message',
    );
    expect(classified({ status: 502, text: page }).message).toBe(
      'the provider answered HTTP 502 with a web page',
    );
    expect(classified({ status: null }).message).toContain('without a message');
  });

  it('bounds and cleans what an upstream wrote', () => {
    const failure = classified({
      status: 400,
      code: `x${'y'.repeat(5_000)}`,
      type: 'a\nb',
      param: '',
      message: `secret sk-abcdefghijklmnop ${'long '.repeat(100_000)}`,
      upstreamRequestId: 'id\r\nset-cookie: x',
    });
    expect(failure.code?.length).toBeLessThanOrEqual(200);
    expect(failure.type).toBe('a b');
    expect(failure.param).toBeNull();
    expect(failure.message.length).toBeLessThanOrEqual(500);
    expect(failure.message).not.toContain('abcdefgh');
    expect(failure.upstreamRequestId).toBeNull();
  });

  it('a 2xx that holds no error document is malformed; 499 by a rule is a reset connection', () => {
    expect(classified({ status: 200, isKnownShape: false }).errorClass).toBe('malformed_response');
    const rules = [{ name: 'cancelled', status: [499], errorClass: 'connection' as const }];
    expect(classified({ status: 499, rules })).toMatchObject({
      errorClass: 'connection',
      connection: 'reset',
    });
  });

  it('judges a megabyte of hostile text within a second', () => {
    const texts = [
      'model '.repeat(200_000),
      'invalid '.repeat(150_000),
      'a'.repeat(1_000_000),
      `limit 1 ${'9'.repeat(1_000_000)}`,
    ];
    const started = performance.now();
    for (const message of texts) classified({ status: 400, message });
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('unknown shapes', () => {
  it('are counted by status and outer keys, never by a value, up to a bound', () => {
    const unknownShapes = new UnknownShapes();
    const count = (status: number, body: unknown): void => {
      classify({ ...answerOf({ status, isKnownShape: false }), body, unknownShapes });
    };
    count(500, { zeta: 'secret', alpha: 1 });
    count(500, { alpha: 2, zeta: 3 });
    count(502, '<html>');
    count(502, '');
    count(502, 'oops');
    count(502, [1]);
    count(502, null);
    count(502, { 'not a name!': 1 });
    expect([...unknownShapes.entries()]).toEqual([
      ['500 {alpha,zeta}', 2],
      ['502 html', 1],
      ['502 empty', 1],
      ['502 text', 1],
      ['502 array', 1],
      ['502 null', 1],
      ['502 {}', 1],
    ]);
    for (let index = 0; index < 300; index += 1) count(500, { [`key${index}`]: 1 });
    expect(unknownShapes.entries().size).toBe(101);
    expect(unknownShapes.entries().get('other shapes')).toBe(207);
  });

  it('a known shape is not counted', () => {
    const unknownShapes = new UnknownShapes();
    classify({ ...answerOf({ status: 500 }), unknownShapes });
    expect(unknownShapes.entries().size).toBe(0);
  });
});
