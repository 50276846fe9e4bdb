import { describe, expect, it } from 'vitest';
import { anthropicMessagesUpstream as dialect } from '../../../../src/dialects/anthropic-messages/upstream.ts';
import type { UpstreamCall } from '../../../../src/dialects/dialect.ts';
import {
  callOf,
  calls,
  faultOf,
  type Json,
  result,
  sent,
  tool,
  toolCall,
  user,
} from '../upstream-calls.ts';

const hi = { messages: [user('hi')] };

function send(body: Json, overrides: Partial<UpstreamCall> = {}) {
  return sent(dialect, callOf({ ...hi, ...body }, overrides));
}

describe('the body', () => {
  it('names the model of the target, never the tier', () => {
    expect(send({}).body).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 8192,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    });
    expect(send({ stream: true }).body['stream']).toBe(true);
  });

  it('holds the variant around the leading system blocks', () => {
    const messages = [
      { role: 'system', content: 'mine' },
      { role: 'developer', content: 'too' },
      user('hi'),
    ];
    const { body } = send({ messages }, { system: { before: 'first', after: 'last' } });
    expect(body['system']).toEqual(
      ['first', 'mine', 'too', 'last'].map((text) => ({ type: 'text', text })),
    );
    expect(send({}, { system: { before: '', after: ' ' } }).body['system']).toBeUndefined();
  });

  it('holds the fields of the target above what was translated', () => {
    const extraFields = {
      metadata: { user_id: 'ours' },
      output_config: { effort: 'low' },
      inference_geo: 'eu',
    };
    const { body } = send(
      {
        user: 'theirs',
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema: { type: 'object', properties: { a: {} } } },
        },
      },
      { extraFields },
    );
    expect(body).toMatchObject({
      ...extraFields,
      output_config: { effort: 'low', format: { type: 'json_schema' } },
    });
  });

  it('is the same for the same request', () => {
    const body = { ...hi, tools: [tool('f', { type: 'object' }), tool('g')], seed: 1, stop: ['a'] };
    expect(send(body).text).toBe(send(body).text);
  });
});

describe('limits', () => {
  it('TR-08 take the model’s ceiling where the client gave none, never a tiny one', () => {
    expect(send({}, { maxOutputTokens: 64_000 }).body['max_tokens']).toBe(64_000);
    expect(send({}).body['max_tokens']).toBe(8192);
  });

  it('TR-08 are cut to the model’s ceiling, and say so', () => {
    const { body, dropped } = send({ max_tokens: 100_000 }, { maxOutputTokens: 64_000 });
    expect(body['max_tokens']).toBe(64_000);
    expect(dropped).toContain('max_tokens');
  });

  it('TR-09 come under either name; of two the smaller holds', () => {
    expect(send({ max_completion_tokens: 77 }).body['max_tokens']).toBe(77);
    expect(send({ max_completion_tokens: 77, max_tokens: 50 }).body['max_tokens']).toBe(50);
  });
});

describe('sampling', () => {
  it('FO-04 goes on as far as the dialect knows it, the rest is named', () => {
    const { body, dropped } = send({
      reasoning_effort: 'none',
      logit_bias: { 1: 1 },
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: 1,
      verbosity: 'low',
      temperature: 1.7,
      stop: ['a', 'b', ''],
      user: 'u1',
      service_tier: 'flex',
    });
    expect(body).toMatchObject({
      temperature: 1,
      stop_sequences: ['a', 'b'],
      metadata: { user_id: 'u1' },
    });
    expect([...dropped].sort()).toEqual(
      [
        'frequency_penalty',
        'logit_bias',
        'presence_penalty',
        'seed',
        'service_tier',
        'stop',
        'temperature',
        'verbosity',
      ].sort(),
    );
    expect(Object.keys(body).sort()).toEqual(
      ['max_tokens', 'messages', 'metadata', 'model', 'stop_sequences', 'temperature'].sort(),
    );
  });

  it('keeps one of temperature and top_p', () => {
    const { body, dropped } = send({ temperature: 0.5, top_p: 0.9 });
    expect(body['temperature']).toBe(0.5);
    expect(body['top_p']).toBeUndefined();
    expect(dropped).toEqual(['top_p']);
    expect(send({ top_p: 0.9 }).body['top_p']).toBe(0.9);
  });

  it.each([
    ['a newer model', { model: 'claude-opus-4-7' }],
    ['a model of the next number', { model: 'claude-sonnet-5' }],
    ['a target that says so', { isReasoningModel: true }],
  ])('is left out and named for %s', (_case, overrides) => {
    const { body, dropped } = send({ temperature: 0, top_p: 0.9 }, overrides);
    expect(body['temperature']).toBeUndefined();
    expect(dropped).toEqual(['temperature', 'top_p']);
  });

  it('maps the service tier where it means the same', () => {
    expect(send({ service_tier: 'auto' }).body['service_tier']).toBe('auto');
    expect(send({ service_tier: 'default' }).body['service_tier']).toBe('standard_only');
  });
});

describe('reasoning effort', () => {
  it('is a budget for older models, and raises the limit that the client meant for the answer', () => {
    const { body, dropped } = send({
      reasoning_effort: 'medium',
      max_tokens: 1000,
      temperature: 0.2,
    });
    expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: 8192 });
    expect(body['max_tokens']).toBe(9192);
    expect(body['temperature']).toBeUndefined();
    expect([...dropped].sort()).toEqual(['max_tokens', 'temperature']);
  });

  it.each([
    ['minimal', 1024],
    ['low', 4096],
    ['high', 16_384],
    ['max', 32_000],
  ])('%s is %i tokens', (effort, budget) => {
    const { at } = send({ reasoning_effort: effort }, { maxOutputTokens: 128_000 });
    expect(at('thinking.budget_tokens')).toBe(budget);
    expect(at('max_tokens')).toBe(128_000);
  });

  it('leaves room for the answer under the ceiling, or is left out', () => {
    const small = send({ reasoning_effort: 'max', max_tokens: 6000 }, { maxOutputTokens: 8000 });
    expect(small.at('max_tokens')).toBe(8000);
    expect(small.at('thinking.budget_tokens')).toBe(4000);
    const tiny = send({ reasoning_effort: 'max' }, { maxOutputTokens: 1500 });
    expect(tiny.at('thinking')).toBeUndefined();
    expect(tiny.dropped).toEqual(['reasoning_effort']);
  });

  it('is an effort for models that decide themselves', () => {
    const { body } = send({ reasoning_effort: 'medium' }, { model: 'claude-opus-4-6' });
    expect(body).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'medium' },
    });
    expect(send({ reasoning_effort: 'minimal' }, { model: 'claude-opus-5' }).body).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    });
    expect(send({ reasoning_effort: 'none' }, { model: 'claude-opus-5' }).at('thinking')).toEqual({
      type: 'disabled',
    });
    const beyond = send({ reasoning_effort: 'xhigh' }, { model: 'claude-opus-4-6' });
    expect(beyond.at('output_config.effort')).toBe('high');
    expect(beyond.dropped).toEqual(['reasoning_effort']);
  });

  it.each([
    ['the model cannot think', {}, 'claude-3-5-haiku-20241022'],
    ['a tool must be called', { tools: [tool('f')], tool_choice: 'required' }, 'claude-opus-4-5'],
    ['the word is unknown', { reasoning_effort: 'vast' }, 'claude-opus-4-5'],
    [
      'the thoughts of a tool loop are lost',
      { messages: [user('q'), calls(toolCall('a', 'f', '{}')), result('a', '1')] },
      'claude-opus-4-5',
    ],
    [
      'the answer is begun',
      { messages: [user('q'), { role: 'assistant', content: 'So' }] },
      'claude-opus-4-5',
    ],
  ])('is left out and named when %s', (_case, body, model) => {
    const { at, dropped } = send({ reasoning_effort: 'high', ...body }, { model });
    expect(at('thinking')).toBeUndefined();
    expect(dropped).toContain('reasoning_effort');
  });

  it('gives way to the thinking that the target sets', () => {
    const thinking = { type: 'enabled', budget_tokens: 2000 };
    const { body, dropped } = send(
      { reasoning_effort: 'high', temperature: 0.3 },
      { extraFields: { thinking } },
    );
    expect(body['thinking']).toEqual(thinking);
    expect(dropped).toContain('temperature');
  });
});

describe('thinking that the target sets', () => {
  const thinking = { type: 'enabled', budget_tokens: 2000 };
  const loop = [user('q'), calls(toolCall('a', 'f', '{}')), result('a', '1')];

  it('finds room beside the client’s limit', () => {
    const { at } = send({ max_tokens: 100 }, { extraFields: { thinking } });
    expect(at('max_tokens')).toBe(2100);
    const capped = send({ max_tokens: 100 }, { extraFields: { thinking }, maxOutputTokens: 2050 });
    expect(capped.at('max_tokens')).toBe(2050);
  });

  it.each([
    ['a tool must be called', { tools: [tool('f')], tool_choice: 'required' }],
    ['the thoughts of a tool loop are lost', { messages: loop }],
  ])('gives way, and is named, when %s', (_case, body) => {
    const { at, dropped } = send(body, { extraFields: { thinking, inference_geo: 'eu' } });
    expect(at('thinking')).toBeUndefined();
    expect(at('inference_geo')).toBe('eu');
    expect(dropped).toContain('thinking');
  });

  it('off leaves sampling to the client', () => {
    const { at } = send({ temperature: 0.3 }, { extraFields: { thinking: { type: 'disabled' } } });
    expect(at('temperature')).toBe(0.3);
  });
});

describe('tools', () => {
  it('have a schema of type object, and keep what the client wrote in it', () => {
    const parameters = {
      properties: { additionalProperties: { type: 'string' } },
      additionalProperties: false,
    };
    const { at } = send({ tools: [tool('f', parameters), tool('g')] });
    expect(at('tools.0')).toEqual({
      name: 'f',
      description: 'f.',
      input_schema: { ...parameters, type: 'object' },
    });
    expect(at('tools.1.input_schema')).toEqual({ type: 'object', properties: {} });
  });

  it('take the variant’s descriptions', () => {
    const { at } = send({ tools: [tool('f'), tool('g')] }, { toolDescriptions: { f: 'better' } });
    expect(at('tools.0.description')).toBe('better');
    expect(at('tools.1.description')).toBe('g.');
  });

  it('are strict where model and schema allow it; otherwise that is named', () => {
    const closed = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };
    const strict = { strict: true };
    expect(send({ tools: [tool('f', closed, strict)] }).at('tools.0.strict')).toBe(true);
    for (const [model, schema] of [
      ['claude-3-haiku-20240307', closed],
      ['claude-sonnet-4-5', { ...closed, additionalProperties: undefined }],
      ['claude-sonnet-4-5', { ...closed, properties: { a: { type: 'string', minLength: 2 } } }],
    ] as const) {
      const { at, dropped } = send({ tools: [tool('f', schema, strict)] }, { model });
      expect(at('tools.0.strict')).toBeUndefined();
      expect(dropped).toContain('strict');
    }
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['required', { type: 'any' }],
    ['none', { type: 'none' }],
    [
      { type: 'function', function: { name: 'g' } },
      { type: 'tool', name: 'g' },
    ],
  ])('are chosen as %j says', (tool_choice, expected) => {
    expect(send({ tools: [tool('f'), tool('g')], tool_choice }).body['tool_choice']).toEqual(
      expected,
    );
  });

  it('are offered alone when only some may be chosen', () => {
    const allowed = (mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'g' } }] },
    });
    const tools = [tool('f'), tool('g')];
    const forced = send({ tools, tool_choice: allowed('required') });
    expect(forced.at('tools.0.name')).toBe('g');
    expect(forced.at('tools.1')).toBeUndefined();
    expect(forced.at('tool_choice')).toEqual({ type: 'any' });
    expect(send({ tools, tool_choice: allowed('auto') }).at('tool_choice')).toEqual({
      type: 'auto',
    });
  });

  it.each([
    [undefined, { type: 'auto', disable_parallel_tool_use: true }],
    ['required', { type: 'any', disable_parallel_tool_use: true }],
    ['none', { type: 'none' }],
  ])('are called one at a time when asked (%s)', (tool_choice, expected) => {
    const { body } = send({ tools: [tool('f')], tool_choice, parallel_tool_calls: false });
    expect(body['tool_choice']).toEqual(expected);
  });

  it('cannot be forced when none is offered', () => {
    const call = callOf(hi);
    const request = { ...call.request, toolChoice: { mode: 'required' } as const };
    expect(faultOf(dialect, { ...call, request }).param).toBe('tool_choice');
  });

  it('keep names that this dialect does not take, in another spelling', () => {
    const call = callOf({ ...hi, tools: [tool('f')] });
    const tools = call.request.tools.map((each) => ({ ...each, name: 'ns.f/1' }));
    const { at } = sent(dialect, {
      ...call,
      request: { ...call.request, tools, toolChoice: { mode: 'tool', name: 'ns.f/1' } },
    });
    expect(at('tools.0.name')).toBe('tgn_ns-2ef-2f1');
    expect(at('tool_choice.name')).toBe('tgn_ns-2ef-2f1');
  });
});

describe('the format of the answer', () => {
  const format = (schema: Json) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
  });

  it('is a schema, closed, with what the service does not know told in words', () => {
    const schema = {
      $schema: 'x',
      type: 'object',
      properties: {
        a: { type: 'string', minLength: 2, description: 'A.' },
        list: { type: 'array', items: { type: 'integer', maximum: 9 }, minItems: 1 },
      },
    };
    const { at, dropped } = send(format(schema));
    expect(at('output_config.format')).toEqual({
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: {
          a: { type: 'string', description: 'A. (minLength: 2)' },
          list: {
            type: 'array',
            items: { type: 'integer', description: '(maximum: 9)' },
            minItems: 1,
          },
        },
        additionalProperties: false,
      },
    });
    expect(dropped).toEqual(['response_format.minLength', 'response_format.maximum']);
  });

  it.each([
    ['an older model', { type: 'object', properties: {} }, 'claude-3-7-sonnet-20250219'],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, 'claude-sonnet-4-5'],
    [
      'recursion',
      {
        $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } } } },
        $ref: '#/$defs/n',
      },
      'claude-sonnet-4-5',
    ],
    ['an exclusion', { type: 'object', not: { required: ['a'] } }, 'claude-sonnet-4-5'],
  ])('is asked for in words for %s, and that is named', (_case, schema, model) => {
    const { at, dropped } = send(format(schema), { model });
    expect(at('output_config')).toBeUndefined();
    expect(at('system.0.text')).toContain(JSON.stringify(schema));
    expect(dropped).toContain('response_format');
  });

  it('without a schema is asked for in words', () => {
    const { at, dropped } = send({ response_format: { type: 'json_object' } });
    expect(at('system.0.text')).toContain('JSON object');
    expect(dropped).toEqual(['response_format']);
    expect(send({ response_format: { type: 'text' } }).dropped).toEqual([]);
  });
});

describe('what cannot be carried', () => {
  const image = (url: string) => ({
    messages: [user([{ type: 'image_url', image_url: { url } }])],
  });
  it.each([
    ['nothing', {}, null],
    ['several answers', { n: 2 }, 'n'],
    ['log probabilities', { logprobs: true }, 'logprobs'],
    ['a stop of white space', { stop: ['\n\n'] }, 'stop'],
    [
      'sound',
      { messages: [user([{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }])] },
      'audio',
    ],
    [
      'a file of another provider',
      { messages: [user([{ type: 'file', file: { file_id: 'file-1' } }])] },
      'files',
    ],
    [
      'an odd document',
      {
        messages: [user([{ type: 'file', file: { file_data: 'data:application/zip;base64,AA' } }])],
      },
      'documents',
    ],
    ['an odd image', image('data:image/tiff;base64,AA'), 'images'],
    ['an image behind plain http', image('http://127.0.0.1:1/a.png'), 'images'],
    ['an image behind a link', image('https://example.com/a.png'), null],
    ['a search of the provider', { web_search_options: {} }, 'web_search'],
  ])('is %s', (_case, body, ability) => {
    expect(dialect.missingAbility(callOf({ ...hi, ...body }).request)).toBe(ability);
  });

  it('is nothing for a client of this dialect', () => {
    const { request } = callOf({ ...hi, n: 2 });
    const original = { ...request.original, dialect: 'anthropic-messages' };
    expect(dialect.missingAbility({ ...request, original })).toBeNull();
  });
});
