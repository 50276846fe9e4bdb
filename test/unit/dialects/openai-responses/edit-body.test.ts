/** Bodies of clients of the dialect, sent to a target of the dialect: edited, not rebuilt. */
import { describe, expect, it } from 'vitest';
import type { UpstreamCall } from '../../../../src/dialects/dialect.ts';
import { openaiResponsesClient } from '../../../../src/dialects/openai-responses/client.ts';
import { openaiResponsesUpstream as dialect } from '../../../../src/dialects/openai-responses/upstream.ts';
import { callIn, type Json, owning, sent } from '../upstream-calls.ts';

const model = 'gpt-5-mini';

function edited(body: Json | string, overrides: Partial<UpstreamCall> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify({ model, input: 'hi', ...body });
  return sent(dialect, callIn(openaiResponsesClient, text, { model, ...overrides }));
}

/** What was left of the items of `input`. */
function itemsOf(
  input: readonly unknown[],
  body: Json = {},
  overrides: Partial<UpstreamCall> = {},
) {
  const { body: written, dropped } = edited({ store: false, input, ...body }, overrides);
  return { items: written['input'], dropped };
}

const hi = { role: 'user', content: 'hi' };
const said = (over: Json = {}) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'well', annotations: [] }],
  ...over,
});
const thought = (over: Json = {}) => ({ type: 'reasoning', summary: [], ...over });
const called = (call_id: string, over: Json = {}) => ({
  type: 'function_call',
  call_id,
  name: 'f',
  arguments: '{}',
  ...over,
});
const output = (call_id: string) => ({ type: 'function_call_output', call_id, output: '1' });

describe('a body', () => {
  it('leaves as it came, byte for byte, but for what the gateway owns', () => {
    const text =
      '{ "model": "fast",\n  "tiergate": {"tags": {}}, "unknown": {"n": 12345678901234567890, "x": 1.0},' +
      ' "input": [ {"role":"user","content":[{"type":"input_text","text":"\\u00e9 \\ud83c\\udf0d"},{"type":"tomorrow"}]} ],' +
      ' "store": false, "stream": true, "stream_options": {"include_obfuscation": false} }';
    const { text: written, dropped } = edited(text);
    expect(written).toBe(
      text
        .replace('"model": "fast"', `"model": "${model}"`)
        .replace('"tiergate": {"tags": {}}, ', ''),
    );
    expect(dropped).toEqual([]);
  });

  it('asks the provider to keep nothing, unless the client says so', () => {
    expect(edited({}).body['store']).toBe(false);
    expect(edited({ store: null }).body['store']).toBe(false);
    expect(edited({ store: true }).body['store']).toBe(true);
    expect(edited({ background: true }).body).not.toHaveProperty('store');
    expect(edited({ previous_response_id: 'resp_1' }).body).not.toHaveProperty('store');
    expect(edited({ conversation: 'conv_1' }).body).not.toHaveProperty('store');
    expect(edited({}, { extraFields: { store: true } }).body['store']).toBe(true);
  });

  it('asks for reasoning that can be sent back where the client counts on it being kept', () => {
    const reasoning = { isReasoningModel: true };
    expect(edited({}, reasoning).body['include']).toEqual(['reasoning.encrypted_content']);
    expect(edited({ include: ['web_search_call.results'] }, reasoning).body['include']).toEqual([
      'web_search_call.results',
      'reasoning.encrypted_content',
    ]);
    expect(edited({ store: false }, reasoning).body).not.toHaveProperty('include');
    expect(edited({ store: true }, reasoning).body).not.toHaveProperty('include');
    expect(edited({}).body).not.toHaveProperty('include');
  });

  it('is a whole reply or a stream as the gateway reads it', () => {
    const streamed = { stream: true, stream_options: { include_obfuscation: true } };
    const whole = edited(streamed, { isStream: false });
    expect(whole.body['stream']).toBe(false);
    expect(whole.body).not.toHaveProperty('stream_options');
    expect(edited({}, { isStream: true }).body['stream']).toBe(true);
  });
});

describe('the model', () => {
  it('that reasons gets no sampling fields: who names a tier cannot know', () => {
    const { body, dropped } = edited(
      { temperature: 0.2, top_p: 1, reasoning: { effort: 'low', summary: 'detailed' } },
      { isReasoningModel: true, efforts: ['low', 'high'] },
    );
    expect(body).not.toHaveProperty('temperature');
    expect(body).not.toHaveProperty('top_p');
    expect(body['reasoning']).toEqual({ effort: 'low', summary: 'detailed' });
    expect(dropped).toEqual(['temperature']);
  });

  it('gets the nearest effort that it knows, or none', () => {
    const asked = { reasoning: { effort: 'xhigh', summary: 'auto' } };
    const near = edited(asked, { isReasoningModel: true, efforts: ['low', 'high'] });
    expect(near.body['reasoning']).toEqual({ effort: 'high', summary: 'auto' });
    expect(near.dropped).toEqual(['reasoning_effort']);
    const none = edited({ ...asked, include: ['reasoning.encrypted_content'] }, { efforts: [] });
    expect(none.body).not.toHaveProperty('reasoning');
    expect(none.body).not.toHaveProperty('include');
    expect(none.dropped).toEqual(['reasoning_effort', 'include']);
    expect(edited(asked).body['reasoning']).toEqual(asked.reasoning);
  });
});

describe('what the gateway owns', () => {
  const call = (body: Json) =>
    callIn(openaiResponsesClient, JSON.stringify({ model, input: 'hi', store: false, ...body }), {
      model,
      isReasoningModel: true,
    });

  it('goes into the fields of the client, which keep the rest', () => {
    const owned = owning(
      call({
        text: { verbosity: 'low' },
        reasoning: { summary: 'detailed' },
        include: ['web_search_call.results'],
        tools: [{ type: 'function', name: 'f', parameters: {} }],
      }),
      {
        max_tokens: 5,
        temperature: 0.5,
        reasoning_effort: 'high',
        response_format: { type: 'json_object' },
        parallel_tool_calls: false,
        logprobs: true,
        seed: 1,
      },
    );
    const { body, dropped } = sent(dialect, owned);
    expect(body).toMatchObject({
      max_output_tokens: 16,
      temperature: 0.5,
      reasoning: { effort: 'high', summary: 'detailed' },
      text: { verbosity: 'low', format: { type: 'json_object' } },
      parallel_tool_calls: false,
      include: ['web_search_call.results', 'message.output_text.logprobs'],
    });
    expect(dropped).toEqual(['seed', 'max_tokens']);
  });

  it('asks for no summary in place of a client that did not', () => {
    const { body } = sent(dialect, owning(call({}), { reasoning_effort: 'high' }));
    expect(body['reasoning']).toEqual({ effort: 'high' });
  });

  it('is not what a target may set', () => {
    const extraFields = { model: 'x', input: 'x', stream: true, truncation: 'auto' };
    expect(edited({}, { extraFields }).body).toMatchObject({
      model,
      input: 'hi',
      truncation: 'auto',
    });
    expect(edited({}, { extraFields }).body).not.toHaveProperty('stream');
  });

  it("is the variant's words, around those of the client", () => {
    const system = { before: 'A "b"', after: 'Z' };
    expect(edited({ instructions: 'own\n' }, { system }).body['instructions']).toBe(
      'A "b"\n\nown\n\n\nZ',
    );
    expect(edited({}, { system }).body['instructions']).toBe('A "b"\n\nZ');
    const leading = [{ role: 'developer', content: 'd' }, hi];
    const { body } = edited({ input: leading }, { system });
    expect(body['instructions']).toBe('A "b"');
    expect(body['input']).toEqual([
      leading[0],
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Z' }] },
      hi,
    ]);
  });

  it("is the variant's descriptions of tools", () => {
    const tools = [
      { type: 'function', name: 'f', description: 'theirs', parameters: {} },
      { type: 'function', name: 'g', parameters: {} },
      { type: 'web_search' },
    ];
    const { body } = edited({ tools }, { toolDescriptions: { f: 'F', g: 'G' } });
    expect(body['tools']).toEqual([
      { ...tools[0], description: 'F' },
      { ...tools[1], description: 'G' },
      tools[2],
    ]);
  });

  it('is the messages that it has added behind those of the client', () => {
    const added = [
      { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'so far' }] },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'go on' }], name: null },
    ];
    for (const input of ['hi "there"', [hi, said()], [hi, thought()]]) {
      const plain = callIn(openaiResponsesClient, JSON.stringify({ model, input }), { model });
      const messages = [...plain.request.messages, ...added];
      const { body } = sent(dialect, { ...plain, request: { ...plain.request, messages } });
      const items = body['input'] as readonly Json[];
      expect(items.slice(-2).map(({ role }) => role)).toEqual(['assistant', 'user']);
      expect(items[0]).toMatchObject({
        role: 'user',
        content: typeof input === 'string' ? input : 'hi',
      });
    }
  });
});

describe('items', () => {
  it('lose ids that nobody keeps anything under, and nothing else', () => {
    const { items } = itemsOf([
      hi,
      thought({ id: 'rs_1', encrypted_content: 'gAAAA', x: 1 }),
      called('call_1', { id: 'fc_1' }),
      output('call_1'),
      said({ id: 'msg_1', status: 'completed', phase: 'final_answer' }),
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      hi,
    ]);
    expect(items).toEqual([
      hi,
      thought({ encrypted_content: 'gAAAA', x: 1 }),
      called('call_1'),
      output('call_1'),
      said({ status: 'completed', phase: 'final_answer' }),
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      hi,
    ]);
  });

  it('keep their ids where the account keeps what they name, but for those that the gateway made', () => {
    const input = [
      hi,
      thought({ id: 'rs_1' }),
      said({ id: 'msg_1' }),
      said({ id: 'msg_tg_0123_0' }),
      { type: 'item_reference', id: 'msg_2' },
    ];
    const { items } = itemsOf(input, { store: true });
    expect(items).toEqual([input[0], input[1], input[2], said(), input[4]]);
  });

  it('R71 of reasoning go to the model that made them alone', () => {
    const own = thought({ encrypted_content: 'gAAAA' });
    const input = [hi, own, said(), hi];
    expect(itemsOf(input).items).toEqual(input);
    expect(itemsOf(input, {}, { usualModel: 'gpt-5-mini-2025-08-07' }).items).toEqual(input);
    expect(itemsOf(input, {}, { usualModel: 'o3' })).toEqual({
      items: [hi, said(), hi],
      dropped: ['reasoning'],
    });
    // Without what is encrypted it stands for what nobody keeps.
    expect(itemsOf([hi, thought({ id: 'rs_1' }), said(), hi]).items).toEqual([hi, said(), hi]);
    // What another vendor signed.
    const carried = thought({ encrypted_content: 'tgr_eyJkIjoieCJ9' });
    expect(itemsOf([hi, carried, said(), hi], { store: true }).items).toEqual([hi, said(), hi]);
  });

  it('TR-03 of calls have ids that are taken, and their outputs with them', () => {
    const long = 'x'.repeat(90);
    const { items } = itemsOf([hi, called(long), output(long), called('call_1'), output('call_1')]);
    const [, call, result, ...rest] = items as readonly Json[];
    expect(call?.['call_id']).toMatch(/^call_[\w-]{24}$/);
    expect(result?.['call_id']).toBe(call?.['call_id']);
    expect(rest).toEqual([called('call_1'), output('call_1')]);
  });

  it('that only refer to a thought are left out and named', () => {
    const { items, dropped } = itemsOf([{ type: 'item_reference', id: 'rs_1' }, hi]);
    expect(items).toEqual([hi]);
    expect(dropped).toEqual(['item_reference']);
  });
});
