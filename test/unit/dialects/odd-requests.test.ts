/** Requests as no client means them: a clear answer from every dialect, and nothing thrown. */
import { describe, expect, it } from 'vitest';
import { requirementsOf } from '../../../src/chat/requirements.ts';
import { geminiUpstream } from '../../../src/dialects/gemini/upstream.ts';
import { openaiChatUpstream } from '../../../src/dialects/openai-chat/upstream.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { callIn, callOf, sent, tool, user } from './upstream-calls.ts';

/** No text can be made of it. */
const unprintable = { toString: null, valueOf: null };
const messagesClient = clientDialects.get('anthropic-messages');
const geminiClient = clientDialects.get('gemini');
if (messagesClient === undefined || geminiClient === undefined) throw new Error('no client');

describe('values that no text can be made of', () => {
  it.each([
    [{ role: 'user', content: [{ type: unprintable }] }],
    [{ role: 'assistant', content: [{ type: unprintable }] }],
    [{ role: 'assistant', content: [{ type: 'refusal', refusal: unprintable }] }],
    [{ role: 'function', name: unprintable, content: 'x' }],
    [{ role: unprintable, content: 'x' }],
  ])('in %j are refused', (message) => {
    const body = Buffer.from(JSON.stringify({ model: 'fast', messages: [message] }));
    expect(clientDialects.get('openai-chat')?.decodeRequest(body)).toMatchObject({ ok: false });
  });

  it('among required properties are passed over', () => {
    const parameters = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a', unprintable, [unprintable]],
    };
    const { text } = sent(
      geminiUpstream,
      callOf({ messages: [user('x')], tools: [tool('f', parameters)] }),
    );
    expect(text).toContain('"a"');
  });

  it.each([...upstreamDialects.values()])('in an error of $name leave it an error', (dialect) => {
    const detail = [{ loc: [unprintable, 'a'], msg: 'x' }];
    for (const body of [{ detail }, { message: { detail } }, { error: unprintable }, unprintable]) {
      expect(dialect.readError({ status: 422, headers: {}, body }).status).toBe(422);
    }
  });
});

describe('stop sequences that stop nothing', () => {
  const withStops = (stop_sequences: readonly string[]) =>
    callIn(
      messagesClient,
      JSON.stringify({ model: 'fast', max_tokens: 9, messages: [user('x')], stop_sequences }),
    );

  it.each([[[]], [['']], [['', '']]])('%j asks for no ability, and is not sent', (stops) => {
    const call = withStops(stops);
    expect(requirementsOf(call.request)).toEqual([]);
    expect(sent(openaiChatUpstream, call).body).not.toHaveProperty('stop');
  });

  it('are left out beside those that do', () => {
    const call = withStops(['', 'HALT']);
    expect(requirementsOf(call.request)).toEqual(['stop']);
    expect(sent(openaiChatUpstream, call).body['stop']).toEqual(['HALT']);
  });
});

it('max_tokens of 0, which fills a cache and wants no answer, is for services of that dialect alone', () => {
  const body = JSON.stringify({ model: 'fast', max_tokens: 0, messages: [user('x')] });
  const { request } = callIn(messagesClient, body);
  const missing = [...upstreamDialects.values()].map(({ name, missingAbility }) => [
    name,
    missingAbility(request),
  ]);
  for (const [name, ability] of missing) {
    expect([name, ability]).toEqual([name, name === 'anthropic-messages' ? null : 'cache_warming']);
  }
});

it('a conversation of nothing begins with a word, as services of openai-chat want it', () => {
  const body = JSON.stringify({ contents: [{ role: 'user', parts: [] }] });
  const { at } = sent(openaiChatUpstream, callIn(geminiClient, body));
  expect(at('messages')).toEqual([{ role: 'user', content: '(start of conversation)' }]);
});

it.each([...upstreamDialects.values()])(
  'calls of one turn under one id go to $name with their results in order',
  (target) => {
    const call = (n: number) => ({ type: 'tool_use', id: 'same', name: 'f', input: { n } });
    const result = (content: string) => ({ type: 'tool_result', tool_use_id: 'same', content });
    const messages = [
      user('x'),
      { role: 'assistant', content: [call(1), call(2)] },
      { role: 'user', content: [result('first'), result('second')] },
    ];
    const body = JSON.stringify({ model: 'fast', max_tokens: 9, messages });
    const { text } = sent(target, callIn(messagesClient, body));
    expect(text).toMatch(/first.*second/);
    if (target.name === 'gemini') return;
    const ids = [...text.matchAll(/"(?:id|call_id|toolUseId)":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(2);
  },
);
