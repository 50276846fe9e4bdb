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
