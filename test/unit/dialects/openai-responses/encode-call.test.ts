/** Requests of clients of other dialects, as the Responses API gets them. */
import { describe, expect, it } from 'vitest';
import { anthropicMessagesClient } from '../../../../src/dialects/anthropic-messages/client.ts';
import { openaiResponsesUpstream as dialect } from '../../../../src/dialects/openai-responses/upstream.ts';
import {
  callIn,
  callOf,
  calls,
  faultOf,
  type Json,
  owning,
  result,
  sent,
  tool,
  toolCall,
  user,
} from '../upstream-calls.ts';

const model = 'gpt-5-mini';
const hi = [user('hi')];
const closed = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

function asked(body: Json, overrides = {}) {
  return sent(dialect, callOf({ messages: hi, ...body }, { model, ...overrides }));
}

describe('a body', () => {
  it('is flat, keeps nothing at the provider, and has one item a message', () => {
    const { body, dropped } = asked({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        user('hi'),
        { role: 'assistant', content: 'hello' },
        { role: 'system', content: 'Now French.' },
        user('go on'),
      ],
    });
    expect(body).toEqual({
      model,
      instructions: 'Be brief.\n\nBe kind.',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'hello', annotations: [] }],
        },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Now French.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] },
      ],
      store: false,
    });
    expect(dropped).toEqual([]);
  });

  it('is a stream where one is asked for', () => {
    expect(asked({ stream: true }).body['stream']).toBe(true);
    expect(asked({}).body).not.toHaveProperty('stream');
  });

  it("has the variant's words around the leading system messages", () => {
    const system = { before: 'Before.', after: 'After.' };
    const messages = [{ role: 'system', content: 'Own.' }, ...hi];
    expect(asked({ messages }, { system }).body['instructions']).toBe('Before.\n\nOwn.\n\nAfter.');
    expect(asked({}, { system: { before: 'Only.', after: '' } }).body['instructions']).toBe(
      'Only.',
    );
  });

  it('has some input where there is nothing but system messages', () => {
    const { body } = asked({ messages: [{ role: 'system', content: 'Say hi.' }] });
    expect(body['input']).toHaveLength(1);
    expect(body).not.toHaveProperty('instructions');
  });

  it("takes the target's own fields over it, into objects that it has", () => {
    const { body } = asked(
      { reasoning_effort: 'low' },
      {
        isReasoningModel: true,
        extraFields: { reasoning: { summary: null }, store: true, truncation: 'auto' },
      },
    );
    expect(body).toMatchObject({
      reasoning: { effort: 'low', summary: null },
      store: true,
      truncation: 'auto',
    });
  });
});

describe('fields', () => {
  it.each<readonly [string, Json, Json, readonly string[]]>([
    ['the limit', { max_tokens: 50 }, { max_output_tokens: 50 }, []],
    ['a limit below the least', { max_tokens: 5 }, { max_output_tokens: 16 }, ['max_tokens']],
    ['sampling', { temperature: 0.2, top_p: 0.9 }, { temperature: 0.2, top_p: 0.9 }, []],
    ['a user', { safety_identifier: 'u1' }, { user: 'u1' }, []],
    ['a tier', { service_tier: 'flex' }, { service_tier: 'flex' }, []],
    ['a verbosity', { verbosity: 'low' }, { text: { verbosity: 'low' } }, []],
    [
      'what both APIs of the vendor have',
      { metadata: { a: 'b' }, prompt_cache_key: 'k', store: false },
      { metadata: { a: 'b' }, prompt_cache_key: 'k', store: false },
      [],
    ],
    ['metadata of another form', { metadata: { a: 1 } }, {}, ['metadata']],
    ['storing', { store: true }, { store: false }, ['store']],
    [
      'what only tunes and has no place',
      { seed: 1, presence_penalty: 1, frequency_penalty: 1, logit_bias: { 1: 2 } },
      {},
      ['seed', 'presence_penalty', 'frequency_penalty', 'logit_bias'],
    ],
    [
      'an effort of a model that does not reason',
      { reasoning_effort: 'high' },
      {},
      ['reasoning_effort'],
    ],
    ['no effort of a model that does not reason', { reasoning_effort: 'none' }, {}, []],
    [
      'a schema that strict mode takes',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'place', schema: closed, strict: true, description: 'd' },
        },
      },
      {
        text: {
          format: {
            type: 'json_schema',
            name: 'place',
            description: 'd',
            schema: closed,
            strict: true,
          },
        },
      },
      [],
    ],
    [
      'a schema that strict mode refuses',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'place', schema: { type: 'object' }, strict: true },
        },
      },
      {
        text: {
          format: { type: 'json_schema', name: 'place', schema: { type: 'object' }, strict: false },
        },
      },
      ['response_format.strict'],
    ],
  ])('%s', (_name, given, expected, dropped) => {
    const encoded = asked(given);
    const { model: _, input: __, store: ___, ...fields } = encoded.body;
    const { store = false, ...wanted } = expected;
    expect(fields).toEqual(wanted);
    expect(encoded.body['store']).toBe(store);
    expect(encoded.dropped).toEqual(dropped);
  });

  it('of a model that reasons leave sampling out, and show a summary of what was thought', () => {
    const { body, dropped } = asked(
      { temperature: 0.2, top_p: 1, reasoning_effort: 'low' },
      { isReasoningModel: true },
    );
    expect(body).toMatchObject({ reasoning: { effort: 'low', summary: 'auto' } });
    expect(body).not.toHaveProperty('temperature');
    expect(body).not.toHaveProperty('top_p');
    expect(dropped).toEqual(['temperature']);
    expect(asked({ reasoning_effort: 'none' }, { isReasoningModel: true }).body).toMatchObject({
      reasoning: { effort: 'none' },
    });
  });

  it('fit an effort to those that the model knows', () => {
    const known = { isReasoningModel: true, efforts: ['low', 'high'] };
    const { body, dropped } = asked({ reasoning_effort: 'medium' }, known);
    expect(body['reasoning']).toEqual({ effort: 'low', summary: 'auto' });
    expect(dropped).toEqual(['reasoning_effort']);
    expect(asked({ reasoning_effort: 'high' }, { efforts: [] }).body).not.toHaveProperty(
      'reasoning',
    );
  });

  it('that the gateway set stay, whatever the model refuses', () => {
    const call = owning(callOf({ messages: hi }, { model, isReasoningModel: true }), {
      temperature: 0.5,
      reasoning_effort: 'odd',
      logprobs: true,
      top_logprobs: 3,
      n: 2,
      stop: ['x'],
    });
    const { body, dropped } = sent(dialect, call);
    expect(body).toMatchObject({
      temperature: 0.5,
      reasoning: { effort: 'odd' },
      include: ['message.output_text.logprobs'],
      top_logprobs: 3,
    });
    expect(dropped).toEqual(['n', 'stop']);
  });

  it('stay within the ceiling of the model', () => {
    const { body, dropped } = asked({ max_tokens: 9000 }, { maxOutputTokens: 4096 });
    expect(body['max_output_tokens']).toBe(4096);
    expect(dropped).toEqual(['max_tokens']);
  });

  it('that ask for JSON without a schema say so in the input, which must speak of it', () => {
    const format = { response_format: { type: 'json_object' } };
    const { body } = asked(format);
    expect(body).toMatchObject({ text: { format: { type: 'json_object' } } });
    expect(body['input']).toHaveLength(2);
    expect(JSON.stringify(body['input'])).toMatch(/JSON/);
    const spoken = asked({ ...format, messages: [user('as json, please')] });
    expect(spoken.body['input']).toHaveLength(1);
  });
});

describe('tools', () => {
  it('are flat, and say that they are not strict, since silence means the contrary', () => {
    const { body, dropped } = asked({
      tools: [
        tool('plain'),
        tool('f', { type: 'object', properties: {} }),
        tool('g', closed, { strict: true }),
        tool('h', { properties: { a: {} } }, { strict: true }),
      ],
    });
    const empty = { type: 'object', properties: {} };
    expect(body['tools']).toEqual([
      {
        type: 'function',
        name: 'plain',
        description: 'plain.',
        parameters: { ...empty, additionalProperties: false },
        strict: false,
      },
      { type: 'function', name: 'f', description: 'f.', parameters: empty, strict: false },
      { type: 'function', name: 'g', description: 'g.', parameters: closed, strict: true },
      {
        type: 'function',
        name: 'h',
        description: 'h.',
        parameters: { type: 'object', properties: { a: {} } },
        strict: false,
      },
    ]);
    expect(dropped).toEqual(['strict']);
  });

  it.each<readonly [unknown, unknown]>([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'function', name: 'f' },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
    ],
  ])('are chosen among: %j', (choice, expected) => {
    const { body } = asked({ tools: [tool('f')], tool_choice: choice, parallel_tool_calls: false });
    expect(body['tool_choice']).toEqual(expected);
    expect(body['parallel_tool_calls']).toBe(false);
  });

  it('are needed where one must be called', () => {
    const fault = faultOf(dialect, callOf({ messages: hi, tool_choice: 'required' }));
    expect(fault.param).toBe('tool_choice');
    expect(asked({ tool_choice: 'none', parallel_tool_calls: true }).body).not.toHaveProperty(
      'parallel_tool_calls',
    );
  });

  it("have the variant's own words", () => {
    const { at } = asked({ tools: [tool('f')] }, { toolDescriptions: { f: 'Mine.' } });
    expect(at('tools.0.description')).toBe('Mine.');
  });

  it('TR-03 with names that are not taken are mapped, the same way in tools, choice and history', () => {
    const name = 'ns.do it';
    const { body } = asked({
      tools: [tool(name)],
      tool_choice: { type: 'function', function: { name } },
      messages: [user('q'), calls(toolCall('c', name, '{}')), result('c', '1')],
    });
    const mapped = 'tgn_ns-2edo-20it';
    expect(body).toMatchObject({
      tools: [{ name: mapped }],
      tool_choice: { name: mapped },
      input: [{}, { name: mapped }, {}],
    });
    const long = callOf({ messages: hi, tools: [tool('.'.repeat(40))] });
    expect(faultOf(dialect, long)).toMatchObject({ param: 'tools' });
  });
});

describe('what cannot be said here', () => {
  it.each<readonly [string, Json, string | null]>([
    ['several answers', { n: 2 }, 'n'],
    ['one answer', { n: 1 }, null],
    ['stop sequences', { stop: ['END'] }, 'stop'],
    ['an empty stop sequence', { stop: [''] }, null],
    ['as many log probabilities as are told', { logprobs: true, top_logprobs: 20 }, null],
    ['more log probabilities', { logprobs: true, top_logprobs: 21 }, 'logprobs'],
    ['seeds and penalties, which only tune', { seed: 1, presence_penalty: 1 }, null],
    [
      "another vendor's tools",
      { tools: [{ type: 'custom', custom: { name: 'c' } }] },
      'provider_tools',
    ],
    ['a prediction', { prediction: { type: 'content', content: 'x' } }, 'prediction'],
    [
      'a file of another account',
      { messages: [user([{ type: 'file', file: { file_id: 'file-1' } }])] },
      'files',
    ],
    [
      'sound that it does not read',
      {
        messages: [user([{ type: 'input_audio', input_audio: { data: 'AA==', format: 'flac' } }])],
      },
      'audio',
    ],
    [
      'links, which it fetches',
      { messages: [user([{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }])] },
      null,
    ],
  ])('%s', (_name, body, expected) => {
    expect(dialect.missingAbility(callOf({ messages: hi, ...body }).request)).toBe(expected);
  });

  it('is left out and named where it only matters to its maker: thoughts, prefills, names', () => {
    const call = callIn(
      anthropicMessagesClient,
      JSON.stringify({
        model: 'fast',
        max_tokens: 100,
        messages: [
          { role: 'user', content: 'hi' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'SECRET', signature: 'sig' },
              { type: 'text', text: 'well' },
            ],
          },
        ],
      }),
    );
    const { text, dropped } = sent(dialect, call);
    expect(text).not.toContain('SECRET');
    expect(text).not.toContain('sig"');
    expect(dropped).toEqual(['reasoning', 'prefill']);
    expect(asked({ messages: [{ ...user('hi'), name: 'Ann' }] }).dropped).toEqual(['name']);
  });
});
