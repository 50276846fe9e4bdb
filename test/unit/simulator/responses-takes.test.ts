/** What the simulated Responses API takes. */
import { describe, expect, it } from 'vitest';
import { openaiVendor } from '../../../src/simulator/vendors/openai/openai-vendor.ts';
import { wireOf } from '../../../src/simulator/vendors/vendor.ts';
import {
  call,
  closed,
  complaint,
  image,
  output,
  responsesHead,
  said,
  thought,
  tool,
  user,
  wire,
} from '../../support/responses-requests.ts';

it('the two endpoints of the vendor are two wires at one address', () => {
  expect(wire).not.toBe(openaiVendor);
  expect(wireOf(openaiVendor, { ...responsesHead, path: '/v1/chat/completions' })).toBe(
    openaiVendor,
  );
  expect(wireOf(openaiVendor, { ...responsesHead, path: '/v1/models' })).toBe(openaiVendor);
  expect(wire.route({ ...responsesHead, method: 'GET' })).toBeNull();
});

describe('it takes', () => {
  it.each<readonly [string, object]>([
    ['a plain text', { input: 'hi' }],
    [
      'every role, with and without a type',
      {
        input: [
          { role: 'system', content: 's' },
          { role: 'developer', content: [{ type: 'input_text', text: 'd' }] },
          { type: 'message', ...user },
          said({ type: 'message', content: [{ type: 'output_text', text: 'a' }] }),
          said({ content: [{ type: 'refusal', refusal: 'no' }] }),
          user,
        ],
      },
    ],
    [
      'calls whose outputs come in any order, as text or parts',
      {
        input: [
          user,
          call('a'),
          call('b'),
          output('b', [{ type: 'input_text', text: 'x' }]),
          output('a'),
        ],
      },
    ],
    [
      'free-text calls',
      {
        input: [
          user,
          { type: 'custom_tool_call', call_id: 'c', name: 'sql', input: 'SELECT 1' },
          { type: 'custom_tool_call_output', call_id: 'c', output: '1' },
        ],
      },
    ],
    ['reasoning before what it led to', { input: [user, thought(), call('a'), output('a')] }],
    [
      'reasoning with its id before an item with its own',
      { input: [user, thought({ id: 'rs_1' }), said({ id: 'msg_1' }), user] },
    ],
    [
      'images by link and as data',
      { input: [image('https://x.test/a.png'), image('data:image/png;base64,AAAA')] },
    ],
    [
      'a PDF',
      {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_file', filename: 'a', file_data: 'data:application/pdf;base64,AA==' },
            ],
          },
        ],
      },
    ],
    [
      'items of tools that the provider runs',
      { input: [user, { type: 'web_search_call', id: 'ws_1' }] },
    ],
    ['tools without a word on strictness', { tools: [tool(), { type: 'web_search' }] }],
    ['a strict tool', { tools: [tool({ strict: true, parameters: closed })] }],
    ['a choice of one tool', { tools: [tool()], tool_choice: { type: 'function', name: 'f' } }],
    [
      'a choice of some',
      {
        tools: [tool()],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'function', name: 'f' }],
        },
      },
    ],
    [
      'a schema',
      { text: { format: { type: 'json_schema', name: 'n', schema: closed, strict: true } } },
    ],
    [
      'JSON that is spoken of',
      { input: 'json, please', text: { format: { type: 'json_object' } } },
    ],
    ['an effort', { model: 'gpt-5', reasoning: { effort: 'low', summary: 'auto' } }],
    ['sealed reasoning', { model: 'gpt-5', include: ['reasoning.encrypted_content'] }],
    ['a stream', { stream: true, stream_options: { include_obfuscation: false } }],
  ])('%s', (_name, body) => expect(complaint(body)).toBeNull());
});
