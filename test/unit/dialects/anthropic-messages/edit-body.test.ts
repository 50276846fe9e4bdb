import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/chat/request.ts';
import { anthropicMessagesClient } from '../../../../src/dialects/anthropic-messages/client.ts';
import { unsignedMark } from '../../../../src/dialects/anthropic-messages/thinking-origin.ts';
import { anthropicMessagesUpstream as dialect } from '../../../../src/dialects/anthropic-messages/upstream.ts';
import type { UpstreamCall } from '../../../../src/dialects/dialect.ts';
import { callOf, type Json, owning, sent, user } from '../upstream-calls.ts';

const hi = { messages: [user('hi')] };

describe('a body of this dialect', () => {
  const mine = {
    model: 'fast',
    max_tokens: 50,
    system: [{ type: 'text', text: 'mine', cache_control: { type: 'ephemeral' } }],
    messages: [
      user('q'),
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 'S' },
          { type: 'text', text: 'a' },
        ],
      },
      user('go'),
    ],
    tools: [
      { name: 'f', description: 'old', input_schema: { type: 'object' }, defer_loading: true },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    brand_new_field: { a: 1 },
  };

  function edited(overrides: Partial<UpstreamCall> = {}, body: Json = mine) {
    const call = callOf(hi);
    const original = {
      dialect: 'anthropic-messages',
      bytes: Buffer.from(JSON.stringify(body)),
      json: body,
    };
    const request = { ...call.request, original };
    return { ...call, request, parameters: { ...call.parameters, max_tokens: 50 }, ...overrides };
  }

  it('TR-13 changes in the model alone when nothing else is owned', () => {
    expect(sent(dialect, edited()).body).toEqual({ ...mine, model: 'claude-sonnet-4-5' });
    expect(sent(dialect, edited()).dropped).toEqual([]);
  });

  it('takes the variant around its system blocks, their cache marks kept', () => {
    const system = { before: 'first', after: 'last' };
    const { body } = sent(
      dialect,
      edited({ system, toolDescriptions: { f: 'new' }, isStream: true }),
    );
    expect(body).toEqual({
      ...mine,
      model: 'claude-sonnet-4-5',
      stream: true,
      system: [{ type: 'text', text: 'first' }, ...mine.system, { type: 'text', text: 'last' }],
      tools: [{ ...mine.tools[0], description: 'new' }, mine.tools[1]],
    });
    const plain = sent(dialect, edited({ system }, { ...mine, system: 'mine' }));
    expect(plain.at('system.1')).toEqual({ type: 'text', text: 'mine' });
  });

  it('takes the parameters that the gateway owns, and no other', () => {
    const call = owning(edited(), {
      max_tokens: 99,
      stop: ['x'],
      reasoning_effort: 'low',
      parallel_tool_calls: false,
    });
    expect(sent(dialect, call).body).toEqual({
      ...mine,
      model: 'claude-sonnet-4-5',
      max_tokens: 99 + 4096,
      stop_sequences: ['x'],
      thinking: { type: 'enabled', budget_tokens: 4096 },
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    const top = sent(dialect, edited({ extraFields: { inference_geo: 'eu' } }));
    expect(top.body).toEqual({ ...mine, model: 'claude-sonnet-4-5', inference_geo: 'eu' });
  });

  it('is not asked to think where the service would refuse it', () => {
    const called = { type: 'tool_use', id: 'a', name: 'f', input: {} };
    const loopAfter = (...content: readonly Json[]) => [
      user('q'),
      { role: 'assistant', content },
      user([{ type: 'tool_result', tool_use_id: 'a', content: '1' }]),
    ];
    const loop = loopAfter(called);
    const lost = sent(
      dialect,
      owning(edited({}, { ...mine, messages: loop }), { reasoning_effort: 'low' }),
    );
    expect(lost.at('thinking')).toBeUndefined();
    expect(lost.dropped).toEqual(['reasoning_effort']);
    const signed = loopAfter({ type: 'thinking', thinking: 't', signature: 'S' }, called);
    const kept = sent(
      dialect,
      owning(edited({}, { ...mine, messages: signed }), { reasoning_effort: 'low' }),
    );
    expect(kept.at('thinking.type')).toBe('enabled');
  });

  it('keeps the spelling of its numbers, and loses our own extension', () => {
    const bytes = Buffer.from(
      '{"model":"fast","max_tokens":5,"messages":[],"x":12345678901234567890,"tiergate":{"a":1.0}}',
    );
    const json = { model: 'fast', max_tokens: 5, messages: [], x: 1 };
    const call = edited();
    const request = { ...call.request, original: { dialect: 'anthropic-messages', bytes, json } };
    expect(sent(dialect, { ...call, request }).text).toBe(
      '{"model":"claude-sonnet-4-5","max_tokens":5,"messages":[],"x":12345678901234567890}',
    );
  });
});

/** A call as the engine makes it of a client's bytes. */
function callOfBody(text: string, overrides: Partial<UpstreamCall> = {}): UpstreamCall {
  const decoded = anthropicMessagesClient.decodeRequest(Buffer.from(text));
  if (!decoded.ok) throw new Error(`${decoded.fault.param}: ${decoded.fault.message}`);
  const { request } = decoded.value;
  return {
    ...callOf(hi),
    request,
    isStream: request.isStream,
    parameters: request.parameters,
    ...overrides,
  };
}

const signedBy = (model: string): string =>
  Buffer.concat([
    Buffer.from([0x12, 0x80, 0x01, 0x0a, 0x20, ...Buffer.alloc(32, 7), 0x32, model.length]),
    Buffer.from(`${model}8`),
    Buffer.alloc(40, 9),
  ]).toString('base64');

describe('the bytes of a client', () => {
  it('leave as they came, but for the model and our own extension', () => {
    const body =
      ' { "model" : "fast","max_tokens":5.0 ,"x":{"\\u0061":1e3},\n"messages":[{"role":"user","content":"\\ud83d hi"}] , "tiergate":{"a":1},"y":12345678901234567890 }\n';
    expect(sent(dialect, callOfBody(body)).text).toBe(
      body.replace('"fast"', '"claude-sonnet-4-5"').replace('"tiergate":{"a":1},', ''),
    );
  });

  it('R71 get the words of the variant in their own place', () => {
    const system = { before: 'B', after: 'A' };
    const before = '{"type":"text","text":"B"}';
    const after = '{"type":"text","text":"A"}';
    const rest = '"messages":[{"role":"user","content":"q"}]';
    const model = '"model":"claude-sonnet-4-5"';
    const written = (own: string): string =>
      sent(dialect, callOfBody(`{"max_tokens":5,${own}${rest}}`, { system })).text;
    expect(
      written(
        '"system":[ {"type":"text","text":"\\u0061","cache_control":{"type":"ephemeral"}} ],',
      ),
    ).toBe(
      `{"max_tokens":5,"system":[ ${before},{"type":"text","text":"\\u0061","cache_control":{"type":"ephemeral"}},${after} ],${rest},${model}}`,
    );
    expect(written('"system":"\\u0061",')).toBe(
      `{"max_tokens":5,"system":[${before},{"type":"text","text":"\\u0061"},${after}],${rest},${model}}`,
    );
    expect(written('"system":[],')).toBe(
      `{"max_tokens":5,"system":[${before},${after}],${rest},${model}}`,
    );
    expect(written('')).toBe(`{"max_tokens":5,${rest},${model},"system":[${before},${after}]}`);
  });

  it('get ids that the service takes, for a call and its result alike', () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: '1' });
    const turns = (...ids: readonly string[]) => [
      { role: 'assistant', content: ids.map(call) },
      user(ids.map(result)),
    ];
    const messages = [
      user('q'),
      ...turns('functions.f:0', 'toolu_1'),
      ...turns('functions.f:0', 'tgs_secret'),
    ];
    const { at, text } = sent(dialect, callOfBody(JSON.stringify({ max_tokens: 5, messages })));
    const idsAt = (path: string): unknown[] => [at(`messages.${path}`)].flat();
    const pairs = [1, 3].flatMap((turn) =>
      [0, 1].map((block) => [
        ...idsAt(`${turn}.content.${block}.id`),
        ...idsAt(`${turn + 1}.content.${block}.tool_use_id`),
      ]),
    );
    for (const [id, answered] of pairs) {
      expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
      expect(answered).toBe(id);
    }
    expect(new Set(pairs.map(([id]) => id)).size).toBe(4);
    expect(pairs[1]?.[0]).toBe('toolu_1');
    expect(text).not.toContain('tgs_');
  });

  it('are followed by the messages that the gateway adds', () => {
    const call = callOfBody('{"max_tokens":5,"messages":[{"role":"user","content":"q"} ]}');
    const added: readonly Message[] = [
      { role: 'assistant', content: [{ type: 'text', text: 'so far ' }] },
    ];
    const request = { ...call.request, messages: [...call.request.messages, ...added] };
    expect(sent(dialect, { ...call, request }).at('messages')).toEqual([
      user('q'),
      { role: 'assistant', content: [{ type: 'text', text: 'so far' }] },
    ]);
    const goOn: Message = { role: 'user', content: [{ type: 'text', text: 'go on' }], name: null };
    const longer = { ...request, messages: [...request.messages, goOn] };
    expect(sent(dialect, { ...call, request: longer }).at('messages.2')).toEqual(
      user([{ type: 'text', text: 'go on' }]),
    );
  });
});

describe('thinking', () => {
  const history = (...blocks: readonly Json[]) =>
    JSON.stringify({
      max_tokens: 5000,
      messages: [
        user('q'),
        { role: 'assistant', content: [...blocks, { type: 'text', text: 'a' }] },
        user('go'),
      ],
    });
  const thought = (signature: string): Json => ({ type: 'thinking', thinking: 't', signature });
  const typesSent = (text: string, overrides: Partial<UpstreamCall>): unknown[] => {
    const content = sent(dialect, callOfBody(text, overrides)).at('messages.1.content');
    return (content as Json[]).map((block) => block['type']);
  };

  it.each([
    ['claude-haiku-4-5-20251001', 'claude-haiku-4-5', true],
    ['claude-haiku-4-5-20251001', 'us.anthropic.claude-haiku-4-5-20251001-v1:0', true],
    ['claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4.5', true],
    ['claude-sonnet-4-20250514', 'claude-sonnet-4-0', true],
    ['claude-haiku-4-5-20251001', 'claude-sonnet-4-5', false],
    ['claude-sonnet-4-20250514', 'claude-sonnet-4-5', false],
  ])('TR-13 that %s signed goes to %s: %s', (maker, model, isSent) => {
    // Whatever the tier's usual model is: the signature itself tells.
    for (const usualModel of ['claude-opus-5', 'claude-haiku-4-5', null]) {
      const types = typesSent(history(thought(signedBy(maker))), { model, usualModel });
      expect(types).toEqual(isSent ? ['thinking', 'text'] : ['text']);
    }
  });

  it('TR-13 whose maker is not known is taken to be the usual model’s', () => {
    const own = history(thought('S'), { type: 'redacted_thinking', data: 'R' });
    const usualModel = 'claude-sonnet-4-5';
    expect(typesSent(own, { usualModel })).toEqual(['thinking', 'redacted_thinking', 'text']);
    expect(typesSent(own, { usualModel, model: 'claude-haiku-4-5' })).toEqual(['text']);
    expect(typesSent(own, { model: 'claude-haiku-4-5' })).toHaveLength(3);
  });

  it('that nobody of this dialect signed goes nowhere', () => {
    const foreign = history(thought(unsignedMark), thought(''), thought('S'));
    expect(typesSent(foreign, {})).toEqual(['thinking', 'text']);
  });

  it('leaves no empty turn behind', () => {
    const text = JSON.stringify({
      max_tokens: 5,
      messages: [user('q'), { role: 'assistant', content: [thought(unsignedMark)] }, user('go')],
    });
    expect(sent(dialect, callOfBody(text)).at('messages')).toEqual([user('q'), user('go')]);
  });

  const loop = (signature: string, fields: Json = {}) =>
    JSON.stringify({
      max_tokens: 5000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
      ...fields,
      messages: [
        user('q'),
        {
          role: 'assistant',
          content: [thought(signature), { type: 'tool_use', id: 'a', name: 'f', input: {} }],
        },
        user([{ type: 'tool_result', tool_use_id: 'a', content: '1' }]),
      ],
    });

  it('TR-13 is off for a call in the tool loop of another model', () => {
    const management = {
      edits: [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }],
    };
    const text = loop(unsignedMark, { context_management: management });
    const { body, at, dropped } = sent(dialect, callOfBody(text));
    expect(body).not.toHaveProperty('thinking');
    expect(at('context_management.edits')).toEqual([{ type: 'clear_tool_uses_20250919' }]);
    expect(dropped).toEqual(['thinking']);
    expect(sent(dialect, callOfBody(loop('S'))).at('thinking.type')).toBe('enabled');
    // A turn that comes in two messages is one.
    const split = loop(unsignedMark).replace(/\]\}$/, `,${JSON.stringify(user('and?'))}]}`);
    expect(sent(dialect, callOfBody(split)).body).not.toHaveProperty('thinking');
    const target = { thinking: { type: 'enabled', budget_tokens: 1024 } };
    const forced = callOfBody(loop(unsignedMark, { thinking: undefined }), { extraFields: target });
    expect(sent(dialect, forced).body).not.toHaveProperty('thinking');
  });

  const asked = (fields: Json) =>
    JSON.stringify({ max_tokens: 5000, messages: [user('q')], ...fields });

  it('by a budget is adaptive for models that take no budget', () => {
    const text = asked({ thinking: { type: 'enabled', budget_tokens: 9000, display: 'omitted' } });
    const { body, dropped } = sent(dialect, callOfBody(text, { model: 'claude-opus-4-7' }));
    expect(body).toMatchObject({
      thinking: { type: 'adaptive', display: 'omitted' },
      output_config: { effort: 'medium' },
    });
    expect(dropped).toEqual(['thinking.budget_tokens']);
  });

  it('of the adaptive kind has a budget for models that want one', () => {
    const text = asked({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
      temperature: 0.5,
    });
    const { body, dropped } = sent(dialect, callOfBody(text));
    expect(body['thinking']).toEqual({ type: 'enabled', budget_tokens: 2500 });
    expect(body).not.toHaveProperty('output_config');
    expect(dropped).toEqual(['temperature', 'output_config.effort']);
    const small = asked({ thinking: { type: 'adaptive' }, max_tokens: 1500 });
    expect(sent(dialect, callOfBody(small)).body).not.toHaveProperty('thinking');
  });

  it('is nothing that an old model knows, and anything for one that nobody here knows', () => {
    const text = asked({ thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } });
    const old = sent(dialect, callOfBody(text, { model: 'claude-3-5-haiku-20241022' }));
    expect(old.body).not.toHaveProperty('thinking');
    expect(old.dropped).toEqual(['thinking', 'output_config.effort']);
    const unknown = sent(dialect, callOfBody(text, { model: 'house-model' }));
    expect(unknown.text).toBe(`${text.slice(0, -1)},"model":"house-model"}`);
    const level = sent(dialect, callOfBody(text, { model: 'claude-opus-4-6' }));
    expect(level.at('output_config.effort')).toBe('high');
  });

  it('and sampling, and limits, give way where the model is known to refuse them', () => {
    const text = asked({ temperature: 0.2, top_k: 5, max_tokens: 100_000 });
    const { body, dropped } = sent(
      dialect,
      callOfBody(text, { model: 'claude-opus-4-7', maxOutputTokens: 64_000 }),
    );
    expect(body).toEqual({ max_tokens: 64_000, messages: [user('q')], model: 'claude-opus-4-7' });
    expect(dropped).toEqual(['max_tokens', 'temperature', 'top_k']);
    const fine = sent(dialect, callOfBody(text));
    expect(fine.body).toMatchObject({ temperature: 0.2, top_k: 5, max_tokens: 100_000 });
  });

  it.each([
    ['claude-sonnet-4-5', false],
    ['claude-opus-4-1-20250805', false],
    ['claude-sonnet-4-20250514', true],
    ['house-model', true],
  ])('and top_p beside a temperature, which %s refuses or not', (model, takesBoth) => {
    const text = asked({ temperature: 0.2, top_p: 0.9 });
    const { body, dropped } = sent(dialect, callOfBody(text, { model }));
    expect(body).toMatchObject({ temperature: 0.2, ...(takesBoth ? { top_p: 0.9 } : {}) });
    expect(dropped).toEqual(takesBoth ? [] : ['top_p']);
    const alone = sent(dialect, callOfBody(asked({ top_p: 0.9, temperature: null }), { model }));
    expect([alone.body['top_p'], alone.dropped]).toEqual([0.9, []]);
  });

  it("and the target's own sampling where the client asks for a version without", () => {
    const clientHeaders = { 'anthropic-version': '2026-10-21' };
    const call = owning(callOfBody(asked({}), { clientHeaders }), { temperature: 0.2, top_k: 5 });
    const { body, dropped } = sent(dialect, call);
    expect(body).not.toHaveProperty('temperature');
    expect(dropped).toEqual(['temperature', 'top_k']);
    const old = { ...call, clientHeaders: { 'anthropic-version': '2023-06-01' } };
    expect(sent(dialect, old).body).toMatchObject({ temperature: 0.2, top_k: 5 });
  });

  it('and a thinking budget that a lowered limit leaves no room for', () => {
    const thinking = { type: 'enabled', budget_tokens: 32_000 };
    const text = asked({ max_tokens: 64_000, thinking });
    const told = (maxOutputTokens: number) => {
      const { body, dropped } = sent(dialect, callOfBody(text, { maxOutputTokens }));
      return [body['max_tokens'], body['thinking'], dropped];
    };
    const lowered = ['max_tokens', 'thinking.budget_tokens'];
    expect(told(32_000)).toEqual([32_000, { ...thinking, budget_tokens: 16_000 }, lowered]);
    expect(told(2000)).toEqual([2000, undefined, [...lowered, 'thinking']]);
    expect(told(48_000)).toEqual([48_000, thinking, ['max_tokens']]);
  });

  it.each([
    ['claude-opus-4-7', 'It begins', true],
    ['claude-opus-4-7', [{ type: 'text', text: 'It begins' }], true],
    [
      'claude-opus-4-7',
      [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }],
      false,
    ],
    ['claude-sonnet-4-5', 'It begins', false],
    ['house-model', 'It begins', false],
  ])(
    'and a last turn of the assistant, where %s refuses to go on with it: %j',
    (model, content, isEnded) => {
      const messages = [user('q'), { role: 'assistant', content }];
      const { body, dropped } = sent(dialect, callOfBody(asked({ messages }), { model }));
      const behind = { role: 'user', content: [{ type: 'text', text: 'Continue.' }] };
      expect(body['messages']).toEqual(isEnded ? [...messages, behind] : messages);
      expect(dropped).toEqual(isEnded ? ['prefill'] : []);
    },
  );
});
