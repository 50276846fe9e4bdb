/** What the simulated OpenAI refuses, and how. */
import { describe, expect, it } from 'vitest';
import { openaiVendor } from '../../../src/simulator/vendors/openai/openai-vendor.ts';
import type { AuthRule, RequestHead } from '../../../src/simulator/vendors/vendor.ts';

const authorize = (head: RequestHead, rule: AuthRule) =>
  openaiVendor.authorize(head, rule, { body: Buffer.alloc(0), nowMs: 0 });

const head: RequestHead = {
  method: 'POST',
  path: '/v1/chat/completions',
  query: new URLSearchParams(),
  headers: {},
};
const route = { operation: 'generate', model: null, isStream: null, isArray: false } as const;
const user = { role: 'user', content: 'hi' };

function complaint(body: object) {
  const fault = openaiVendor.validate({ model: 'gpt-4o', messages: [user], ...body }, route, head);
  return fault === null ? null : [fault.status, fault.code, fault.param, fault.message];
}

const call = (id: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
});
const asks = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => call(id)),
});
const answers = (id: string) => ({ role: 'tool', tool_call_id: id, content: '1' });
const tool = {
  type: 'function',
  function: { name: 'f', parameters: { type: 'object', properties: {} } },
};
const image = (url: string) => ({
  role: 'user',
  content: [{ type: 'image_url', image_url: { url } }],
});

describe('openai takes', () => {
  it.each<readonly [string, object]>([
    ['a plain request', {}],
    [
      'every role',
      {
        messages: [
          { role: 'system', content: 's' },
          { role: 'developer', content: [{ type: 'text', text: 'd' }] },
          user,
          { role: 'assistant', content: 'a' },
          user,
        ],
      },
    ],
    [
      'a tool round trip, results in any order',
      { messages: [user, asks('a', 'b'), answers('b'), answers('a'), user], tools: [tool] },
    ],
    [
      'images by link and as data',
      { messages: [image('https://example.com/a.png'), image('data:image/png;base64,AAAA')] },
    ],
    ['a stream with usage', { stream: true, stream_options: { include_usage: true } }],
    [
      'a named tool',
      {
        tools: [tool],
        tool_choice: { type: 'function', function: { name: 'f' } },
        parallel_tool_calls: false,
      },
    ],
    [
      'a strict schema',
      {
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'x',
            strict: true,
            schema: {
              type: 'object',
              properties: { a: { type: 'string' } },
              required: ['a'],
              additionalProperties: false,
            },
          },
        },
      },
    ],
    [
      'what it sent itself',
      {
        messages: [user, { role: 'assistant', content: 'a', refusal: null, annotations: [] }, user],
      },
    ],
    ['an id of 40 characters', { messages: [user, asks('x'.repeat(40)), answers('x'.repeat(40))] }],
    [
      'sampling',
      {
        temperature: 2,
        top_p: 0.5,
        seed: 7,
        logit_bias: { 1: 1 },
        stop: ['a', 'b', 'c', 'd'],
        n: 2,
      },
    ],
    [
      'reasoning settings',
      { model: 'gpt-5.1', reasoning_effort: 'high', max_completion_tokens: 10, temperature: 1 },
    ],
  ])('%s', (_, body) => {
    expect(complaint(body)).toBeNull();
  });
});

describe('openai refuses', () => {
  it.each<readonly [string, object, number, string | null, string | null, string]>([
    ['no model', { model: undefined }, 400, null, 'model', 'model parameter'],
    [
      'the model of another vendor',
      { model: 'claude-sonnet-4-5' },
      404,
      'model_not_found',
      null,
      'claude-sonnet-4-5',
    ],
    [
      'a field that it does not know',
      { tiergate: {} },
      400,
      'unknown_parameter',
      'tiergate',
      "'tiergate'",
    ],
    [
      'a field of another vendor',
      { stop_sequences: ['a'] },
      400,
      'unknown_parameter',
      'stop_sequences',
      'Unknown',
    ],
    ['no messages', { messages: [] }, 400, 'empty_array', 'messages', 'empty array'],
    ['messages that are no list', { messages: 'hi' }, 400, 'invalid_type', 'messages', 'array'],
    [
      'an unknown role',
      { messages: [{ role: 'model', content: 'x' }] },
      400,
      'invalid_value',
      'messages[0].role',
      "'model'",
    ],
    [
      'an unknown field of a message',
      { messages: [user, { role: 'assistant', content: 'a', reasoning_content: 'SECRET' }] },
      400,
      'unknown_parameter',
      'messages[1].reasoning_content',
      'Unknown',
    ],
    [
      'a message without content',
      { messages: [{ role: 'user', content: null }] },
      400,
      null,
      'messages[0].content',
      'null',
    ],
    [
      'an empty list of parts',
      { messages: [{ role: 'user', content: [] }] },
      400,
      'empty_array',
      'messages[0].content',
      'empty',
    ],
    [
      'a part of another vendor',
      { messages: [{ role: 'user', content: [{ type: 'image', source: {} }] }] },
      400,
      'invalid_value',
      'messages[0].content[0].type',
      "'image'",
    ],
    [
      'an image in a tool result',
      {
        messages: [
          user,
          asks('a'),
          {
            role: 'tool',
            tool_call_id: 'a',
            content: [{ type: 'image_url', image_url: { url: 'https://x.y/z' } }],
          },
        ],
      },
      400,
      'invalid_value',
      'messages[2].content[0].type',
      'text',
    ],
    [
      'an image that is none',
      { messages: [image('data:image/png;base64,???')] },
      400,
      'invalid_image_url',
      'messages[0].content[0].image_url.url',
      'valid',
    ],
    [
      'an image from a file',
      { messages: [image('file:///etc/passwd')] },
      400,
      'invalid_image_url',
      'messages[0].content[0].image_url.url',
      'valid',
    ],
    [
      'a call without its result',
      { messages: [user, asks('a', 'b'), answers('a')] },
      400,
      null,
      'messages[3].role',
      ': b',
    ],
    [
      'a user turn before the result',
      { messages: [user, asks('a'), user, answers('a')] },
      400,
      null,
      'messages[2].role',
      ': a',
    ],
    [
      'a result without its call',
      { messages: [user, answers('a')] },
      400,
      null,
      'messages[1].role',
      "role 'tool'",
    ],
    [
      'a result given twice',
      { messages: [user, asks('a'), answers('a'), answers('a')] },
      400,
      null,
      'messages[3].role',
      "role 'tool'",
    ],
    [
      'an id that is too long',
      { messages: [user, asks('x'.repeat(41)), answers('x'.repeat(41))] },
      400,
      'string_above_max_length',
      'messages[1].tool_calls[0].id',
      'maximum length 40',
    ],
    [
      'arguments that are no text',
      {
        messages: [
          user,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: {} } }],
          },
          answers('a'),
        ],
      },
      400,
      'missing_required_parameter',
      'messages[1].tool_calls[0].function',
      'Missing',
    ],
    [
      'an empty list of calls',
      { messages: [user, { role: 'assistant', content: 'a', tool_calls: [] }] },
      400,
      'empty_array',
      'messages[1].tool_calls',
      'empty',
    ],
    ['too much heat', { temperature: 2.5 }, 400, 'decimal_above_max_value', 'temperature', '2.5'],
    [
      'no tokens at all',
      { max_completion_tokens: 0 },
      400,
      'integer_below_min_value',
      'max_completion_tokens',
      '0',
    ],
    ['half a token', { max_tokens: 1.5 }, 400, 'invalid_type', 'max_tokens', 'integer'],
    [
      'both limits',
      { max_tokens: 5, max_completion_tokens: 5 },
      400,
      'invalid_parameter_combination',
      'max_tokens',
      'same time',
    ],
    [
      'the old limit for a reasoning model',
      { model: 'gpt-5.1', max_tokens: 5 },
      400,
      'unsupported_parameter',
      'max_tokens',
      'max_completion_tokens',
    ],
    [
      'heat for a reasoning model',
      { model: 'o3', temperature: 0.2 },
      400,
      'unsupported_value',
      'temperature',
      '0.2',
    ],
    [
      'stops for a reasoning model',
      { model: 'gpt-5-mini', stop: ['a'] },
      400,
      'unsupported_parameter',
      'stop',
      'not supported',
    ],
    ['five stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, 400, 'array_above_max_length', 'stop', '4'],
    [
      'alternatives without logprobs',
      { top_logprobs: 2 },
      400,
      null,
      'top_logprobs',
      'only allowed',
    ],
    [
      'stream options without a stream',
      { stream_options: {} },
      400,
      null,
      'stream_options',
      'stream',
    ],
    ['an empty list of tools', { tools: [] }, 400, 'empty_array', 'tools', 'empty'],
    [
      'too many tools',
      { tools: Array.from({ length: 129 }, () => tool) },
      400,
      'array_above_max_length',
      'tools',
      '128',
    ],
    [
      'a tool in the form of another vendor',
      { tools: [{ name: 'f', input_schema: {} }] },
      400,
      'invalid_value',
      'tools[0].type',
      'function',
    ],
    [
      'a bad tool name',
      { tools: [{ type: 'function', function: { name: 'a.b' } }] },
      400,
      'invalid_value',
      'tools[0].function.name',
      'pattern',
    ],
    [
      'a schema that is no object',
      { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] },
      400,
      'invalid_function_parameters',
      'tools[0].function.parameters',
      'object',
    ],
    [
      'an open schema in strict mode',
      {
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              strict: true,
              parameters: { type: 'object', properties: { a: { type: 'object' } } },
            },
          },
        ],
      },
      400,
      'invalid_function_parameters',
      'tools[0].function.parameters',
      'additionalProperties',
    ],
    [
      'an optional property in strict mode',
      {
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'x',
            strict: true,
            schema: { type: 'object', properties: { a: {} }, additionalProperties: false },
          },
        },
      },
      400,
      'invalid_json_schema',
      'response_format',
      "Missing 'a'",
    ],
    ['a choice without tools', { tool_choice: 'auto' }, 400, null, 'tool_choice', 'only allowed'],
    [
      'a choice that is not offered',
      { tools: [tool], tool_choice: { type: 'function', function: { name: 'g' } } },
      400,
      null,
      'tool_choice',
      'not found',
    ],
    [
      'JSON that nobody spoke of',
      { response_format: { type: 'json_object' } },
      400,
      null,
      'messages',
      "'json'",
    ],
    [
      'a schema without a name',
      { response_format: { type: 'json_schema', json_schema: { schema: {} } } },
      400,
      'missing_required_parameter',
      'response_format.json_schema.name',
      'Missing',
    ],
  ])('%s', (_, body, status, code, param, words) => {
    expect(complaint(body)).toEqual([status, code, param, expect.stringContaining(words)]);
  });

  it('a schema that nests without end, quickly', () => {
    let schema: object = { type: 'object' };
    for (let depth = 0; depth < 5_000; depth += 1)
      schema = { type: 'object', properties: { a: schema } };
    expect(
      complaint({ tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] }),
    ).not.toBeNull();
  });

  it('no key and a wrong key', () => {
    expect(authorize(head, 'any')).toMatchObject({ status: 401 });
    expect(authorize(head, 'open')).toBeNull();
    const withKey = { ...head, headers: { authorization: 'Bearer a' } };
    expect(authorize(withKey, 'any')).toBeNull();
    expect(authorize(withKey, ['b'])).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
  });
});
