/** Requests of other dialects as a service of this one takes them: what those say that this one refuses. */
import { describe, expect, it } from 'vitest';
import { anthropicMessagesClient } from '../../../../src/dialects/anthropic-messages/client.ts';
import { geminiClient } from '../../../../src/dialects/gemini/client.ts';
import {
  openaiChatUpstream,
  openaiChatWith,
} from '../../../../src/dialects/openai-chat/upstream.ts';
import { openaiResponsesClient } from '../../../../src/dialects/openai-responses/client.ts';
import { callIn, faultOf, type Json, sent } from '../upstream-calls.ts';

const hi = [{ role: 'user', parts: [{ text: 'hi' }] }];
const gemini = (body: Json) => callIn(geminiClient, JSON.stringify({ contents: hi, ...body }));
const responses = (body: Json) =>
  callIn(openaiResponsesClient, JSON.stringify({ input: 'hi', ...body }));
const messages = (body: Json) =>
  callIn(
    anthropicMessagesClient,
    JSON.stringify({ max_tokens: 99, messages: [{ role: 'user', content: 'hi' }], ...body }),
  );

describe('names of tools', () => {
  const declared = { functionDeclarations: [{ name: 'shop.cart:add' }, { name: 'plain' }] };
  const called = {
    contents: [
      ...hi,
      { role: 'model', parts: [{ functionCall: { name: 'shop.cart:add', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'shop.cart:add', response: {} } }] },
    ],
    tools: [declared],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['shop.cart:add'] } },
  };
  const mapped = 'tgn_shop-2ecart-3aadd';

  it('are mapped to characters that are taken, wherever they stand', () => {
    const { at } = sent(openaiChatUpstream, gemini(called));
    expect(at('tools.0.function.name')).toBe(mapped);
    expect(at('tools.1.function.name')).toBe('plain');
    expect(at('tool_choice.function.name')).toBe(mapped);
    expect(at('messages.1.tool_calls.0.function.name')).toBe(mapped);
  });

  it('come back as the client knows them, whole and streamed', () => {
    const call = { id: 'c1', type: 'function', function: { name: mapped, arguments: '{}' } };
    const reply = {
      id: 'x',
      choices: [{ index: 0, message: { tool_calls: [call] }, finish_reason: 'tool_calls' }],
    };
    const chunk = {
      id: 'x',
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }],
    };
    const decoder = openaiChatUpstream.streamDecoder({ eventBytesMax: 9999 });
    const parts = [
      ...openaiChatUpstream.decodeReply(Buffer.from(JSON.stringify(reply))),
      ...decoder.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)),
    ];
    const starts = parts.flatMap(({ events }) =>
      events.filter(({ type }) => type === 'tool_call_start'),
    );
    expect(starts).toMatchObject([{ name: 'shop.cart:add' }, { name: 'shop.cart:add' }]);
  });

  it('of more than 64 characters go to servers that take them, and to no other', () => {
    const name = 'n'.repeat(65);
    const call = messages({ tools: [{ name, input_schema: { type: 'object' } }] });
    expect(faultOf(openaiChatUpstream, call)).toMatchObject({ param: 'tools' });
    const lenient = openaiChatWith({ takesLongToolNames: true });
    expect(sent(lenient, call).at('tools.0.function.name')).toBe(name);
  });
});

describe('schemas', () => {
  it('of tools are objects with properties', () => {
    const tools = [{ name: 'f', input_schema: { type: 'object' } }];
    expect(sent(openaiChatUpstream, messages({ tools })).at('tools.0.function.parameters')).toEqual(
      {
        type: 'object',
        properties: {},
      },
    );
    const functions = [{ name: 'f', parametersJsonSchema: { properties: { a: {} } } }];
    const { at } = sent(
      openaiChatUpstream,
      gemini({ tools: [{ functionDeclarations: functions }] }),
    );
    expect(at('tools.0.function.parameters')).toEqual({ type: 'object', properties: { a: {} } });
  });

  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  const open = { type: 'object', properties: { a: { type: 'string' } } };

  it('are strict only where strict mode takes them', () => {
    const tools = (schema: Json) => [{ name: 'f', input_schema: schema, strict: true }];
    expect(
      sent(openaiChatUpstream, messages({ tools: tools(closed) })).at('tools.0.function.strict'),
    ).toBe(true);
    const loose = sent(openaiChatUpstream, messages({ tools: tools(open) }));
    expect(loose.at('tools.0.function')).not.toHaveProperty('strict');
    expect(loose.dropped).toEqual(['strict']);
  });

  it('of the answer likewise', () => {
    const format = (schema: Json) => ({
      text: { format: { type: 'json_schema', name: 'n', schema, strict: true } },
    });
    const path = 'response_format.json_schema';
    expect(sent(openaiChatUpstream, responses(format(closed))).at(`${path}.strict`)).toBe(true);
    const loose = sent(openaiChatUpstream, responses(format(open)));
    expect(loose.at(path)).toEqual({ name: 'n', schema: open });
    expect(loose.dropped).toEqual(['response_format.strict']);
  });
});

describe('what would be refused', () => {
  it('a JSON answer is spoken of where nobody did', () => {
    const format = { generationConfig: { responseMimeType: 'application/json' } };
    const { at } = sent(openaiChatUpstream, gemini(format));
    expect(at('messages.0')).toMatchObject({
      role: 'system',
      content: expect.stringContaining('JSON'),
    });
    const told = sent(
      openaiChatUpstream,
      gemini({ ...format, contents: [{ parts: [{ text: 'in json' }] }] }),
    );
    expect(told.at('messages')).toHaveLength(1);
  });

  it('a conversation in which nothing was said begins all the same', () => {
    const { at } = sent(openaiChatUpstream, gemini({ contents: [{ role: 'user', parts: [{}] }] }));
    expect(at('messages')).toEqual([{ role: 'user', content: '(start of conversation)' }]);
  });

  it('a tool that must be called where there is none is a fault', () => {
    const call = responses({ tool_choice: 'required' });
    expect(faultOf(openaiChatUpstream, call)).toMatchObject({ param: 'tool_choice' });
  });

  it('how many log probabilities, where none are asked for, is named as left out', () => {
    const { body, dropped } = sent(openaiChatUpstream, responses({ top_logprobs: 3 }));
    expect(body).not.toHaveProperty('top_logprobs');
    expect(dropped).toEqual(['top_logprobs']);
  });
});

it.each([
  [20, null],
  [21, 'logprobs'],
])('log probabilities with %i alternatives are asked for: lacking %s', (top_logprobs, lacking) => {
  const call = responses({ include: ['message.output_text.logprobs'], top_logprobs });
  expect(openaiChatUpstream.missingAbility(call.request)).toBe(lacking);
});

describe('texts of one turn of the model', () => {
  const said = (text: string) => ({ role: 'assistant', content: [{ type: 'output_text', text }] });
  const called = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'c1', output: 'r' };

  it('that were two messages stay two', () => {
    const { at } = sent(openaiChatUpstream, responses({ input: [said('one'), said('two')] }));
    expect(at('messages')).toEqual([
      { role: 'assistant', content: 'one' },
      { role: 'assistant', content: 'two' },
    ]);
  });

  it('that a call stood between are told apart, and its result follows', () => {
    const input = [said('one'), called, said('two'), output];
    const { at } = sent(openaiChatUpstream, responses({ input }));
    expect(at('messages')).toMatchObject([
      { role: 'assistant', content: 'one\n\ntwo', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'r' },
    ]);
  });

  it('that stand in a row are one text', () => {
    const content = [
      { type: 'text', text: 'cited ' },
      { type: 'text', text: 'words' },
    ];
    const { at } = sent(
      openaiChatUpstream,
      messages({
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content },
        ],
      }),
    );
    expect(at('messages.1.content')).toBe('cited words');
  });
});
