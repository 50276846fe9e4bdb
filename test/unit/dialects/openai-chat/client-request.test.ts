import { describe, expect, it } from 'vitest';
import type { ChatRequest, Message } from '../../../../src/chat/request.ts';
import type { RequestFault } from '../../../../src/dialects/dialect.ts';
import { openaiChatClient } from '../../../../src/dialects/openai-chat/client.ts';

const hi = [{ role: 'user', content: 'hi' }];

function decode(body: unknown) {
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  return openaiChatClient.decodeRequest(bytes);
}

function requestOf(body: unknown): ChatRequest {
  const decoded = decode(body);
  if (!decoded.ok) throw new Error(decoded.fault.message);
  return decoded.value.request;
}

function faultOf(body: unknown): RequestFault {
  const decoded = decode(body);
  if (decoded.ok) throw new Error('no fault was found');
  return decoded.fault;
}

describe('a request', () => {
  it('is read into the canonical form', () => {
    const request = requestOf({
      model: 'reasoning',
      messages: [
        { role: 'system', content: 's' },
        { role: 'developer', content: [{ type: 'text', text: 'd' }] },
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
            { type: 'input_audio', input_audio: { data: 'BBBB', format: 'wav' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,CC', filename: 'a' } },
            { type: 'file', file: { file_id: 'file-1' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'r' }] },
      ],
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      stop: 'END',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: {}, strict: true },
      },
    });
    expect(request.model).toBe('reasoning');
    expect(request.messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 's' }] },
      { role: 'system', content: [{ type: 'text', text: 'd' }] },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'look' },
          {
            type: 'image',
            detail: 'low',
            source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' },
          },
          { type: 'image', detail: null, source: { kind: 'url', url: 'https://x.test/a.png' } },
          { type: 'audio', data: 'BBBB', format: 'wav' },
          {
            type: 'document',
            filename: 'a',
            source: { kind: 'base64', mediaType: 'application/pdf', data: 'CC' },
          },
          {
            type: 'document',
            filename: null,
            source: { kind: 'file', fileId: 'file-1', dialect: 'openai-chat' },
          },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":' }],
      },
      {
        role: 'tool',
        toolCallId: 'c1',
        isError: false,
        content: [{ type: 'text', text: 'r' }],
      },
    ] satisfies Message[]);
    expect(request.isStream).toBe(true);
    expect(request.includeUsage).toBe(true);
    expect(request.tools).toHaveLength(1);
    expect(request.toolChoice).toEqual({ mode: 'tool', name: 'f' });
    expect(request.parameters.stop).toEqual(['END']);
    expect(request.parameters.response_format).toMatchObject({ name: 'n', strict: true });
  });

  it('needs no model: the tier may stand in the path', () => {
    expect(requestOf({ messages: hi }).model).toBe('');
  });

  it('gives its extension apart, and keeps it out of the body', () => {
    const decoded = decode({ model: 'm', messages: hi, tiergate: { eval_run: 'r' }, x: 1 });
    if (!decoded.ok) throw new Error(decoded.fault.message);
    expect(decoded.value.extension).toEqual({ eval_run: 'r' });
    expect(decoded.value.request.original.json).toEqual({ model: 'm', messages: hi, x: 1 });
    expect(decoded.value.request.otherFields).toEqual(['x']);
  });

  it('names fields that have no canonical place, plainly', () => {
    const request = requestOf({ messages: hi, metadata: { a: 'b' }, store: true, 'a\r\nb': 1 });
    expect(request.otherFields).toEqual(['metadata', 'store', 'other']);
  });

  it('keeps what only this dialect can carry as a tool of it', () => {
    const request = requestOf({
      messages: [{ role: 'user', content: [{ type: 'video_url', video_url: { url: 'v' } }] }],
      tools: [{ type: 'custom', custom: { name: 'c' } }],
      functions: [{ name: 'old' }],
      modalities: ['text', 'audio'],
    });
    expect(request.providerTools.map((tool) => tool.kind)).toEqual([
      'custom',
      'content:video_url',
      'functions',
      'modalities',
    ]);
    expect(requestOf({ messages: hi, modalities: ['text'] }).providerTools).toEqual([]);
  });

  it.each([
    [{ max_tokens: 90, max_completion_tokens: 77 }, 77],
    [{ max_tokens: 50, max_completion_tokens: 77 }, 50],
    [{ max_completion_tokens: 77 }, 77],
    [{ max_tokens: null, max_completion_tokens: null }, null],
  ])('TR-09 the smaller of both output limits holds: %j', (limits, expected) => {
    expect(requestOf({ messages: hi, ...limits }).parameters.max_tokens).toBe(expected);
  });

  it('TR-14 marks reasoning in the history as private to this dialect', () => {
    const request = requestOf({
      messages: [
        ...hi,
        { role: 'assistant', content: 'a', reasoning_content: 'SECRET-CHAIN' },
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: [{ type: 'text', text: 't' }] }],
        },
        ...hi,
      ],
    });
    expect(request.messages[1]?.content[0]).toEqual({
      type: 'reasoning',
      text: 'SECRET-CHAIN',
      signature: null,
      redacted: null,
      dialect: 'openai-chat',
    });
    expect(request.messages[2]?.content[0]).toMatchObject({ type: 'reasoning', text: 't' });
  });

  it('TR-19 takes a call in the history whose arguments are empty', () => {
    const call = { id: 'c', type: 'function', function: { name: 'now', arguments: '' } };
    const request = requestOf({
      messages: [
        ...hi,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: '' },
      ],
    });
    expect(request.messages[1]?.content).toEqual([
      { type: 'tool_call', id: 'c', name: 'now', arguments: '' },
    ]);
  });

  it('reads the old form of calls and results', () => {
    const request = requestOf({
      messages: [
        ...hi,
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'r' },
      ],
    });
    const [, asked, answer] = request.messages;
    const call = asked?.content[0];
    expect(call).toMatchObject({ type: 'tool_call', name: 'f' });
    expect(answer).toMatchObject({ toolCallId: call?.type === 'tool_call' ? call.id : '' });
  });
});

describe('a request is refused', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  const asked = { role: 'assistant', content: null, tool_calls: [call('a'), call('call-b')] };

  it('TR-04 when a call has no result, by the name of the call', () => {
    const messages = [...hi, asked, { role: 'tool', tool_call_id: 'a', content: '1' }, ...hi];
    const fault = faultOf({ messages });
    expect(fault.message).toContain('"call-b"');
    expect(fault.param).toBe('messages[1].tool_calls');
    expect(faultOf({ messages: [...hi, asked] }).message).toContain('"a"');
    const answered = [
      ...hi,
      asked,
      ...hi,
      ...['call-b', 'a'].map((id) => ({ role: 'tool', tool_call_id: id, content: '2' })),
    ];
    expect(requestOf({ messages: answered }).messages).toHaveLength(5);
  });

  it.each(['api_base', 'base_url', 'api_key', 'extra_headers'])(
    'SE-01 when it names %s',
    (name) => {
      expect(faultOf({ model: 'm', messages: hi, [name]: 'http://169.254.169.254/' }).param).toBe(
        name,
      );
      expect(faultOf(`{"${name}":null,"messages":[]}`).param).toBe(name);
    },
  );

  it.each([
    ['{"model":"m"', null],
    ['', null],
    ['[]', null],
    ['"x"', null],
    ['null', null],
    [{ model: 7, messages: hi }, 'model'],
    [{}, 'messages'],
    [{ messages: 'hi' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [7] }, 'messages[0]'],
    [{ messages: [{ role: 'robot', content: '' }] }, 'messages[0].role'],
    [{ messages: [{ content: '' }] }, 'messages[0].role'],
    [{ messages: [...hi, ...hi, ...hi, { role: 'user', content: 7 }] }, 'messages[3].content'],
    [{ messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
      'messages[0].content[0].image_url.url',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] },
      'messages[0].content[0].file',
    ],
    [{ messages: [{ role: 'user', content: [7] }] }, 'messages[0].content[0]'],
    [{ messages: [{ role: 'tool', content: '' }] }, 'messages[0].tool_call_id'],
    [
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: {} }] },
        ],
      },
      'messages[0].tool_calls[0].function.name',
    ],
    [
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }] },
        ],
      },
      'messages[0].tool_calls[0].function.arguments',
    ],
    [{ messages: hi, stream: 'yes' }, 'stream'],
    [{ messages: hi, stream_options: {} }, 'stream_options'],
    [
      { messages: hi, stream: true, stream_options: { include_usage: 1 } },
      'stream_options.include_usage',
    ],
    [{ messages: hi, temperature: 'hot' }, 'temperature'],
    [{ messages: hi, max_tokens: 1.5 }, 'max_tokens'],
    [{ messages: hi, stop: [1] }, 'stop'],
    [{ messages: hi, n: 0 }, 'n'],
    [{ messages: hi, n: -1 }, 'n'],
    [{ messages: hi, logit_bias: [] }, 'logit_bias'],
    [{ messages: hi, response_format: { type: 7 } }, 'response_format.type'],
    [{ messages: hi, response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ messages: hi, tools: {} }, 'tools'],
    [{ messages: hi, tools: [{ type: 'function' }] }, 'tools[0].function'],
    [
      { messages: hi, tools: [{ type: 'function', function: { name: '' } }] },
      'tools[0].function.name',
    ],
    [{ messages: hi, tool_choice: 'maybe' }, 'tool_choice'],
    [{ messages: hi, tiergate: 'x' }, 'tiergate'],
  ])('when it is %j', (body, param) => {
    const fault = faultOf(body);
    expect(fault.param).toBe(param);
    expect(fault.message.length).toBeGreaterThan(10);
    if (param !== null) expect(fault.message).toContain(param.split('.')[0] ?? '');
  });

  it('when its bytes are no UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"model":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const decoded = openaiChatClient.decodeRequest(bytes);
    expect(decoded.ok ? null : decoded.fault.message).toContain('UTF-8');
  });

  it('when it is nested 100,000 levels deep', () => {
    const levels = 100_000;
    const deep = `{"model":"m","messages":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(faultOf(deep).message).toContain('nested');
    expect(faultOf('['.repeat(1_000_000)).message).toContain('nested');
    expect(faultOf(`{"a":${'{"b":'.repeat(levels)}1${'}'.repeat(levels + 1)}`).message).toContain(
      'nested',
    );
  });
});

it('SE-10 takes nothing from __proto__ or constructor', () => {
  const body =
    '{"model":"fast","messages":[{"role":"user","content":"hi","__proto__":{"role":"x"}}],"__proto__":{"stream":true,"isAdmin":true},"constructor":{"prototype":{"x":1}},"metadata":{"__proto__":{"y":1}},"tiergate":{"__proto__":{"z":1}}}';
  const request = requestOf(body);
  expect(request.isStream).toBe(false);
  expect(request.messages[0]?.role).toBe('user');
  const plain: Record<string, unknown> = {};
  expect([plain['isAdmin'], plain['x'], plain['y'], plain['z']]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

it('keeps lone surrogates', () => {
  const request = requestOf('{"messages":[{"role":"user","content":"\\ud800x"}]}');
  expect(request.messages[0]?.content[0]).toEqual({ type: 'text', text: '\ud800x' });
});
