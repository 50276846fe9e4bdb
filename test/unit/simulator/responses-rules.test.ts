/** What the simulated Responses API refuses, and how. */
import { describe, expect, it } from 'vitest';
import {
  call,
  closed,
  complaint,
  image,
  output,
  said,
  thought,
  tool,
  user,
  wire,
} from '../../support/responses-requests.ts';

describe('it refuses', () => {
  it.each<readonly [string, object, string | null, string | null, string]>([
    ['no model', { model: undefined }, null, 'model', 'model parameter'],
    ['an unknown model, with a 400', { model: 'claude-x' }, 'model_not_found', 'model', 'claude-x'],
    ['fields of chat completions', { messages: [] }, 'unknown_parameter', 'messages', 'Unknown'],
    ['stop sequences', { stop: ['a'] }, 'unknown_parameter', 'stop', 'Unknown'],
    ['several answers', { n: 2 }, 'unknown_parameter', 'n', 'Unknown'],
    ['no input', { input: undefined }, 'missing_required_parameter', 'input', 'One of'],
    ['an empty input', { input: [] }, 'missing_required_parameter', 'input', 'One of'],
    ['input that is no list', { input: 7 }, 'invalid_type', 'input', 'expected'],
    ['an item without a type', { input: [{}] }, 'missing_required_parameter', 'input[0].type', ''],
    [
      'an unknown role',
      { input: [{ role: 'tool', content: 'x' }] },
      'invalid_value',
      'input[0].role',
      "'tool'",
    ],
    [
      'an unknown field of an item',
      { input: [{ ...user, name: 'n' }] },
      'unknown_parameter',
      'input[0].name',
      '',
    ],
    [
      "parts of the other side's kind",
      { input: [said({ content: [{ type: 'input_text', text: 'x' }] })] },
      'invalid_value',
      'input[0].content[0].type',
      "'output_text'",
    ],
    [
      'parts of chat completions',
      { input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] },
      'invalid_value',
      'input[0].content[0].type',
      "'text'",
    ],
    [
      'an image that is none',
      { input: [image('data:image/tiff;base64,AA')] },
      'invalid_image_url',
      'input[0].content[0].image_url',
      '',
    ],
    [
      'a file that it does not read',
      {
        input: [
          {
            role: 'user',
            content: [{ type: 'input_file', file_data: 'data:audio/mp3;base64,AA' }],
          },
        ],
      },
      'unsupported_file',
      'input',
      'pdf',
    ],
    [
      'a call without its output',
      { input: [user, call('a')] },
      null,
      'input',
      'No tool output found for function call a.',
    ],
    [
      'an output without its call',
      { input: [user, output('z')] },
      null,
      'input',
      'No tool call found',
    ],
    [
      'an output before its call',
      { input: [output('a'), call('a')] },
      null,
      'input',
      'No tool call found',
    ],
    [
      'two calls with one id',
      { input: [call('a'), output('a'), call('a'), output('a')] },
      null,
      'input[2].call_id',
      'Duplicate',
    ],
    [
      'a long call id',
      { input: [call('x'.repeat(65))] },
      'string_above_max_length',
      'input[0].call_id',
      '65',
    ],
    [
      'a call without a call id',
      { input: [call('')] },
      'missing_required_parameter',
      'input[0].call_id',
      '',
    ],
    [
      'a name that does not fit',
      { input: [call('a', { name: 'a.b' })] },
      'invalid_value',
      'input[0].name',
      'pattern',
    ],
    [
      'arguments as an object',
      { input: [call('a', { arguments: {} })] },
      'missing_required_parameter',
      'input[0].arguments',
      '',
    ],
    [
      'an id of another kind',
      { input: [call('a', { id: 'call_1' }), output('a')] },
      'invalid_value',
      'input[0].id',
      "'fc'",
    ],
    [
      'reasoning without what followed',
      { input: [user, thought({ id: 'rs_1' }), user] },
      null,
      'input',
      'without its required following item',
    ],
    [
      'reasoning at the end',
      { input: [user, thought()] },
      null,
      'input',
      'without its required following item',
    ],
    [
      'reasoning with its id before an item without',
      { input: [user, thought({ id: 'rs_1' }), said(), user] },
      null,
      'input',
      'without its required following item',
    ],
    [
      'reasoning of another maker',
      { input: [user, thought({ encrypted_content: 'x' }), said()] },
      'invalid_encrypted_content',
      null,
      'could not be verified',
    ],
    [
      'reasoning that nobody kept',
      { store: false, input: [thought({ id: 'rs_1', encrypted_content: undefined }), said()] },
      null,
      'input',
      "'rs_1' not found",
    ],
    [
      'a reference to what nobody kept',
      { input: [{ type: 'item_reference', id: 'msg_1' }] },
      null,
      'input',
      "'msg_1' not found",
    ],
    [
      'an answer that nobody kept',
      { previous_response_id: 'resp_1' },
      'previous_response_not_found',
      'previous_response_id',
      '',
    ],
    [
      'a limit below 16',
      { max_output_tokens: 15 },
      'integer_below_min_value',
      'max_output_tokens',
      '>= 16',
    ],
    ['a temperature above 2', { temperature: 3 }, 'decimal_above_max_value', 'temperature', '<= 2'],
    [
      'a temperature where it reasons',
      { model: 'o3', temperature: 1 },
      'unsupported_parameter',
      'temperature',
      'not supported',
    ],
    [
      'an effort where it does not',
      { reasoning: { effort: 'low' } },
      'unsupported_parameter',
      'reasoning.effort',
      'not supported',
    ],
    [
      'an effort that is none',
      { model: 'o3', reasoning: { effort: 'hard' } },
      'invalid_value',
      'reasoning.effort',
      'hard',
    ],
    [
      'sealed reasoning where there is none',
      { include: ['reasoning.encrypted_content'] },
      null,
      'include',
      'not supported',
    ],
    ['what cannot be included', { include: ['all'] }, 'invalid_value', 'include', 'all'],
    [
      'a nested tool',
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      'missing_required_parameter',
      'tools[0].name',
      '',
    ],
    [
      'an unknown kind of tool',
      { tools: [{ type: 'magic' }] },
      'invalid_value',
      'tools[0].type',
      'magic',
    ],
    [
      'a tool without parameters',
      { tools: [tool({ parameters: undefined })] },
      'missing_required_parameter',
      'tools[0].parameters',
      '',
    ],
    [
      'a schema without properties',
      { tools: [tool({ parameters: { type: 'object' } })] },
      'invalid_function_parameters',
      'tools[0].parameters',
      'properties',
    ],
    [
      'an open schema that is strict',
      { tools: [tool({ strict: true })] },
      'invalid_function_parameters',
      'tools[0].parameters',
      'additionalProperties',
    ],
    ['a choice without tools', { tool_choice: 'required' }, null, 'tool_choice', "'tools'"],
    [
      'a choice of a tool that is not there',
      { tools: [tool()], tool_choice: { type: 'function', name: 'g' } },
      null,
      'tool_choice',
      'not found',
    ],
    [
      'JSON that is not spoken of',
      { text: { format: { type: 'json_object' } } },
      null,
      'input',
      "'json'",
    ],
    [
      'a schema without a name',
      { text: { format: { type: 'json_schema', schema: closed } } },
      'missing_required_parameter',
      'text.format.name',
      '',
    ],
    [
      'a nested schema',
      { text: { format: { type: 'json_schema', json_schema: { name: 'n', schema: closed } } } },
      'missing_required_parameter',
      'text.format.name',
      '',
    ],
    ['options of a stream without one', { stream_options: {} }, null, 'stream_options', 'stream'],
    [
      'background work that is not kept',
      { background: true, store: false },
      null,
      'background',
      'store',
    ],
  ])('%s', (_name, body, code, param, words) => {
    const fault = complaint(body);
    expect(fault).toMatchObject({ status: 400, code, param });
    expect(fault?.message).toContain(words);
  });
});

it('a stream that fails says so twice, as the service does, under the next numbers', () => {
  const fault = wire.fault('server_error', { model: 'gpt-5', retryAfterMs: 0 });
  const identity = { id: 'resp_1', requestId: 'r', model: 'gpt-5', createdAtSeconds: 1, eol: '\n' };
  const [error, failed] = wire
    .errorEvent(fault, identity, [
      { frame: 'event: a\ndata: {}\n\nevent: b\ndata: {}\n\n', content: '' },
    ])
    .split('\n\n')
    .map((block) => block.split('\n'));
  expect(error?.[0]).toBe('event: error');
  expect(JSON.parse(error?.[1]?.slice(6) ?? '')).toMatchObject({
    type: 'error',
    sequence_number: 2,
    error: { type: 'server_error', code: 'server_error' },
  });
  expect(failed?.[0]).toBe('event: response.failed');
  expect(JSON.parse(failed?.[1]?.slice(6) ?? '')).toMatchObject({
    sequence_number: 3,
    response: { id: 'resp_1', status: 'failed', error: { code: 'server_error' } },
  });
});
