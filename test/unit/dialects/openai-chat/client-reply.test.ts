import { describe, expect, it } from 'vitest';
import { type ChatReply, ReplyCollector } from '../../../../src/chat/reply.ts';
import { unknownUsage } from '../../../../src/chat/usage.ts';
import { openaiChatClient } from '../../../../src/dialects/openai-chat/client.ts';
import { openaiChatUpstream } from '../../../../src/dialects/openai-chat/upstream.ts';
import { failureWith } from './request-failure.ts';

const fixed = { fallbackId: 'chatcmpl-own', createdAtSeconds: 77, meta: null };

function replyIn(body: string): ChatReply {
  const collector = new ReplyCollector();
  for (const part of openaiChatUpstream.decodeReply(Buffer.from(body))) {
    for (const event of part.events) collector.push(event);
  }
  return collector.reply();
}

function passed(body: string, meta: Record<string, unknown> | null = null): string {
  const original = Buffer.from(body);
  return openaiChatClient
    .encodeReply({ ...fixed, meta: meta && (() => meta), reply: replyIn(body), original })
    .toString();
}

describe('a whole reply', () => {
  it('of the dialect stays as it is, byte for byte', () => {
    const body =
      ' {"id":"x", "choices":[{"index":0,"message":{"content":"\\u0061"},"finish_reason":"stop"}],"n":1.0}\n';
    expect(passed(body)).toBe(body);
    const calls =
      '{"choices":[{"index":0,"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}';
    expect(passed(calls)).toBe(calls);
  });

  it('gets the meta object and keeps the rest', () => {
    const body = '{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"x":1e3 }';
    expect(passed(body, { tier: 't' })).toBe(`${body.slice(0, -1)},"tiergate":{"tier":"t"}}`);
  });

  it('TR-16 has its finish and its calls put right', () => {
    const call = (id: string, rest: string) =>
      `{${id}"function":{"name":"f","arguments":${rest}},"x":1.0}`;
    const body = (calls: string, finish: string) =>
      `{"y":1.0,"choices":[{"index":0,"finish_reason":"${finish}","message":{"tool_calls":${calls},"content":""}}]}`;
    const plain = call('"id":"a","type":"function",', '"{}"');
    expect(passed(body(`[${plain}]`, 'stop'))).toBe(body(`[${plain}]`, 'tool_calls'));
    const fixedUp = JSON.parse(passed(body(`[${call('"id":"a",', '{"q":1}')}]`, 'tool_calls')));
    expect(fixedUp.choices[0].message.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"q":1}' } },
    ]);
  });

  it('has content in parts made plain', () => {
    const body =
      '{"choices":[{"index":0,"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"ok"}]},"finish_reason":"stop"}]}';
    expect(JSON.parse(passed(body)).choices[0].message).toEqual({
      content: 'ok',
      reasoning_content: 'hm',
    });
  });

  it('of another dialect is built', () => {
    const reply: ChatReply = {
      id: null,
      model: 'm-1',
      usage: { ...unknownUsage, inputTokens: 3, outputTokens: 2, reasoningTokens: 1 },
      choices: [
        {
          index: 0,
          text: '',
          refusal: null,
          reasoning: [{ text: 'hm', signature: 'SIG', redacted: 'RED' }],
          toolCalls: [{ id: 'a', name: 'f', arguments: '' }],
          finish: 'tool_calls',
          rawFinish: 'tool_use',
        },
      ],
    };
    const body = openaiChatClient.encodeReply({ ...fixed, reply, original: null }).toString();
    expect(JSON.parse(body)).toEqual({
      id: 'chatcmpl-own',
      object: 'chat.completion',
      created: 77,
      model: 'm-1',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            refusal: null,
            reasoning_content: 'hm',
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 5,
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    });
    const [choice] = reply.choices;
    const cut = { id: 'b', name: 'f', arguments: '{"a' };
    const told = (finish: 'length' | 'tool_calls') => {
      const choices = [{ ...choice, toolCalls: [...(choice?.toolCalls ?? []), cut], finish }];
      const limited = { ...reply, choices } as ChatReply;
      const written = openaiChatClient.encodeReply({ ...fixed, reply: limited, original: null });
      return JSON.parse(written.toString()).choices[0];
    };
    // What the limit cut off is no call; what the model itself wrote is left to the client.
    expect(told('length')).toMatchObject({
      finish_reason: 'length',
      message: { tool_calls: [{ id: 'a' }] },
    });
    expect(told('tool_calls').message.tool_calls).toHaveLength(2);
    const silent = { ...reply, usage: unknownUsage };
    const without = openaiChatClient.encodeReply({ ...fixed, reply: silent, original: null });
    expect(JSON.parse(without.toString()).usage).toBeUndefined();
  });
});

describe('an error', () => {
  it.each([
    ['context_length', 400, 'context_length_exceeded', 'invalid_request_error'],
    ['unknown_tier', 404, 'model_not_found', 'invalid_request_error'],
    ['unauthenticated', 401, 'invalid_api_key', 'invalid_request_error'],
    ['rate_limited', 429, 'rate_limit_exceeded', 'rate_limit_error'],
    ['forbidden', 403, 'forbidden', 'permission_error'],
    ['upstream_failed', 502, 'upstream_failed', 'server_error'],
    ['no_target_available', 503, 'no_target_available', 'server_error'],
  ] as const)(
    'of class %s has the code and type of its status',
    (failureClass, status, code, type) => {
      const { error } = JSON.parse(
        openaiChatClient.encodeError(failureWith({ failureClass, status })),
      );
      expect(error).toMatchObject({ code, type, param: null, tiergate: { class: failureClass } });
    },
  );

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
    const body = openaiChatClient.encodeError(
      failureWith({ attempts: [attempt], retryAfterMs: 2000, param: 'messages' }),
    );
    expect(JSON.parse(body)).toEqual({
      error: {
        message: 'No target answered. (request req-1)',
        type: 'server_error',
        param: 'messages',
        code: 'upstream_failed',
        tiergate: {
          request_id: 'req-1',
          client_request_id: 'client-1',
          class: 'upstream_failed',
          retryable: true,
          attempts: [attempt],
        },
      },
    });
  });

  it.each([
    [
      { requested: 9, limit: 5 },
      "This model's maximum context length is 5 tokens. However, your messages resulted in 9 tokens. Too long. (request req-1)",
    ],
    [
      { requested: null, limit: 5 },
      "This model's maximum context length is 5 tokens. However, your messages are longer. Too long. (request req-1)",
    ],
    [
      null,
      "This model's maximum context length is exceeded. However, your messages are longer. Too long. (request req-1)",
    ],
  ])('of context length opens as agents expect it: %j', (tokens, message) => {
    const failure = failureWith({
      failureClass: 'context_length',
      status: 400,
      message: 'Too long.',
      tokens,
    });
    expect(JSON.parse(openaiChatClient.encodeError(failure)).error.message).toBe(message);
  });
});
