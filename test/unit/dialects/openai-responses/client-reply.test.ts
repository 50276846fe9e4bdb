import { describe, expect, it } from 'vitest';
import type { ChatReply, ReplyChoice } from '../../../../src/chat/reply.ts';
import { unknownUsage } from '../../../../src/chat/usage.ts';
import { openaiResponsesClient } from '../../../../src/dialects/openai-responses/client.ts';
import { responseFaults } from '../../../support/responses-object.ts';
import { failureWith } from '../openai-chat/request-failure.ts';

const fixed = { fallbackId: 'own', createdAtSeconds: 77, meta: null };

function replyWith(change: Partial<ReplyChoice>, rest: Partial<ChatReply> = {}): ChatReply {
  const choice: ReplyChoice = {
    index: 0,
    text: '',
    refusal: null,
    reasoning: [],
    toolCalls: [],
    finish: 'stop',
    rawFinish: null,
    ...change,
  };
  return { id: 'msg_01', model: 'm', choices: [choice], usage: unknownUsage, ...rest };
}

function encoded(reply: ChatReply) {
  const body = openaiResponsesClient.encodeReply({ ...fixed, reply, original: null }).toString();
  const response = JSON.parse(body);
  expect(responseFaults(response)).toEqual([]);
  return response;
}

describe('a whole answer of another dialect', () => {
  it('is a response with its items in order', () => {
    const signed = { text: 'hm', signature: 'S', redacted: null, dialect: 'anthropic-messages' };
    const response = encoded(
      replyWith({
        text: 'Hello',
        reasoning: [signed, { text: '', signature: null, redacted: 'R' }],
        toolCalls: [{ id: 'call_1', name: 'f', arguments: '' }],
        finish: 'tool_calls',
      }),
    );
    expect(response).toMatchObject({ id: 'resp_msg_01', status: 'completed', store: false });
    expect(response.output).toMatchObject([
      { type: 'reasoning', encrypted_content: expect.stringMatching(/^tgr_/) },
      { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
      { type: 'function_call', call_id: 'call_1', arguments: '{}' },
    ]);
  });

  it('a refusal is a part of the message', () => {
    expect(encoded(replyWith({ refusal: 'no' })).output).toMatchObject([
      { content: [{ type: 'refusal', refusal: 'no' }] },
    ]);
  });

  it('that was cut says so, and its last item', () => {
    const calls = ['{}', '{"a'].map((given, at) => ({
      id: `call_${at}`,
      name: 'f',
      arguments: given,
    }));
    const response = encoded(replyWith({ toolCalls: calls, finish: 'length' }));
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'completed' }, { status: 'incomplete', arguments: '{"a' }],
    });
  });

  it.each([
    ['stop', 'completed'],
    ['length', 'incomplete'],
    ['content_filter', 'incomplete'],
    ['paused', 'completed'],
    ['other', 'incomplete'],
    ['error', 'incomplete'],
  ] as const)('that ended in %s has a message that is %s', (finish, status) => {
    expect(encoded(replyWith({ text: 'a', finish })).output).toMatchObject([{ status }]);
  });

  it('tells usage as far as it is known, and none where nothing is', () => {
    expect(encoded(replyWith({ text: 'a' })).usage).toBeNull();
    const usage = { ...unknownUsage, inputTokens: 5, cacheWriteTokens: 2, reasoningTokens: 1 };
    expect(encoded(replyWith({ text: 'a' }, { usage })).usage).toEqual({
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 2 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 5,
    });
  });

  it('has ids that the vendor would take back, and others in another answer', () => {
    const idsOf = (id: string): readonly string[] =>
      encoded(
        replyWith(
          { text: 'a', reasoning: [{ text: 'b', signature: null, redacted: null }] },
          { id: id.repeat(40) },
        ),
      ).output.map((item: { readonly id: string }) => item.id);
    const ids = [...idsOf('chatcmpl'), ...idsOf('gen')];
    expect(new Set(ids).size).toBe(4);
    expect(ids.every((id) => id.length <= 64)).toBe(true);
  });
});

describe('a whole answer of this dialect', () => {
  const original = Buffer.from('{"id":"resp_1","n":1.0, "odd":[ ]}');
  const reply = replyWith({ text: 'a' });

  it('passes as it came', () => {
    expect(openaiResponsesClient.encodeReply({ ...fixed, reply, original })).toBe(original);
  });

  it('holds the extra object where it is wanted, and nothing else is changed', () => {
    const meta = () => ({ attempts: 1 });
    const body = openaiResponsesClient.encodeReply({ ...fixed, meta, reply, original });
    expect(body.toString()).toBe('{"id":"resp_1","n":1.0, "odd":[ ],"tiergate":{"attempts":1}}');
  });
});

it('an error is told as the vendor tells it', () => {
  const failure = failureWith({ status: 400, failureClass: 'invalid_request', param: 'input[0]' });
  expect(JSON.parse(openaiResponsesClient.encodeError(failure))).toEqual({
    error: {
      message: 'No target answered. (request req-1)',
      type: 'invalid_request_error',
      param: 'input[0]',
      code: 'invalid_request',
      tiergate: {
        request_id: 'req-1',
        client_request_id: 'client-1',
        class: 'invalid_request',
        retryable: false,
        attempts: [],
      },
    },
  });
});
