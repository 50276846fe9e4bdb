import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import { anthropicMessagesClient } from '../../../../src/dialects/anthropic-messages/client.ts';
import { withRequestPoint } from '../../../../src/dialects/bedrock-converse/cache-points.ts';
import { traitsOf } from '../../../../src/dialects/bedrock-converse/model-traits.ts';
import { bedrockConverseUpstream as dialect } from '../../../../src/dialects/bedrock-converse/upstream.ts';
import { callIn, callOf, sent } from '../upstream-calls.ts';

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const nova = 'amazon.nova-2-lite-v1:0';
const llama = 'meta.llama4-maverick-17b-instruct-v1:0';
const hi = { role: 'user', content: 'hi' };
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const called = [
  hi,
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: 'c.1',
        type: 'function',
        function: { name: 'f', arguments: '{"n":12345678901234567890}' },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'c.1', content: '' },
];

function encoded(body: JsonObject, model = claude) {
  return sent(dialect, callOf({ model: 'fast', messages: [hi], ...body }, { model }));
}

describe('a Converse body', () => {
  it('has one turn a role, text in blocks, and no model', () => {
    const { body } = encoded({ messages: [{ role: 'system', content: 's' }, hi, hi] });
    expect(body).toEqual({
      system: [{ text: 's' }],
      messages: [{ role: 'user', content: [{ text: 'hi' }, { text: 'hi' }] }],
    });
  });

  it('keeps tools where calls stand, with ids and numbers that the service takes', () => {
    const { body, text, dropped } = encoded({ messages: called });
    expect(text).toContain('"input":{"n":12345678901234567890}');
    expect(text).toMatch(/"toolUseId":"tooluse_[\w-]{24}"/);
    expect(text).toContain('"content":[{"text":"(no output)"}]');
    expect(body).toHaveProperty('toolConfig.tools.0.toolSpec.name', 'f');
    expect(dropped).toEqual(['tool_choice']);
  });

  it.each([
    ['auto', claude, { auto: {} }],
    ['required', nova, { any: {} }],
    [{ type: 'function', function: { name: 'f' } }, claude, { tool: { name: 'f' } }],
  ])('says tool_choice %j to %s', (tool_choice, model, expected) => {
    const { body } = encoded({ tools: [tool], tool_choice }, model);
    expect(body).toHaveProperty('toolConfig.toolChoice', expected);
  });

  it('offers no tool when none may be called and none was', () => {
    expect(encoded({ tools: [tool], tool_choice: 'none' }).body).not.toHaveProperty('toolConfig');
  });

  it.each([
    [{ tools: [tool], tool_choice: 'required' }, 'tool_choice'],
    [{ stop: ['x'] }, 'stop'],
  ])('is not written where the model would not heed it: %j', (over, param) => {
    const call = callOf({ model: 'fast', messages: [hi], ...over }, { model: llama });
    expect(dialect.encodeCall(call)).toMatchObject({ ok: false, fault: { param } });
  });

  it.each([
    [claude, { thinking: { type: 'enabled', budget_tokens: 4096 } }],
    [nova, { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } }],
    ['openai.gpt-oss-120b-1:0', { reasoning_effort: 'low' }],
  ])('tells %s how long to think in its own way', (model, expected) => {
    const { body } = encoded({ reasoning_effort: 'low' }, model);
    expect(body).toHaveProperty('additionalModelRequestFields', expected);
  });

  it('writes a schema as text, and asks in words where the model knows none', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const response_format = { type: 'json_schema', json_schema: { name: 's', schema } };
    const { body } = encoded({ response_format });
    const path = 'outputConfig.textFormat.structure.jsonSchema.schema';
    expect(body).toHaveProperty(path, expect.stringContaining('"additionalProperties":false'));
    const told = encoded({ response_format }, nova);
    expect(told.body).not.toHaveProperty('outputConfig');
    expect(told.dropped).toContain('response_format');
    expect(told.text).toContain('JSON Schema');
  });

  it.each([
    [{ n: 2 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ stop: [' '] }, 'stop'],
    [
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://h/a.png' } }] },
        ],
      },
      'images',
    ],
  ])('cannot carry %j', (over, ability) => {
    const { request } = callOf({ model: 'fast', messages: [hi], ...over }, { model: claude });
    expect(dialect.missingAbility(request)).toBe(ability);
  });
});

describe('cache marks', () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const point = { cachePoint: { type: 'default' } };
  const png = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
  const body = {
    model: 'fast',
    max_tokens: 9,
    system: [{ type: 'text', text: 's', ...mark }],
    tools: [
      { name: 'f', input_schema: { type: 'object' } },
      { name: 'g', input_schema: { type: 'object' }, ...mark },
    ],
    messages: [
      { role: 'user', content: [{ type: 'image', source: png, ...mark }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'f', input: {}, ...mark }],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [
              { type: 'text', text: 'sunny', ...mark },
              { type: 'text', text: 'warm' },
            ],
          },
          { type: 'text', text: 'go on' },
        ],
      },
    ],
  };
  const write = (over: JsonObject, model: string) =>
    sent(dialect, callIn(anthropicMessagesClient, JSON.stringify({ ...body, ...over }), { model }));

  it('become points behind what they stand at, and nothing is left out', () => {
    const { at, dropped } = write({}, claude);
    const toolResult = {
      toolUseId: 'a',
      content: [{ text: 'sunny' }, { text: 'warm' }],
    };
    expect(at('system')).toEqual([{ text: 's' }, point]);
    expect(at('toolConfig.tools.2')).toEqual(point);
    expect(at('messages')).toEqual([
      { role: 'user', content: [{ image: { format: 'png', source: { bytes: 'AAAA' } } }, point] },
      {
        role: 'assistant',
        content: [{ toolUse: { toolUseId: 'a', name: 'f', input: {} } }, point],
      },
      { role: 'user', content: [{ toolResult }, point, { text: 'go on' }] },
    ]);
    expect(dropped).toEqual([]);
  });

  it('last as long as they say, where the model can', () => {
    const long = [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', ttl: '1h' } }];
    const { at } = write({ system: long }, claude);
    expect(at('system.1')).toEqual({ cachePoint: { type: 'default', ttl: '1h' } });
    const short = write({ system: long }, 'us.anthropic.claude-3-7-sonnet-20250219-v1:0');
    expect(short.at('system.1')).toEqual(point);
    expect(short.dropped).toEqual(['cache_control.ttl']);
  });

  it('are named where a model takes none, or none among its tools', () => {
    for (const model of [llama, nova]) {
      const { at, dropped } = write({}, model);
      expect(at('toolConfig.tools')).toHaveLength(2);
      expect(dropped).toContain('cache_control');
    }
  });

  describe('of the whole request', () => {
    const turns = (content: unknown) => ({
      tools: [],
      system: 's',
      messages: [{ role: 'user', content }],
    });
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };

    it('become one behind its last block', () => {
      for (const [messages, last] of [
        [turns('hello').messages, [{ text: 'hello' }, point]],
        [body.messages.slice(0, 1), [expect.objectContaining({ image: expect.anything() }), point]],
      ] as const) {
        const { at, dropped } = write({ ...turns(''), messages, ...mark }, claude);
        expect((at('messages') as readonly JsonObject[]).at(-1)?.['content']).toEqual(last);
        expect(dropped).not.toContain('cache_control');
      }
    });

    it('stand before a thought, which cannot be cached', () => {
      const thought = { reasoningContent: { redactedContent: 'R' } };
      const messages = [{ role: 'assistant', content: [{ text: 'a' }, thought] }] as const;
      const dropped = new Set<string>();
      const context = { others: [], traits: traitsOf(claude), dropped };
      const [turn] = withRequestPoint(messages, mark.cache_control, context);
      expect(turn?.content).toEqual([{ text: 'a' }, point, thought]);
      expect(withRequestPoint([], mark.cache_control, context)).toEqual([]);
      expect([...dropped]).toEqual(['cache_control']);
    });

    it('last as long as they say', () => {
      const { at } = write({ ...turns('hello'), ...hour }, claude);
      expect(at('messages.0.content.1')).toEqual({ cachePoint: { type: 'default', ttl: '1h' } });
    });

    it('are named where a model takes none, and where there are as many as the service takes', () => {
      const plain = write({ ...turns('hello'), ...mark }, llama);
      expect(plain.at('messages.0.content')).toEqual([{ text: 'hello' }]);
      expect(plain.dropped).toEqual(['cache_control']);
      const full = write(mark, claude);
      expect(full.at('messages.2.content.2')).toEqual({ text: 'go on' });
      expect(full.at('messages.2.content.3')).toBeUndefined();
      expect(full.dropped).toEqual(['cache_control']);
    });

    it('are named where nobody can read them', () => {
      expect(write({ ...turns('hello'), cache_control: 'yes' }, claude).dropped).toEqual([
        'cache_control',
      ]);
    });
  });

  it('of a system text in mid-conversation stay with it', () => {
    const system = { role: 'system', content: [{ type: 'text', text: 'brief', ...mark }] };
    const messages = [hi, { role: 'assistant', content: 'yes' }, system, hi];
    expect(write({ messages }, claude).at('messages.2.content')).toEqual([
      { text: '<system>\nbrief\n</system>' },
      point,
      { text: 'hi' },
    ]);
  });
});
