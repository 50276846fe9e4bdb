import { describe, expect, it } from 'vitest';
import type { ChatReply, ReplyChoice } from '../../../../src/chat/reply.ts';
import { unknownUsage } from '../../../../src/chat/usage.ts';
import { anthropicMessagesClient } from '../../../../src/dialects/anthropic-messages/client.ts';
import { unsignedMark } from '../../../../src/dialects/anthropic-messages/thinking-origin.ts';
import { failureWith } from '../openai-chat/request-failure.ts';

const fixed = { fallbackId: 'own', createdAtSeconds: 77, meta: null };

const choice: ReplyChoice = {
  index: 0,
  text: 'hello',
  refusal: null,
  reasoning: [],
  toolCalls: [],
  finish: 'stop',
  rawFinish: 'stop',
};

function replyWith(change: Partial<ReplyChoice>, rest: Partial<ChatReply> = {}): ChatReply {
  return {
    id: 'chatcmpl-1',
    model: 'm-1',
    usage: unknownUsage,
    choices: [{ ...choice, ...change }],
    ...rest,
  };
}

function encoded(reply: ChatReply) {
  const body = anthropicMessagesClient.encodeReply({ ...fixed, reply, original: null });
  return JSON.parse(body.toString());
}

describe('a whole reply', () => {
  it('of the dialect stays as it is, byte for byte, but for the meta object', () => {
    const body = ' {"id":"msg_1", "content":[{"type":"text","text":"\\u0061"}],"n":1.0 }\n';
    const original = Buffer.from(body);
    const reply = replyWith({});
    const passed = anthropicMessagesClient.encodeReply({ ...fixed, reply, original });
    expect(passed.toString()).toBe(body);
    const told = anthropicMessagesClient.encodeReply({
      ...fixed,
      reply,
      original,
      meta: () => ({ tier: 't' }),
    });
    expect(told.toString()).toBe(body.replace(' }\n', ' ,"tiergate":{"tier":"t"}}\n'));
  });

  it('of another dialect is built', () => {
    const body = encoded(
      replyWith(
        {
          reasoning: [{ text: 'hm', signature: 'SIG', redacted: null }],
          toolCalls: [{ id: 'a', name: 'f', arguments: '{"x":1,"y":2}' }],
          finish: 'tool_calls',
        },
        {
          usage: {
            inputTokens: 30,
            outputTokens: 9,
            cachedTokens: 10,
            cacheWriteTokens: 5,
            reasoningTokens: 4,
          },
        },
      ),
    );
    expect(body).toEqual({
      id: 'msg_chatcmpl-1',
      type: 'message',
      role: 'assistant',
      model: 'm-1',
      content: [
        { type: 'thinking', thinking: 'hm', signature: unsignedMark },
        { type: 'text', text: 'hello' },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1, y: 2 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 15,
        cache_creation_input_tokens: 5,
        cache_read_input_tokens: 10,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
      },
    });
  });

  it('keeps the spelling of numbers in the input of a call', () => {
    const call = { id: 'a', name: 'f', arguments: '{"x":1.0,"y":12345678901234567890}' };
    const body = anthropicMessagesClient
      .encodeReply({ ...fixed, reply: replyWith({ toolCalls: [call] }), original: null })
      .toString();
    expect(body).toContain('"input":{"x":1.0,"y":12345678901234567890}');
  });

  it.each([
    ['stop', 'stop', null, 'end_turn'],
    ['stop', 'stop_sequence', null, 'stop_sequence'],
    ['length', 'MAX_TOKENS', null, 'max_tokens'],
    ['length', 'model_context_window_exceeded', null, 'model_context_window_exceeded'],
    ['content_filter', 'SAFETY', null, 'refusal'],
    ['stop', 'stop', 'no', 'refusal'],
    ['other', 'LANGUAGE', null, 'LANGUAGE'],
    ['paused', 'CONTINUATION', null, 'pause_turn'],
    ['error', null, null, 'error'],
  ] as const)(
    'TR-15 TR-17 ends for the reason %s (%s), refusal %s: %s',
    (finish, rawFinish, refusal, expected) => {
      expect(encoded(replyWith({ finish, rawFinish, refusal })).stop_reason).toBe(expected);
    },
  );

  it('tells a refusal as text', () => {
    const { content } = encoded(replyWith({ text: '', refusal: 'I will not.' }));
    expect(content).toEqual([{ type: 'text', text: 'I will not.' }]);
  });

  it('leaves out a call that the output limit cut, and hands on one that is no object', () => {
    const cut = { id: 'a', name: 'f', arguments: '{"x":' };
    const whole = { id: 'b', name: 'g', arguments: '' };
    expect(
      encoded(replyWith({ text: '', finish: 'length', toolCalls: [whole, cut] })).content,
    ).toEqual([{ type: 'tool_use', id: 'b', name: 'g', input: {} }]);
    expect(
      encoded(replyWith({ text: '', finish: 'tool_calls', toolCalls: [cut] })).content,
    ).toEqual([{ type: 'tool_use', id: 'a', name: 'f', input: { _raw: '{"x":' } }]);
  });

  it('may be empty, and of unknown size', () => {
    const body = encoded({ id: null, model: null, usage: unknownUsage, choices: [] });
    expect(body).toMatchObject({
      id: 'msg_own',
      model: '',
      content: [],
      usage: { input_tokens: 0, output_tokens: 0 },
    });
  });
});

describe('an error', () => {
  it.each([
    [400, 'invalid_request_error'],
    [409, 'invalid_request_error'],
    [422, 'invalid_request_error'],
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [413, 'request_too_large'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'api_error'],
    [504, 'timeout_error'],
  ])('of status %i has the type %s', (status, type) => {
    const body = JSON.parse(anthropicMessagesClient.encodeError(failureWith({ status })));
    expect(body).toMatchObject({ type: 'error', error: { type }, request_id: 'req-1' });
  });

  it('tells the request, the attempts and whether a repeat can help', () => {
    const attempt = {
      target: 'a/b',
      status: 503,
      class: 'overload',
      message: 'busy',
      upstream_request_id: null,
      started_ms: 1,
      duration_ms: 2,
    } as const;
    const failure = failureWith({ attempts: [attempt], retryAfterMs: 2000 });
    expect(JSON.parse(anthropicMessagesClient.encodeError(failure)).error).toEqual({
      type: 'api_error',
      message: 'No target answered. (request req-1)',
      tiergate: {
        request_id: 'req-1',
        client_request_id: 'client-1',
        class: 'upstream_failed',
        retryable: true,
        attempts: [attempt],
      },
    });
  });

  it.each([
    [
      { requested: 9, limit: 5 },
      'Too long.',
      'prompt is too long: 9 tokens > 5 maximum. Too long.',
    ],
    [
      { requested: null, limit: 5 },
      'Too long.',
      'prompt is too long: 6 tokens > 5 maximum. Too long.',
    ],
    [null, 'Too long.', 'prompt is too long. Too long.'],
    [null, 'prompt is too long: 9 tokens > 5 maximum', 'prompt is too long: 9 tokens > 5 maximum'],
  ])('of context length opens as agents expect it: %j', (tokens, message, expected) => {
    const failure = failureWith({ failureClass: 'context_length', status: 400, message, tokens });
    const { error } = JSON.parse(anthropicMessagesClient.encodeError(failure));
    expect(error.message).toBe(`${expected} (request req-1)`);
  });
});
