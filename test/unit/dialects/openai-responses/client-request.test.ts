import { describe, expect, it } from 'vitest';
import type { ChatRequest, Message } from '../../../../src/chat/request.ts';
import { foreignAbility } from '../../../../src/dialects/foreign-request.ts';
import { openaiResponsesClient } from '../../../../src/dialects/openai-responses/client.ts';
import { encodeCarrier } from '../../../../src/dialects/reasoning-carrier.ts';

function decode(body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return openaiResponsesClient.decodeRequest(Buffer.from(text));
}

function requestOf(body: object): ChatRequest {
  const decoded = decode({ input: 'hi', ...body });
  if (!decoded.ok) throw new Error(`${decoded.fault.param}: ${decoded.fault.message}`);
  return decoded.value.request;
}

function messagesOf(...input: readonly unknown[]): readonly Message[] {
  return requestOf({ input }).messages;
}

const text = (value: string) => ({ type: 'text', text: value });
const user = (...content: readonly unknown[]) => ({ role: 'user', content, name: null });
const call = (id: string, given = '{}') => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'f',
  arguments: given,
});
const output = (id: string, value: unknown = 'r') => ({
  type: 'function_call_output',
  call_id: id,
  output: value,
});
const png = { kind: 'base64', mediaType: 'image/png', data: 'AAAA' };

describe('a request', () => {
  it('is read into the canonical form', () => {
    const request = requestOf({
      model: 'reasoning',
      instructions: 'be brief',
      stream: true,
      max_output_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
      top_logprobs: 3,
      reasoning: { effort: 'low', summary: 'auto' },
      text: {
        verbosity: 'low',
        format: { type: 'json_schema', name: 'shape', schema: { type: 'object' }, strict: true },
      },
      parallel_tool_calls: false,
      safety_identifier: 'u7',
      service_tier: 'flex',
      tiergate: { deadline_ms: 5 },
    });
    expect(request).toMatchObject({
      model: 'reasoning',
      isStream: true,
      includeUsage: true,
      messages: [{ role: 'system', content: [text('be brief')] }, user(text('hi'))],
      parameters: {
        max_tokens: 50,
        temperature: 0.5,
        top_p: 0.9,
        logprobs: true,
        top_logprobs: 3,
        reasoning_effort: 'low',
        verbosity: 'low',
        parallel_tool_calls: false,
        user: 'u7',
        service_tier: 'flex',
        response_format: { type: 'json_schema', name: 'shape', strict: true, description: null },
      },
      otherFields: [],
      accountState: { isBound: false, isKept: false, itemIds: [] },
    });
    expect(decode({ input: 'x', tiergate: { a: 1 } })).toMatchObject({
      value: { extension: { a: 1 } },
    });
  });

  it('names what has no place elsewhere, and nothing that says what is so anyway', () => {
    expect(
      requestOf({
        metadata: {},
        truncation: 'disabled',
        store: false,
        background: false,
        max_tool_calls: null,
        reasoning: { mode: 'standard', context: 'auto' },
        prompt: null,
        context_management: [],
      }).otherFields,
    ).toEqual([]);
    expect(
      requestOf({
        metadata: { a: 'b' },
        truncation: 'auto',
        prompt_cache_key: 'k',
        reasoning: { mode: 'pro' },
        'odd field': 1,
      }).otherFields,
    ).toEqual(['reasoning.mode', 'metadata', 'truncation', 'prompt_cache_key', 'other']);
  });
});

describe('input items', () => {
  it('of the model that stand together are one turn', () => {
    const messages = messagesOf(
      { role: 'user', content: 'q' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'E' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'calling' }] },
      call('a', '{"x":12345678901234567890}'),
      call('b'),
      output('a'),
      output('b', [{ type: 'input_text', text: 't' }]),
      { role: 'assistant', content: 'done' },
      { role: 'developer', content: [{ type: 'input_text', text: 's' }] },
    );
    expect(messages).toEqual([
      user(text('q')),
      {
        role: 'assistant',
        content: [
          {
            type: 'reasoning',
            text: '',
            signature: 'E',
            redacted: null,
            dialect: 'openai-responses',
          },
          text('calling'),
          { type: 'tool_call', id: 'a', name: 'f', arguments: '{"x":12345678901234567890}' },
          { type: 'tool_call', id: 'b', name: 'f', arguments: '{}' },
        ],
      },
      { role: 'tool', toolCallId: 'a', content: [text('r')], isError: false },
      { role: 'tool', toolCallId: 'b', content: [text('t')], isError: false },
      { role: 'assistant', content: [text('done')] },
      { role: 'system', content: [text('s')] },
    ]);
  });

  it.each([
    [{ type: 'input_text', text: 'a' }, text('a')],
    [
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
      { type: 'image', source: png, detail: 'low' },
    ],
    [
      { type: 'input_image', image_url: 'https://x.test/a.png' },
      { type: 'image', source: { kind: 'url', url: 'https://x.test/a.png' }, detail: null },
    ],
    [
      { type: 'input_image', file_id: 'file-1' },
      {
        type: 'image',
        source: { kind: 'file', fileId: 'file-1', dialect: 'openai-responses' },
        detail: null,
      },
    ],
    [
      { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,AAAA' },
      {
        type: 'document',
        source: { kind: 'base64', mediaType: 'text/plain', data: 'AAAA' },
        filename: 'a.txt',
      },
    ],
    [
      { type: 'input_file', file_data: 'AAAA' },
      {
        type: 'document',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' },
        filename: null,
      },
    ],
    [
      { type: 'input_file', file_url: 'https://x.test/a.pdf' },
      {
        type: 'document',
        source: { kind: 'url', url: 'https://x.test/a.pdf' },
        filename: null,
      },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      { type: 'audio', format: 'wav', data: 'AAAA' },
    ],
  ])('the part %j', (part, read) => {
    expect(messagesOf({ role: 'user', content: [part] })).toEqual([user(read)]);
  });

  it('a result may hold an image', () => {
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
    expect(messagesOf(call('a'), output('a', [image]))[1]).toMatchObject({
      role: 'tool',
      content: [{ type: 'image', source: png }],
    });
  });

  it('that are not known here bind the request to its dialect', () => {
    const items = [
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { role: 'user', content: [{ type: 'input_hologram' }] },
      { type: 'compaction', encrypted_content: 'E' },
    ];
    const request = requestOf({ input: items });
    expect(request.providerTools.map(({ kind }) => kind)).toEqual([
      'item:web_search_call',
      'content:input_hologram',
      'item:compaction',
    ]);
    expect(foreignAbility(request, 'gemini')).toBe('provider_tools');
    expect(foreignAbility(request, 'openai-responses')).toBeNull();
  });

  it("bring another vendor's thought back to it, with the model that made it, while its text is the same", () => {
    const block = { text: 'hm', signature: 'S', redacted: null, dialect: 'anthropic-messages' };
    const encrypted = encodeCarrier(block, 'claude-x');
    const read = (summary: string) =>
      messagesOf({
        type: 'reasoning',
        id: 'rs_tg_1_0',
        summary: [{ type: 'summary_text', text: summary }],
        encrypted_content: encrypted,
      })[0]?.content[0];
    expect(read('hm')).toEqual({ type: 'reasoning', ...block, model: 'claude-x' });
    expect(read('changed')).toMatchObject({ signature: null, dialect: 'anthropic-messages' });
  });

  it('a broken mark is a thought that nobody signed', () => {
    for (const broken of ['tgr_', 'tgr_!!', `tgr_${Buffer.from('[1]').toString('base64url')}`]) {
      const [message] = messagesOf({ type: 'reasoning', summary: [], encrypted_content: broken });
      expect(message?.content[0]).toMatchObject({ signature: null, redacted: null });
    }
  });
});

describe('tools and the choice among them', () => {
  const tool = (rest: object) => ({ type: 'function', name: 'f', ...rest });
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  const open = { type: 'object', properties: { a: { type: 'string' } } };

  it.each([
    ['as it says', { parameters: open, strict: true }, true],
    ['as it says', { parameters: closed, strict: false }, false],
    ['where it says nothing and its schema fits', { parameters: closed }, true],
    ['not where its schema does not fit', { parameters: open }, null],
    ['not without a schema', { parameters: null }, null],
  ])('a function is strict %s: %j', (_when, rest, strict) => {
    expect(requestOf({ tools: [tool(rest)] }).tools).toMatchObject([{ name: 'f', strict }]);
  });

  it('others are kept as they are', () => {
    const tools = [{ type: 'web_search' }, { type: 'custom', name: 'c' }, tool({})];
    const request = requestOf({ tools });
    expect(request.tools).toHaveLength(1);
    expect(request.providerTools.map(({ kind }) => kind)).toEqual(['web_search', 'custom']);
  });

  it.each([
    ['auto', { mode: 'auto' }],
    ['none', { mode: 'none' }],
    ['required', { mode: 'required' }],
    [
      { type: 'function', name: 'f' },
      { mode: 'tool', name: 'f' },
    ],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
      { mode: 'subset', required: true, names: ['f'] },
    ],
    [{ type: 'web_search' }, null],
    [null, null],
  ])('the choice %j', (tool_choice, read) => {
    expect(requestOf({ tool_choice }).toolChoice).toEqual(read);
  });
});

describe('what an account keeps', () => {
  it.each([
    [{}, false, false],
    [{ store: false }, false, false],
    [{ store: true }, true, true],
    [{ background: true }, true, true],
    [{ previous_response_id: 'resp_1' }, true, true],
    [{ previous_response_id: 'resp_1', store: false }, true, false],
    [{ conversation: 'conv_1' }, true, true],
    [{ conversation: { id: 'conv_1' } }, true, true],
  ])('%j: bound %s, kept %s', (body, isBound, isKept) => {
    const request = requestOf(body);
    expect(request.accountState).toMatchObject({ isBound, isKept });
    expect(foreignAbility(request, 'gemini')).toBe(isBound ? 'stored_responses' : null);
  });

  it('is told by the ids of the items that are brought or referred to, but for those made here', () => {
    const request = requestOf({
      store: true,
      input: [
        { type: 'item_reference', id: 'msg_1' },
        { id: 'rs_2' },
        { type: 'reasoning', id: 'rs_3', summary: [] },
        { type: 'reasoning', id: 'rs_tg_9_0', summary: [] },
      ],
    });
    expect(request.accountState?.itemIds).toEqual(['msg_1', 'rs_2', 'rs_3']);
  });

  it('is told by the ids of thoughts alone where nothing is kept, and of so many at most', () => {
    const thoughts = Array.from({ length: 5000 }, (_, at) => {
      return { type: 'reasoning', id: `rs_${at}`, summary: [] };
    });
    const said = { type: 'message', id: 'msg_1', role: 'assistant', content: 'x' };
    const few = requestOf({ input: [said, ...thoughts.slice(0, 2)] });
    expect(few.accountState?.itemIds).toEqual(['rs_0', 'rs_1']);
    expect(requestOf({ input: thoughts }).accountState?.itemIds).toHaveLength(4096);
  });

  it('a reference to a thought may be left out and is named; to anything else the item itself is wanted', () => {
    const reference = (id: string, body: object = {}) =>
      decode({
        ...body,
        input: [
          { type: 'item_reference', id },
          { role: 'user', content: 'x' },
        ],
      });
    expect(reference('rs_1')).toMatchObject({
      value: { request: { otherFields: ['item_reference'] } },
    });
    expect(reference('msg_1')).toMatchObject({
      fault: { param: 'input[0]', message: expect.stringContaining('set store: true') },
    });
    expect(reference('msg_1', { store: true }).ok).toBe(true);
    expect(reference('msg_tg_1_0', { store: true })).toMatchObject({
      fault: { param: 'input[0]', message: expect.stringContaining('send the item itself') },
    });
  });
});

describe('a fault', () => {
  const user1 = { role: 'user', content: 'x' };
  it.each([
    ['no JSON', '{', null],
    ['no input', { input: null }, 'input'],
    ['no items', { input: [] }, 'input'],
    ['an input of another type', { input: 7 }, 'input'],
    ['an item that is none', { input: [7] }, 'input[0]'],
    ['a role of another dialect', { input: [{ role: 'tool', content: 'x' }] }, 'input[0].role'],
    ['content of another type', { input: [{ role: 'user', content: 7 }] }, 'input[0].content'],
    [
      'a part without text',
      { input: [{ role: 'user', content: [{ type: 'input_text' }] }] },
      'input[0].content[0].text',
    ],
    [
      'an image without a link',
      { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
      'input[0].content[0].image_url',
    ],
    [
      'a file without bytes',
      { input: [{ role: 'user', content: [{ type: 'input_file' }] }] },
      'input[0].content[0]',
    ],
    [
      'an image in a system message',
      { input: [{ role: 'system', content: [{ type: 'input_image', image_url: 'x' }] }] },
      'input[0].content[0]',
    ],
    [
      'a call without an id',
      { input: [{ type: 'function_call', name: 'f', arguments: '' }] },
      'input[0].call_id',
    ],
    [
      'arguments that are an object',
      { input: [{ ...call('a'), arguments: {} }] },
      'input[0].arguments',
    ],
    ['a call without a result', { input: [call('a'), call('b'), output('b')] }, 'input[0]'],
    [
      'a result without a call id',
      { input: [{ type: 'function_call_output', output: 'x' }] },
      'input[0].call_id',
    ],
    ['a reference to nothing', { input: [{ type: 'item_reference' }] }, 'input[0].id'],
    ['a tool without a name', { tools: [{ type: 'function' }] }, 'tools[0].name'],
    ['a tool of no type', { tools: [{ name: 'f' }] }, 'tools[0].type'],
    ['a choice that is a number', { tool_choice: 7 }, 'tool_choice'],
    ['a format that is a number', { text: { format: { type: 7 } } }, 'text.format.type'],
    [
      'a schema that is none',
      { text: { format: { type: 'json_schema', name: 'n' } } },
      'text.format.schema',
    ],
    ['a limit in words', { max_output_tokens: 'many' }, 'max_output_tokens'],
    ['an effort that is a number', { reasoning: { effort: 5 } }, 'reasoning.effort'],
    ['a store that is a word', { store: 'yes' }, 'store'],
    ['a conversation without an id', { conversation: {} }, 'conversation'],
    ['where to connect', { base_url: 'https://x.test' }, 'base_url'],
  ])('%s', (_name, body, param) => {
    const given = typeof body === 'string' ? body : { input: [user1], ...body };
    const decoded = decode(given);
    expect(decoded).toMatchObject({ ok: false, fault: { param } });
  });

  it('is none where what is kept holds the other half', () => {
    const previous = { previous_response_id: 'resp_1' };
    expect(decode({ ...previous, input: [output('a')] }).ok).toBe(true);
    expect(decode(previous).ok).toBe(true);
    expect(decode({ prompt: { id: 'pmpt_1' } }).ok).toBe(true);
  });
});
