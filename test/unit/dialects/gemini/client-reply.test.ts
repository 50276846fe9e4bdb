import { describe, expect, it } from 'vitest';
import type { ChatReply, ReplyChoice } from '../../../../src/chat/reply.ts';
import { unknownUsage } from '../../../../src/chat/usage.ts';
import type { AnswerMeta } from '../../../../src/dialects/dialect.ts';
import { geminiClient } from '../../../../src/dialects/gemini/client.ts';
import { readGeminiError, readGeminiReply } from '../../../support/gemini-answers.ts';
import { failureWith } from '../openai-chat/request-failure.ts';

const choice: ReplyChoice = {
  index: 0,
  text: 'hello',
  refusal: null,
  reasoning: [],
  toolCalls: [],
  finish: 'stop',
  rawFinish: 'end_turn',
};

function write(
  change: Partial<ReplyChoice>,
  reply: Partial<ChatReply> = {},
  meta: AnswerMeta | null = null,
) {
  const encoded = geminiClient.encodeReply({
    reply: {
      id: 'msg_1',
      model: 'm-1',
      usage: unknownUsage,
      choices: [{ ...choice, ...change }],
      ...reply,
    },
    original: null,
    fallbackId: 'own',
    createdAtSeconds: 1,
    meta: meta && (() => meta),
  });
  return encoded.toString();
}

describe('a whole answer of our own', () => {
  it('is a response in the service’s form', () => {
    const usage = { ...unknownUsage, inputTokens: 3, outputTokens: 2 };
    expect(JSON.parse(write({}, { usage }))).toEqual({
      candidates: [
        { content: { parts: [{ text: 'hello' }], role: 'model' }, finishReason: 'STOP', index: 0 },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      modelVersion: 'm-1',
      responseId: 'msg_1',
    });
  });

  it('holds thoughts, calls and what was refused; never another vendor’s signature', () => {
    const text = write({
      text: '',
      reasoning: [{ text: 'hm', signature: 'foreign', redacted: 'private' }],
      toolCalls: [
        { id: 'call_1', name: 'f', arguments: '{"n":12345678901234567890}' },
        { id: 'call_2', name: 'g', arguments: '' },
      ],
      finish: 'tool_calls',
    });
    expect(text).not.toMatch(/foreign|private/);
    expect(text).toContain('12345678901234567890');
    expect(readGeminiReply(text)).toMatchObject({
      thoughts: 'hm',
      calls: [
        { id: 'call_1', name: 'f' },
        { id: 'call_2', name: 'g', args: {} },
      ],
      finishReasons: ['STOP'],
    });
    expect(readGeminiReply(write({ text: '', refusal: 'no' }))).toMatchObject({
      text: 'no',
      finishReasons: ['SAFETY'],
    });
  });

  it('without a word has no parts; an unknown id, model or usage stays away', () => {
    const text = write({ text: '', finish: 'length', rawFinish: null }, { id: null, model: null });
    const read = readGeminiReply(text);
    expect(read).toMatchObject({ finishReasons: ['MAX_TOKENS'], usage: null, ids: ['own'] });
    expect(read.documents[0]).toMatchObject({ candidates: [{ content: { role: 'model' } }] });
  });

  it('a call whose arguments are no object is not made up', () => {
    const broken = { toolCalls: [{ id: 'a', name: 'f', arguments: '[1]' }] };
    const read = readGeminiReply(write({ ...broken, finish: 'tool_calls' }));
    expect(read).toMatchObject({ calls: [], finishReasons: ['MALFORMED_FUNCTION_CALL'] });
    expect(readGeminiReply(write({ ...broken, finish: 'length' })).finishReasons).toEqual([
      'MAX_TOKENS',
    ]);
  });

  it('holds what was asked for on top', () => {
    expect(JSON.parse(write({}, {}, { tier: 'fast' }))).toMatchObject({
      tiergate: { tier: 'fast' },
    });
  });
});

describe('the service’s own body', () => {
  const pass = (body: string, meta: AnswerMeta | null): string =>
    geminiClient
      .encodeReply({
        reply: { id: null, model: null, usage: unknownUsage, choices: [] },
        original: Buffer.from(body),
        fallbackId: 'own',
        createdAtSeconds: 1,
        meta: meta && (() => meta),
      })
      .toString();

  it('passes byte by byte, with what was asked for at its end', () => {
    const body = '{ "candidates" : [ ], "new": 1.0 }\n';
    expect(pass(body, null)).toBe(body);
    expect(pass(body, { a: 1 })).toBe('{ "candidates" : [ ], "new": 1.0 ,"tiergate":{"a":1}}\n');
    expect(pass('{}', { a: 1 })).toBe('{"tiergate":{"a":1}}');
    expect(pass('[{}]', { a: 1 })).toBe('[{}]');
  });
});

describe('an error', () => {
  it.each([
    [400, 'INVALID_ARGUMENT'],
    [401, 'UNAUTHENTICATED'],
    [403, 'PERMISSION_DENIED'],
    [404, 'NOT_FOUND'],
    [409, 'ABORTED'],
    [413, 'INVALID_ARGUMENT'],
    [422, 'INVALID_ARGUMENT'],
    [429, 'RESOURCE_EXHAUSTED'],
    [500, 'INTERNAL'],
    [502, 'INTERNAL'],
    [503, 'UNAVAILABLE'],
    [504, 'DEADLINE_EXCEEDED'],
  ])('of status %i is %s', (status, word) => {
    const error = readGeminiError(geminiClient.encodeError(failureWith({ status })));
    expect(error).toMatchObject({ code: status, status: word });
  });

  it('says what was tried, where the fault is and when to come back', () => {
    const error = readGeminiError(
      geminiClient.encodeError(
        failureWith({
          failureClass: 'rate_limited',
          status: 429,
          param: 'contents[0]',
          retryAfterMs: 1500,
        }),
      ),
    );
    expect(error).toMatchObject({
      message: 'No target answered. (request req-1)',
      tiergate: {
        request_id: 'req-1',
        client_request_id: 'client-1',
        class: 'rate_limited',
        retryable: true,
        attempts: [],
      },
      details: [
        { reason: 'RATE_LIMITED', domain: 'tiergate' },
        { fieldViolations: [{ field: 'contents[0]' }] },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.5s' },
      ],
    });
  });

  it.each([
    [
      { requested: 9, limit: 5 },
      'The input token count (9) exceeds the maximum number of tokens allowed (5). ',
    ],
    [
      { requested: null, limit: null },
      'The input token count exceeds the maximum number of tokens allowed. ',
    ],
  ])('of a context that is too long opens with the words that agents look for', (tokens, words) => {
    const failure = failureWith({ failureClass: 'context_length', status: 400, tokens });
    const { message } = readGeminiError(geminiClient.encodeError(failure));
    expect(String(message).startsWith(words)).toBe(true);
    const own = failureWith({ ...failure, message: 'The input token count (9) exceeds it' });
    expect(readGeminiError(geminiClient.encodeError(own))['message']).toBe(
      'The input token count (9) exceeds it (request req-1)',
    );
  });
});

describe('the tiers as models', () => {
  const tier = {
    name: 'fast',
    description: 'Quick',
    createdAtSeconds: 1,
    inputTokensMax: 1000,
    outputTokensMax: null,
  };

  it('have the service’s form', () => {
    expect(geminiClient.modelListing?.list([tier])).toEqual({
      models: [
        {
          name: 'models/fast',
          version: '1',
          displayName: 'fast',
          description: 'Quick',
          inputTokenLimit: 1000,
          supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
        },
      ],
    });
  });

  it.each([
    [{ 'x-goog-api-client': 'genai' }, true],
    [{ 'x-goog-api-key': 'k' }, true],
    [{ authorization: 'Bearer k' }, false],
  ])('are asked for with %j: %s', (headers, isAsked) => {
    expect(geminiClient.modelListing?.isAskedFor(headers)).toBe(isAsked);
  });
});
