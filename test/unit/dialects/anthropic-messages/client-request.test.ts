import { describe, expect, it } from 'vitest';
import type { ChatRequest, Message } from '../../../../src/chat/request.ts';
import { anthropicMessagesClient } from '../../../../src/dialects/anthropic-messages/client.ts';
import { unsignedMark } from '../../../../src/dialects/anthropic-messages/thinking-origin.ts';
import type { RequestFault } from '../../../../src/dialects/dialect.ts';

const hi = [{ role: 'user', content: 'hi' }];

function decode(body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return anthropicMessagesClient.decodeRequest(Buffer.from(text));
}

function requestOf(body: unknown): ChatRequest {
  const decoded = decode(body);
  if (!decoded.ok) throw new Error(`${decoded.fault.param}: ${decoded.fault.message}`);
  return decoded.value.request;
}

function faultOf(body: unknown): RequestFault {
  const decoded = decode(body);
  if (decoded.ok) throw new Error('no fault was found');
  return decoded.fault;
}

function messagesOf(messages: readonly unknown[]): readonly Message[] {
  return requestOf({ messages }).messages;
}

const assistant = (...content: readonly unknown[]) => ({ role: 'assistant', content });
const user = (...content: readonly unknown[]) => ({ role: 'user', content });
const text = (value: string) => ({ type: 'text', text: value });
const toolUse = (id: string, input: unknown = {}) => ({ type: 'tool_use', id, name: 'f', input });
const toolResult = (id: string, rest: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  ...rest,
});
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const png = {
  type: 'image',
  detail: null,
  source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' },
};

describe('a request', () => {
  it('is read into the canonical form', () => {
    const request = requestOf({
      model: 'reasoning',
      max_tokens: 50,
      system: [{ ...text('s'), cache_control: { type: 'ephemeral' } }, text('t')],
      messages: [
        user(text('look'), image, {
          type: 'image',
          source: { type: 'url', url: 'https://x.test' },
        }),
        assistant(text('calling'), toolUse('c1', { a: 1 })),
        user(toolResult('c1', { content: [text('r'), image], is_error: true }), text('and?')),
      ],
      stream: true,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ['END'],
      metadata: { user_id: 'ann' },
      service_tier: 'standard_only',
      tools: [
        { name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true },
        { name: 'g', type: 'custom', input_schema: { type: 'object' } },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    });
    expect(request.messages).toEqual([
      {
        role: 'system',
        content: [{ ...text('s'), cacheControl: { type: 'ephemeral' } }, text('t')],
      },
      {
        role: 'user',
        name: null,
        content: [
          text('look'),
          png,
          { type: 'image', detail: null, source: { kind: 'url', url: 'https://x.test' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          text('calling'),
          { type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}' },
        ],
      },
      { role: 'tool', toolCallId: 'c1', isError: true, content: [text('r'), png] },
      { role: 'user', name: null, content: [text('and?')] },
    ]);
    expect(request).toMatchObject({
      model: 'reasoning',
      isStream: true,
      includeUsage: true,
      providerTools: [],
      toolChoice: { mode: 'required' },
      tools: [
        { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
        { name: 'g', description: null, parameters: { type: 'object' }, strict: null },
      ],
      otherFields: ['cache_control'],
      parameters: {
        max_tokens: 50,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 5,
        stop: ['END'],
        user: 'ann',
        service_tier: 'default',
        parallel_tool_calls: false,
        response_format: { type: 'json_schema', name: 'response', schema: { type: 'object' } },
      },
    });
  });

  it('needs no model and no system: the tier may stand in the path', () => {
    const request = requestOf({ messages: hi });
    expect(request.model).toBe('');
    expect(request.messages).toHaveLength(1);
    expect(requestOf({ system: 'be brief', messages: hi }).messages[0]).toEqual({
      role: 'system',
      content: [text('be brief')],
    });
  });

  it('TR-05 has the results of calls before what the user says, wherever they stood', () => {
    const messages = messagesOf([
      ...hi,
      assistant(toolUse('a')),
      user(text('and?'), toolResult('a', { content: '1' })),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  });

  it('has neighbours of one role as one turn', () => {
    const messages = messagesOf([
      user(text('a')),
      { role: 'user', content: 'b' },
      assistant(toolUse('x')),
      assistant(toolUse('y')),
      user(toolResult('x')),
      user(toolResult('y')),
      { role: 'system', content: 'now' },
      { role: 'user', content: 'c' },
    ]);
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'system',
      'user',
    ]);
    expect(messages[0]?.content).toEqual([text('a'), text('b')]);
    expect(messages[1]?.content).toHaveLength(2);
  });

  it('keeps the numbers, the order and the escapes of a call as they came, without the spaces', () => {
    const body = `{"messages": [{"role":"user","content":"x"},{"role":"assistant","content":[
      {"type":"text","text":"t"},
      {"type":"tool_use","id":"a","name":"f","input": { "id": 12345678901234567890, "z": 1.0,
        "2": "a \\u00e9 \\" b", "1": [ ] } } ]} ]}`;
    const call = requestOf(body).messages[1]?.content[1];
    expect(call).toMatchObject({
      arguments: '{"id":12345678901234567890,"z":1.0,"2":"a \\u00e9 \\" b","1":[]}',
    });
  });

  it('keeps long texts in its bytes, also those inside the input of a call', () => {
    const long = `${'long text '.repeat(600)}"\\`;
    const request = requestOf({
      messages: [
        { role: 'user', content: long },
        assistant(text(long), toolUse('a', { content: long, data: { text: long } })),
        user(toolResult('a', { content: long }), {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: long },
        }),
      ],
    });
    const [asked, called, result, document] = request.messages;
    expect(asked?.content).toEqual([text(long)]);
    expect(called?.content[0]).toEqual(text(long));
    const call = called?.content[1];
    expect(JSON.parse(call?.type === 'tool_call' ? call.arguments : '')).toEqual({
      content: long,
      data: { text: long },
    });
    expect(result?.content).toEqual([text(long)]);
    const data = Buffer.from(long).toString('base64');
    expect(document?.content).toMatchObject([{ source: { mediaType: 'text/plain', data } }]);
  });

  it('reads documents of every kind', () => {
    const read = messagesOf([
      user(
        {
          type: 'document',
          title: 'a.pdf',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        },
        { type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } },
        { type: 'document', source: { type: 'file', file_id: 'file_1' } },
        { type: 'document', source: { type: 'content', content: [text('a'), text('b')] } },
      ),
    ])[0];
    expect(read?.content).toMatchObject([
      { filename: 'a.pdf', source: { mediaType: 'application/pdf', data: 'JVBERi0=' } },
      { filename: null, source: { kind: 'url', url: 'https://x.test/a.pdf' } },
      { source: { kind: 'file', fileId: 'file_1', dialect: 'anthropic-messages' } },
      { source: { mediaType: 'text/plain', data: Buffer.from('a\n\nb').toString('base64') } },
    ]);
  });

  it('TR-13 TR-14 has thinking as bound to this dialect, and thinking that nobody signed as unsigned', () => {
    const [, turn] = messagesOf([
      ...hi,
      assistant(
        { type: 'thinking', thinking: 't', signature: 'S' },
        { type: 'redacted_thinking', data: 'RED' },
        { type: 'thinking', thinking: 'u', signature: unsignedMark },
        { type: 'thinking', thinking: 'v', signature: '' },
        text('a'),
      ),
    ]);
    const dialect = 'anthropic-messages';
    expect(turn?.content).toEqual([
      { type: 'reasoning', text: 't', signature: 'S', redacted: null, dialect },
      { type: 'reasoning', text: '', signature: null, redacted: 'RED', dialect },
      { type: 'reasoning', text: 'u', signature: null, redacted: null, dialect },
      { type: 'reasoning', text: 'v', signature: null, redacted: null, dialect },
      text('a'),
    ]);
  });

  it('keeps what only this dialect can carry as a tool of it', () => {
    const request = requestOf({
      messages: [
        user({ type: 'search_result', source: 's' }, { type: 'image', source: { type: 'odd' } }),
        assistant({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      ],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    });
    expect(request.providerTools.map(({ kind, dialect }) => `${dialect} ${kind}`)).toEqual([
      'anthropic-messages content:search_result',
      'anthropic-messages content:image',
      'anthropic-messages content:server_tool_use',
      'anthropic-messages web_search_20250305',
    ]);
  });

  it('names what has no canonical place, plainly', () => {
    const request = requestOf({
      messages: hi,
      speed: 'fast',
      container: null,
      mcp_servers: [],
      'a\r\nb': 1,
      tools: [{ name: 'f', input_schema: {}, defer_loading: true, cache_control: {} }],
    });
    expect(request.otherFields).toEqual(['tools.defer_loading', 'cache_control', 'speed', 'other']);
  });

  it.each([
    [[{ type: 'clear_thinking_20251015' }], 'context_management.edits'],
    [[{ type: 'compact_20260112' }], 'context_management'],
  ])(
    'is bound by what changes its context, and not by what only saves tokens: %j',
    (edits, name) => {
      const request = requestOf({ messages: hi, context_management: { edits } });
      expect(request.otherFields).toEqual([name]);
    },
  );

  it('gives its extension apart, and keeps it out of the body', () => {
    const decoded = decode({ model: 'm', messages: hi, tiergate: { eval_run: 'r' }, x: 1 });
    if (!decoded.ok) throw new Error(decoded.fault.message);
    expect(decoded.value.extension).toEqual({ eval_run: 'r' });
    expect(decoded.value.request.original.json).toEqual({ model: 'm', messages: hi, x: 1 });
  });

  it.each([
    [{ type: 'enabled', budget_tokens: 1024 }, undefined, 'minimal'],
    [{ type: 'enabled', budget_tokens: 2048 }, undefined, 'low'],
    [{ type: 'enabled', budget_tokens: 8192 }, undefined, 'medium'],
    [{ type: 'enabled', budget_tokens: 31_999 }, undefined, 'high'],
    [{ type: 'enabled', budget_tokens: 32_000 }, undefined, 'xhigh'],
    [{ type: 'enabled', budget_tokens: 32_000 }, 'low', 'low'],
    [{ type: 'adaptive' }, 'max', 'max'],
    [{ type: 'adaptive' }, undefined, null],
    [{ type: 'disabled' }, 'high', 'none'],
    [undefined, 'high', 'high'],
    [undefined, undefined, null],
  ])('asks others to think as much: %j and effort %s are %s', (thinking, effort, expected) => {
    const config = effort === undefined ? {} : { output_config: { effort } };
    const { parameters } = requestOf({ messages: hi, thinking, ...config });
    expect(parameters.reasoning_effort).toBe(expected);
  });

  it.each([
    [{ type: 'auto' }, { mode: 'auto' }],
    [{ type: 'any' }, { mode: 'required' }],
    [{ type: 'none' }, { mode: 'none' }],
    [
      { type: 'tool', name: 'f' },
      { mode: 'tool', name: 'f' },
    ],
    [null, null],
  ])('chooses among tools: %j', (choice, expected) => {
    const request = requestOf({ messages: hi, tool_choice: choice });
    expect(request.toolChoice).toEqual(expected);
    expect(request.parameters.parallel_tool_calls).toBeNull();
  });

  it('names its user to others in a form that they take', () => {
    const userId = `user_${'x'.repeat(200)}`;
    const { parameters } = requestOf({ messages: hi, metadata: { user_id: userId } });
    expect(parameters.user).toMatch(/^[0-9a-f]{64}$/);
    expect(requestOf({ messages: hi, metadata: { user_id: userId } }).parameters.user).toBe(
      parameters.user,
    );
  });

  it('takes the older place of an output schema', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } };
    const { parameters } = requestOf({ messages: hi, output_format: format });
    expect(parameters.response_format).toMatchObject(format);
  });
});

describe('a request is refused', () => {
  it.each([{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }])(
    'when the provider is to keep the conversation: %j, with the code that the SDK acts on',
    (thread) => {
      const { param, details } = faultOf({ messages: hi, thread });
      expect(param).toBe('thread');
      expect(details).toEqual({
        error_code: 'thread_unsupported_request',
        unsupported: ['thread'],
      });
      expect(requestOf({ messages: hi, thread: null }).messages).toHaveLength(1);
    },
  );

  it.each(['api_base', 'base_url', 'api_key', 'extra_headers'])(
    'SE-01 when it names %s',
    (name) => {
      expect(faultOf({ messages: hi, [name]: 'http://169.254.169.254/' }).param).toBe(name);
    },
  );

  it.each([
    ['{"model":"m"', null],
    ['[]', null],
    [{ model: 7, messages: hi }, 'model'],
    [{}, 'messages'],
    [{ messages: 'hi' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [7] }, 'messages[0]'],
    [{ messages: [{ role: 'tool', content: '' }] }, 'messages[0].role'],
    [{ messages: [...hi, ...hi, { role: 'user', content: 7 }] }, 'messages[2].content'],
    [{ messages: [user(7)] }, 'messages[0].content[0]'],
    [{ messages: [user({})] }, 'messages[0].content[0].type'],
    [{ messages: [user({ type: 'text' })] }, 'messages[0].content[0].text'],
    [{ messages: [user({ type: 'image' })] }, 'messages[0].content[0].source'],
    [
      { messages: [user({ type: 'image', source: { type: 'base64', media_type: 'image/png' } })] },
      'messages[0].content[0].source.data',
    ],
    [{ messages: [user({ type: 'tool_result' })] }, 'messages[0].content[0].tool_use_id'],
    [
      { messages: [user(toolResult('a', { content: [{ type: 'text' }] }))] },
      'messages[0].content[0].content[0].text',
    ],
    [{ messages: [user(toolResult('a', { content: 7 }))] }, 'messages[0].content[0].content'],
    [{ messages: [user(toolResult('a', { is_error: 'yes' }))] }, 'messages[0].content[0].is_error'],
    [{ messages: [assistant(toolUse(''))] }, 'messages[0].content[0].id'],
    [{ messages: [assistant(toolUse('a', '{}'))] }, 'messages[0].content[0].input'],
    [{ messages: [assistant({ type: 'thinking' })] }, 'messages[0].content[0].thinking'],
    [{ messages: hi, system: 7 }, 'system'],
    [{ messages: hi, system: [image] }, 'system[0]'],
    [{ messages: hi, stream: 'yes' }, 'stream'],
    [{ messages: hi, temperature: 'hot' }, 'temperature'],
    [{ messages: hi, max_tokens: 1.5 }, 'max_tokens'],
    [{ messages: hi, stop_sequences: 'END' }, 'stop_sequences'],
    [{ messages: hi, metadata: { user_id: 7 } }, 'metadata.user_id'],
    [{ messages: hi, thinking: {} }, 'thinking.type'],
    [{ messages: hi, thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    [{ messages: hi, output_config: { format: { type: 'xml' } } }, 'output_config.format'],
    [{ messages: hi, tools: {} }, 'tools'],
    [{ messages: hi, tools: [{ name: 'f' }] }, 'tools[0].input_schema'],
    [{ messages: hi, tools: [{ input_schema: {} }] }, 'tools[0].name'],
    [{ messages: hi, tool_choice: 'auto' }, 'tool_choice'],
    [{ messages: hi, tool_choice: { type: 'maybe' } }, 'tool_choice.type'],
    [{ messages: hi, tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    [{ messages: hi, tiergate: 'x' }, 'tiergate'],
  ])('when it is %j', (body, param) => {
    const fault = faultOf(body);
    expect(fault.param).toBe(param);
    if (param !== null) expect(fault.message).toContain(param);
  });

  it('when it is nested 100,000 levels deep', () => {
    const levels = 100_000;
    const input = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const block = `{"type":"tool_use","id":"a","name":"f","input":${input}}`;
    const body = `{"messages":[{"role":"assistant","content":[${block}]}]}`;
    expect(faultOf(body).message).toContain('nested');
  });
});

it('SE-10 takes nothing from __proto__ or constructor', () => {
  const request = requestOf(
    '{"messages":[{"role":"user","content":"hi","__proto__":{"role":"x"}}],"__proto__":{"stream":true,"isAdmin":true},"constructor":{"prototype":{"x":1}},"tiergate":{"__proto__":{"z":1}}}',
  );
  expect(request.isStream).toBe(false);
  expect(request.messages[0]?.role).toBe('user');
  const plain: Record<string, unknown> = {};
  expect([plain['isAdmin'], plain['x'], plain['z']]).toEqual([undefined, undefined, undefined]);
});
