/** What a body says in odd ways: never lost on the way to a target of another dialect, and never told as lost when it said nothing. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { callIn, faultOf, sent } from './upstream-calls.ts';

/** The smallest body of each dialect. */
const smallest: { readonly [dialect: string]: JsonObject } = {
  'openai-chat': { messages: [{ role: 'user', content: 'hi' }] },
  'openai-responses': { input: 'hi' },
  'anthropic-messages': { max_tokens: 99, messages: [{ role: 'user', content: 'hi' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
};

/** A body over the smallest of `client`, on its way to each dialect but its own. */
function onItsWay(client: string, body: JsonObject) {
  const dialect = clientDialects.get(client);
  if (dialect === undefined) throw new Error(client);
  const call = callIn(dialect, JSON.stringify({ ...smallest[client], ...body }));
  return [...upstreamDialects.values()]
    .filter(({ name }) => name !== client)
    .map((target) => ({ target, call, ability: target.missingAbility(call.request) }));
}

describe('a form that only the dialect itself may know', () => {
  it.each([
    ['openai-chat', { tool_choice: { type: 'none' } }],
    ['openai-chat', { tool_choice: { type: 'web_search' } }],
    ['openai-chat', { response_format: { type: 'grammar', grammar: 'root ::= "a"' } }],
    ['openai-responses', { tool_choice: { type: 'none' } }],
    ['openai-responses', { tool_choice: { type: 'mcp', server_label: 'docs' } }],
    ['openai-responses', { text: { format: { type: 'grammar', grammar: 'root ::= "a"' } } }],
  ])('binds a request of %s to it: %j', (client, body) => {
    for (const { target, ability } of onItsWay(client, body)) {
      expect([target.name, ability]).toEqual([target.name, 'provider_tools']);
    }
  });
});

describe('a field that says nothing', () => {
  const nothing = { mystery: null, more: [], beyond: false };

  it.each([...clientDialects.keys()])('of %s is not named as left out', (client) => {
    for (const { target, call } of onItsWay(client, nothing)) {
      expect([target.name, sent(target, call).dropped]).toEqual([target.name, []]);
    }
  });
});

const asked = { role: 'user', content: [{ type: 'text', text: 'hi' }] };
const inside: readonly (readonly [string, JsonObject, readonly string[]])[] = [
  [
    'openai-chat',
    {
      messages: [
        { ...asked, content: [{ ...asked.content[0], cache_control: { type: 'ephemeral' } }] },
        { role: 'assistant', content: 'a', annotations: [{ type: 'url' }], prefix: true },
        asked,
      ],
      tools: [{ type: 'function', function: { name: 'f', examples: [1] }, defer_loading: true }],
    },
    ['content.cache_control', 'messages.prefix', 'tools.defer_loading', 'tools.examples'],
  ],
  [
    'openai-responses',
    {
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'hi', breakpoint: 1 }] },
        { role: 'assistant', phase: 'commentary', status: 'completed', content: 'a' },
        { role: 'user', content: 'go' },
      ],
      tools: [{ type: 'function', name: 'f', parameters: null, defer_loading: true }],
    },
    ['content.breakpoint', 'input.phase', 'tools.defer_loading'],
  ],
  [
    'anthropic-messages',
    {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', mystery: 1 }] }],
      thinking: { type: 'adaptive', display: 'omitted' },
      output_config: { effort: 'low', task_budget: { total: 1 } },
    },
    ['content.mystery', 'output_config.task_budget', 'thinking.display'],
  ],
  [
    'gemini',
    {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f' }, thoughtSignature: 'c2ln' }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'f', response: {}, scheduling: 'SILENT' } }],
        },
      ],
      tools: [{ function_declarations: [{ name: 'f', behavior: 'NON_BLOCKING' }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO', streamFunctionCallArguments: true } },
    },
    [
      'functionCallingConfig.streamFunctionCallArguments',
      'functionResponse.scheduling',
      'reasoning',
      'tools.behavior',
    ],
  ],
];

it.each(inside)('what stands inside the parts of a body of %s is named', (client, body, names) => {
  for (const { target, call } of onItsWay(client, body)) {
    const { dropped } = sent(target, { ...call, isReasoningModel: true });
    expect(dropped, target.name).toEqual(expect.arrayContaining([...names]));
  }
});

it('no more is named than a header can tell', () => {
  const tools = Array.from({ length: 500 }, (_, nth) => ({
    name: `f${nth}`,
    input_schema: { type: 'object' },
    [`unknown_${nth}`]: 1,
  }));
  const unknown = Object.fromEntries(tools.map((_, nth) => [`field_${nth}`, 1]));
  for (const { target, call } of onItsWay('anthropic-messages', { tools, ...unknown })) {
    expect([target.name, sent(target, call).dropped.length]).toEqual([target.name, 64]);
  }
});

it.each(['system', 'developer', 'assistant'])(
  'the name of a speaker that is the %s is named as left out',
  (role) => {
    const body = {
      messages: [
        { role: 'user', content: 'q' },
        { role, name: 'ann', content: 's' },
        { role: 'user', content: 'q' },
      ],
    };
    for (const { target, call } of onItsWay('openai-chat', body)) {
      expect([target.name, sent(target, call).dropped]).toEqual([target.name, ['name']]);
    }
  },
);

describe('a limit of tokens', () => {
  it('of none is a fault at every other dialect, where it means nothing or is refused', () => {
    for (const client of clientDialects.keys()) {
      const field = { 'openai-responses': 'max_output_tokens', gemini: 'generationConfig' }[client];
      const body =
        field === 'generationConfig'
          ? { generationConfig: { maxOutputTokens: 0 } }
          : { [field ?? 'max_tokens']: 0 };
      for (const { target, call } of onItsWay(client, body)) {
        expect([client, target.name, faultOf(target, call).param]).toEqual([
          client,
          target.name,
          'max_tokens',
        ]);
      }
    }
  });

  it('of -1 is none to local servers, and not said to others', () => {
    for (const { target, call } of onItsWay('openai-chat', { max_tokens: -1 })) {
      expect([target.name, sent(target, call).text]).not.toContain('-1');
    }
  });
});
