import { describe, expect, it } from 'vitest';
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
