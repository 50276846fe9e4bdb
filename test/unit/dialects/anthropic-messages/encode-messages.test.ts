import { describe, expect, it } from 'vitest';
import { anthropicMessagesUpstream as dialect } from '../../../../src/dialects/anthropic-messages/upstream.ts';
import {
  callOf,
  calls,
  faultOf,
  type Json,
  result,
  sent,
  toolCall,
  user,
  valueAt,
} from '../upstream-calls.ts';

function send(body: Json, model = 'claude-sonnet-4-5') {
  return sent(dialect, callOf(body, { model }));
}

const text = (words: string) => ({ type: 'text', text: words });

describe('turns', () => {
  it('TR-06 alternate: neighbours are merged, leading system text goes to the top, later stays in place', () => {
    const { body } = send({
      messages: [
        { role: 'system', content: 's1' },
        user('a'),
        user('b'),
        { role: 'system', content: 's2' },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
        user('e'),
      ],
    });
    expect(body['system']).toEqual([text('s1')]);
    expect(body['messages']).toEqual([
      { role: 'user', content: [text('a'), text('b'), text('<system>\ns2\n</system>')] },
      { role: 'assistant', content: [text('c'), text('d')] },
      { role: 'user', content: [text('e')] },
    ]);
  });

  it('TR-06 keep the bytes of the prefix when the conversation grows, so that caches hit', () => {
    const start = [
      { role: 'system', content: 's1' },
      user('a'),
      { role: 'system', content: 's2' },
      calls(toolCall('x y', 'f', '{}')),
      result('x y', '1'),
    ];
    const shorter = send({ messages: start }).text;
    const longer = send({
      messages: [...start, { role: 'assistant', content: 'b' }, user('c')],
    }).text;
    const shared = shorter.slice(0, shorter.lastIndexOf(']}'));
    expect(longer.startsWith(shared.slice(0, -1))).toBe(true);
  });

  it('TR-07 hold no blank text and no empty content', () => {
    const { body } = send({
      messages: [
        user([text(''), text('hi')]),
        { role: 'assistant', content: '', tool_calls: [toolCall('a', 'f', '{}')] },
        result('a', ''),
        { role: 'assistant', content: ' \n' },
        user('go'),
      ],
    });
    expect(body['messages']).toEqual([
      { role: 'user', content: [text('hi')] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }, text('go')] },
    ]);
  });

  it('begin with the user, also when the client sent nothing of one', () => {
    expect(send({ messages: [{ role: 'system', content: 's' }] }).body['messages']).toEqual([
      { role: 'user', content: [text('(start of conversation)')] },
    ]);
    const begun = send({ messages: [{ role: 'assistant', content: 'hello' }, user('hi')] });
    expect(begun.at('messages.0.role')).toBe('user');
    expect(begun.at('messages.1')).toEqual({ role: 'assistant', content: [text('hello')] });
  });

  it('end in the text to go on from, without white space, where the model takes that', () => {
    const messages = [user('a'), { role: 'assistant', content: 'So far \n' }];
    expect(send({ messages }).at('messages.1.content')).toEqual([text('So far')]);
    const newer = send({ messages }, 'claude-sonnet-4-6');
    expect(newer.at('messages.1.content')).toEqual([text('So far \n')]);
    expect(newer.at('messages.2')).toEqual({ role: 'user', content: [text('Continue.')] });
    expect(newer.dropped).toEqual(['prefill']);
  });

  it('TR-14 TR-13 hold no reasoning of another vendor', () => {
    const { text: bytes, at } = send({
      messages: [
        user('q'),
        { role: 'assistant', content: 'a', reasoning_content: 'SECRET-CHAIN' },
        { role: 'assistant', content: null, reasoning_content: 'SECRET-CHAIN' },
        user('go'),
      ],
    });
    expect(bytes).not.toContain('SECRET-CHAIN');
    expect(at('messages.1')).toEqual({ role: 'assistant', content: [text('a')] });
    expect(at('messages.3')).toBeUndefined();
  });

  it('TR-13 hold signed thinking of this dialect, and none that lost its signature', () => {
    const call = callOf({ messages: [user('q'), { role: 'assistant', content: 'a' }, user('go')] });
    const thought = { type: 'reasoning', text: 't', redacted: null } as const;
    const parts = [
      { ...thought, signature: 'S-A', dialect: 'anthropic-messages' },
      { ...thought, signature: null, dialect: 'anthropic-messages' },
      { ...thought, signature: 'S-B', dialect: 'gemini' },
      { ...thought, signature: null, redacted: 'R', dialect: 'anthropic-messages' },
      { type: 'text', text: 'a' } as const,
    ];
    const messages = call.request.messages.map((message) =>
      message.role === 'assistant' ? { ...message, content: parts } : message,
    );
    const { at } = sent(dialect, { ...call, request: { ...call.request, messages } });
    expect(at('messages.1.content')).toEqual([
      { type: 'thinking', thinking: 't', signature: 'S-A' },
      { type: 'redacted_thinking', data: 'R' },
      text('a'),
    ]);
  });

  it('name what they cannot hold', () => {
    const { dropped } = send({
      messages: [
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } },
            { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } },
          ],
        },
      ],
      store: true,
      metadata: { a: 'b' },
    });
    expect(dropped).toEqual(expect.arrayContaining(['name', 'detail', 'store', 'metadata']));
  });
});

describe('tool calls', () => {
  const odd = [
    user('q'),
    calls(toolCall('functions.Bash:0', 'Bash', '{}'), toolCall('functions_Bash_0', 'Bash', '{}')),
    result('functions.Bash:0', '1'),
    result('functions_Bash_0', '2'),
  ];

  it('TR-03 get ids of the alphabet, distinct and the same for the result', () => {
    const { at, text: bytes } = send({ messages: odd });
    const [first, second] = [at('messages.1.content.0.id'), at('messages.1.content.1.id')];
    expect(first).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(second).toBe('functions_Bash_0');
    expect(at('messages.2.content.0')).toEqual({
      type: 'tool_result',
      tool_use_id: first,
      content: [text('1')],
    });
    expect(at('messages.2.content.1.tool_use_id')).toBe(second);
    expect(send({ messages: odd }).text).toBe(bytes);
  });

  it('TR-03 stay distinct when a client uses an id again, and short when it carries a signature', () => {
    const long = `tgs_${'A'.repeat(4000)}`;
    const { at, text: bytes } = send({
      messages: [
        user('q'),
        calls(toolCall('call_0', 'f', '{}')),
        result('call_0', '1'),
        calls(toolCall('call_0', 'f', '{}'), toolCall(long, 'f', '{}')),
        result('call_0', '2'),
        result(long, '3'),
      ],
    });
    const ids = ['1.content.0', '3.content.0', '3.content.1'].map((path) =>
      at(`messages.${path}.id`),
    );
    expect(ids[0]).toBe('call_0');
    expect(new Set(ids).size).toBe(3);
    expect(at('messages.4.content.0.tool_use_id')).toBe(ids[1]);
    expect(at('messages.4.content.1.tool_use_id')).toBe(ids[2]);
    expect(bytes).not.toContain('AAAA');
  });

  it('TR-04 have their results first and in one turn', () => {
    const { body } = send({
      messages: [
        user('q'),
        calls(toolCall('a', 'f', '{}'), toolCall('b', 'f', '{}')),
        user('by the way'),
        result('b', '2'),
        result('a', '1'),
      ],
    });
    expect(valueAt(body, 'messages.2')).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: [text('1')] },
        { type: 'tool_result', tool_use_id: 'b', content: [text('2')] },
        text('by the way'),
      ],
    });
  });

  it.each([
    ['at the end', [user('q'), calls(toolCall('a', 'f', '{}')), result('a', '1')]],
    [
      'before the next answer',
      [user('q'), calls(toolCall('a', 'f', '{}')), result('a', '1'), user('y')],
    ],
    [
      'of two',
      [
        user('q'),
        calls(toolCall('b', 'f', '{}'), toolCall('a', 'f', '{}')),
        result('b', '1'),
        result('a', '2'),
      ],
    ],
  ])('TR-04 are refused by id when a result is missing %s', (_case, messages) => {
    // The client's own dialect refuses it first: here it comes from another one.
    const call = callOf({ messages });
    const left = call.request.messages.filter(
      (message) => message.role !== 'tool' || message.toolCallId !== 'a',
    );
    const fault = faultOf(dialect, { ...call, request: { ...call.request, messages: left } });
    expect(fault.message).toContain('"a"');
    expect(fault.message).toContain('no result');
    expect(fault.param).toBe('messages[1]');
  });

  it('TR-04 are refused by id when a result answers no call', () => {
    const call = callOf({ messages: [user('q'), user('r')] });
    const ghost = { role: 'tool', toolCallId: 'ghost', content: [], isError: false } as const;
    const messages = [...call.request.messages, ghost];
    const fault = faultOf(dialect, { ...call, request: { ...call.request, messages } });
    expect(fault).toEqual({ param: 'messages[2]', message: expect.stringContaining('"ghost"') });
  });

  it('TR-19 with empty arguments have an empty input', () => {
    const { at } = send({
      messages: [
        user('q'),
        calls(toolCall('a', 'f', ''), toolCall('b', 'f', '  ')),
        result('a', '1'),
        result('b', '2'),
      ],
    });
    expect(at('messages.1.content.0.input')).toEqual({});
    expect(at('messages.1.content.1.input')).toEqual({});
  });

  it.each(['{"x":', 'nonsense', '[1]', '"text"', '1.0', 'null'])(
    'with the arguments %s are refused, naming the call',
    (args) => {
      const messages = [user('q'), calls(toolCall('call_7', 'f', args)), result('call_7', '1')];
      const fault = faultOf(dialect, callOf({ messages }));
      expect(fault.message).toContain('"call_7" (f)');
      expect(fault.param).toBe('messages[1]');
    },
  );

  it('keep the spelling of numbers', () => {
    const args = '{"id":12345678901234567890,"x":1.0,"y":1e3,"__proto__":{"z":-0}}';
    const { text: bytes } = send({
      messages: [user('q'), calls(toolCall('a', 'f', args)), result('a', '1')],
    });
    expect(bytes).toContain(`"input":${args}`);
  });

  it('nested beyond what can be written are refused, not thrown', () => {
    const args = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const messages = [user('q'), calls(toolCall('a', 'f', args)), result('a', '1')];
    expect(faultOf(dialect, callOf({ messages })).message).toMatch(/deeply|too deep/);
  });

  it('say that a result is an error', () => {
    const call = callOf({
      messages: [user('q'), calls(toolCall('a', 'f', '{}')), result('a', 'bad')],
    });
    const messages = call.request.messages.map((message) =>
      message.role === 'tool' ? { ...message, isError: true } : message,
    );
    const { at } = sent(dialect, { ...call, request: { ...call.request, messages } });
    expect(at('messages.2.content.0.is_error')).toBe(true);
  });
});

describe('media', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } });

  it('TR-20 go as base64 sources out of data URLs', () => {
    const { at } = send({
      messages: [user([image('data:image/png;base64,AAAA'), { type: 'text', text: '?' }])],
    });
    expect(at('messages.0.content.0')).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
    });
  });

  it('TR-21 go as links, which the service fetches', () => {
    const { at } = send({ messages: [user([image('https://example.com/a.png')])] });
    expect(at('messages.0.content.0.source')).toEqual({
      type: 'url',
      url: 'https://example.com/a.png',
    });
  });

  it('go as documents, plain text decoded', () => {
    const file = (data: string) => ({ type: 'file', file: { filename: 'a', file_data: data } });
    const words = Buffer.from('grüße').toString('base64');
    const { at } = send({
      messages: [
        user([
          file('data:application/pdf;base64,JVBERg=='),
          file(`data:text/markdown;base64,${words}`),
        ]),
      ],
    });
    expect(at('messages.0.content.0')).toEqual({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
      title: 'a',
    });
    expect(at('messages.0.content.1.source')).toEqual({
      type: 'text',
      media_type: 'text/plain',
      data: 'grüße',
    });
  });

  it('lie inside the result of a call', () => {
    const call = callOf({
      messages: [user('q'), calls(toolCall('a', 'f', '{}')), result('a', 'see')],
    });
    const source = { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } as const;
    const messages = call.request.messages.map((message) =>
      message.role === 'tool'
        ? {
            ...message,
            content: [...message.content, { type: 'image', source, detail: null } as const],
          }
        : message,
    );
    const { at } = sent(dialect, { ...call, request: { ...call.request, messages } });
    expect(at('messages.2.content.0.content.1.type')).toBe('image');
  });
});
