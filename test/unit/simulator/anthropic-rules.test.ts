/** What the simulated Anthropic refuses, and how. */
import { describe, expect, it } from 'vitest';
import { claudeGeneration } from '../../../src/simulator/vendors/anthropic/anthropic-models.ts';
import { thinkingSignature } from '../../../src/simulator/vendors/anthropic/anthropic-signature.ts';
import { anthropicVendor } from '../../../src/simulator/vendors/anthropic/anthropic-vendor.ts';
import type { AuthRule, RequestHead, Route } from '../../../src/simulator/vendors/vendor.ts';

const authorize = (head: RequestHead, rule: AuthRule) =>
  anthropicVendor.authorize(head, rule, { body: Buffer.alloc(0), nowMs: 0 });

const version = { 'anthropic-version': '2023-06-01' };
const head = (headers: RequestHead['headers'] = version): RequestHead => ({
  method: 'POST',
  path: '/v1/messages',
  query: new URLSearchParams(),
  headers,
});
const generate: Route = { operation: 'generate', model: null, isStream: null, isArray: false };
const user = { role: 'user', content: 'hi' };
const base = { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [user] };

function complaint(body: object, headers?: RequestHead['headers']): string | null {
  const fault = anthropicVendor.validate({ ...base, ...body }, generate, head(headers));
  if (fault !== null) expect(fault).toMatchObject({ status: 400, type: 'invalid_request_error' });
  return fault?.message ?? null;
}

const text = (words: string) => ({ type: 'text', text: words });
const asks = (...ids: string[]) => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
});
const result = (id: string, content: unknown = '1') => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});
const gives = (...blocks: object[]) => ({ role: 'user', content: blocks });
const thinking = (words: string, signature = thinkingSignature(words)) => ({
  type: 'thinking',
  thinking: words,
  signature,
});
const tool = { name: 'f', input_schema: { type: 'object' } };

describe('anthropic takes', () => {
  it.each<readonly [string, object]>([
    ['a plain request', {}],
    [
      'system text and blocks',
      { system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }] },
    ],
    [
      'turns of one role in a row',
      { messages: [user, user, { role: 'assistant', content: 'a' }, user] },
    ],
    [
      'a tool round trip with text after the results',
      {
        messages: [
          user,
          asks('a', 'b'),
          gives(result('b'), result('a', [text('1')]), text('and?')),
        ],
        tools: [tool],
      },
    ],
    [
      'results over two user turns',
      { messages: [user, asks('a', 'b'), gives(result('a')), gives(result('b'))] },
    ],
    [
      'an image',
      {
        messages: [
          gives(
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            text('?'),
          ),
        ],
      },
    ],
    [
      'a result without content',
      { messages: [user, asks('a'), gives({ type: 'tool_result', tool_use_id: 'a' })] },
    ],
    [
      'a prefill of a model that takes one',
      { messages: [user, { role: 'assistant', content: 'The' }] },
    ],
    [
      'its own thinking, and omitted thinking',
      {
        thinking: { type: 'enabled', budget_tokens: 1024 },
        max_tokens: 2000,
        messages: [
          user,
          {
            role: 'assistant',
            content: [thinking('hm'), thinking('', thinkingSignature('x')), ...asks('a').content],
          },
          gives(result('a')),
        ],
      },
    ],
    [
      'a schema',
      {
        output_config: {
          format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } },
        },
      },
    ],
    ['a forced tool', { tools: [tool], tool_choice: { type: 'tool', name: 'f' } }],
    ['one sampling field', { temperature: 0.5 }],
    ['max_tokens 0', { max_tokens: 0 }],
  ])('%s', (_, body) => {
    expect(complaint(body)).toBeNull();
  });
});

describe('anthropic refuses', () => {
  it.each<readonly [string, object, string]>([
    ['no limit', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['a limit beyond the model', { max_tokens: 200_000 }, 'max_tokens: 200000 > 128000'],
    ['half a token', { max_tokens: 1.5 }, 'max_tokens: Input should be a valid integer'],
    ['no model', { model: undefined }, 'model: Field required'],
    ['an unknown field', { tiergate: {} }, 'tiergate: Extra inputs are not permitted'],
    ['fields of another vendor', { stop: ['a'] }, 'stop: Extra inputs are not permitted'],
    ['no messages', { messages: [] }, 'at least one message'],
    [
      'a system turn',
      { messages: [{ role: 'system', content: 's' }, user] },
      'top-level `system` parameter',
    ],
    [
      'a tool turn',
      { messages: [{ role: 'tool', content: 's' }] },
      "messages.0.role: Input should be 'user' or 'assistant'",
    ],
    [
      'an extra field of a turn',
      { messages: [{ ...user, name: 'x' }] },
      'messages.0.name: Extra inputs',
    ],
    [
      'empty text',
      { messages: [gives(text(''), text('hi'))] },
      'text content blocks must be non-empty',
    ],
    ['blank text', { messages: [gives(text(' \n'))] }, 'must contain non-whitespace text'],
    [
      'an empty string',
      { messages: [{ role: 'user', content: '' }] },
      'must have non-empty content',
    ],
    [
      'an empty turn in the middle',
      { messages: [user, { role: 'assistant', content: [] }, user] },
      'messages.1: all messages must have non-empty content',
    ],
    ['empty system text', { system: [text('')] }, 'system: text content blocks must be non-empty'],
    [
      'an unknown block',
      { messages: [gives({ type: 'image_url', image_url: {} })] },
      "Input tag 'image_url'",
    ],
    ['a call in a user turn', { messages: [gives(...asks('a').content)] }, "Input tag 'tool_use'"],
    [
      'an extra field of a block',
      { messages: [gives({ ...text('a'), id: 'x' })] },
      'messages.0.content.0.text.id: Extra inputs',
    ],
    [
      'an image of a wrong type',
      {
        messages: [
          gives({
            type: 'image',
            source: { type: 'base64', media_type: 'image/bmp', data: 'AAAA' },
          }),
        ],
      },
      'media_type: Input should be',
    ],
    [
      'an image that is none',
      {
        messages: [
          gives({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '??' } }),
        ],
      },
      'invalid base64',
    ],
    [
      'a bad tool id',
      { messages: [user, asks('functions.Bash:0'), gives(result('functions.Bash:0'))] },
      "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    [
      'input as text',
      {
        messages: [
          user,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: '{}' }] },
          gives(result('a')),
        ],
      },
      'tool_use.input: Input should be a valid dictionary',
    ],
    [
      'a call without its result',
      { messages: [user, asks('a', 'b'), gives(result('a'))] },
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b',
    ],
    ['a call at the end', { messages: [user, asks('a')] }, 'immediately after: a'],
    [
      'text before the results',
      { messages: [user, asks('a'), gives(text('so'), result('a'))] },
      'immediately after: a',
    ],
    [
      'a result without its call',
      { messages: [gives(result('a'))] },
      'unexpected `tool_use_id` found in `tool_result` blocks: a',
    ],
    [
      'a late result',
      {
        messages: [
          user,
          asks('a'),
          gives(result('a')),
          { role: 'assistant', content: 'x' },
          gives(result('a')),
        ],
      },
      'messages.4.content.0: unexpected',
    ],
    [
      'two results',
      { messages: [user, asks('a'), gives(result('a'), result('a'))] },
      'single result',
    ],
    [
      'an id used twice',
      { messages: [user, asks('a'), gives(result('a')), asks('a'), gives(result('a'))] },
      'ids must be unique',
    ],
    [
      'a blank tool result',
      { messages: [user, asks('a'), gives(result('a', [text('')]))] },
      'non-empty',
    ],
    [
      'a prefill that ends blank',
      { messages: [user, { role: 'assistant', content: 'The ' }] },
      'trailing whitespace',
    ],
    [
      'a prefill of a newer model',
      { model: 'claude-opus-4-6', messages: [user, { role: 'assistant', content: 'The' }] },
      'assistant message prefill',
    ],
    [
      'an assistant first, on old models',
      { model: 'claude-3-7-sonnet-latest', messages: [{ role: 'assistant', content: 'a' }, user] },
      'first message must use the "user" role',
    ],
    [
      'foreign thinking',
      { messages: [user, { role: 'assistant', content: [thinking('t', 'S-A'), text('a')] }, user] },
      'Invalid `signature` in `thinking` block',
    ],
    [
      'changed thinking',
      {
        messages: [
          user,
          { role: 'assistant', content: [thinking('t', thinkingSignature('other')), text('a')] },
          user,
        ],
      },
      'Invalid `signature`',
    ],
    [
      'a tool loop without its thinking',
      {
        thinking: { type: 'enabled', budget_tokens: 1024 },
        max_tokens: 2000,
        messages: [user, asks('a'), gives(result('a'))],
      },
      'Expected `thinking` or `redacted_thinking`, but found `tool_use`',
    ],
    [
      'a small thinking budget',
      { thinking: { type: 'enabled', budget_tokens: 10 }, max_tokens: 2000 },
      'greater than or equal to 1024',
    ],
    [
      'a thinking budget beyond the limit',
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
      '`max_tokens` must be greater',
    ],
    ['both sampling fields', { temperature: 0.5, top_p: 0.5 }, 'cannot both be specified'],
    ['heat above 1', { temperature: 1.7 }, 'temperature: range: 0..1'],
    [
      'sampling of a newer model',
      { model: 'claude-opus-5', temperature: 0.5 },
      '`temperature` is not supported',
    ],
    ['blank stops', { stop_sequences: ['\n'] }, 'must contain non-whitespace'],
    [
      'tools of another vendor',
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      "tools.0: Input tag 'function' found",
    ],
    [
      'a tool without a schema',
      { tools: [{ name: 'f' }] },
      'tools.0.custom.input_schema: Field required',
    ],
    [
      'a schema without its type',
      { tools: [{ name: 'f', input_schema: {} }] },
      'input_schema.type: Field required',
    ],
    [
      'a bad tool name',
      { tools: [{ ...tool, name: 'a.b' }] },
      'tools.0.custom.name: String should match',
    ],
    ['a tool twice', { tools: [tool, tool] }, 'must be unique'],
    ['a choice without tools', { tool_choice: { type: 'auto' } }, 'while providing tools'],
    ['a choice in another form', { tools: [tool], tool_choice: 'auto' }, 'tool_choice'],
    [
      'a choice that is not offered',
      { tools: [tool], tool_choice: { type: 'tool', name: 'g' } },
      "Tool 'g' not found",
    ],
    [
      'an open schema',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      'additionalProperties',
    ],
  ])('%s', (_, body, words) => {
    expect(complaint(body)).toContain(words);
  });

  it('a missing and an unknown version', () => {
    expect(complaint({}, {})).toBe('anthropic-version: header is required');
    expect(complaint({}, { 'anthropic-version': '2099-01-01' })).toContain('not a valid version');
    const newest = { 'anthropic-version': '2026-10-21' };
    expect(complaint({}, newest)).toBeNull();
    expect(complaint({ temperature: 1 }, newest)).toContain('temperature: Extra inputs');
  });

  it('the model of another vendor as unknown', () => {
    const fault = anthropicVendor.validate({ ...base, model: 'gpt-4o' }, generate, head());
    expect(fault).toMatchObject({ status: 404, type: 'not_found_error', message: 'model: gpt-4o' });
  });

  it('nothing of a count without a limit', () => {
    const count: Route = { operation: 'count', model: null };
    const { max_tokens: _, ...body } = base;
    expect(anthropicVendor.validate(body, count, head())).toBeNull();
  });

  it('no key, and takes one in either header', () => {
    expect(authorize(head(), 'any')).toMatchObject({
      status: 401,
      type: 'authentication_error',
    });
    expect(authorize(head({ 'x-api-key': 'a' }), 'any')).toBeNull();
    expect(authorize(head({ authorization: 'Bearer a' }), ['a'])).toBeNull();
    expect(authorize(head({ 'x-api-key': 'b' }), ['a'])).toMatchObject({
      message: 'invalid x-api-key',
    });
  });
});

it.each([
  ['claude-sonnet-4-5', 4.5],
  ['claude-sonnet-4-5-20250929', 4.5],
  ['claude-opus-4-6', 4.6],
  ['claude-sonnet-4-20250514', 4],
  ['claude-opus-5', 5],
  ['claude-3-7-sonnet-latest', 3.7],
  ['claude-3-opus-20240229', 3],
  ['m', null],
])('the generation of %s is %j', (model, generation) => {
  expect(claudeGeneration(model)).toBe(generation);
});
