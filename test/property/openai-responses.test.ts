import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openaiResponsesClient } from '../../src/dialects/openai-responses/client.ts';
import { openaiResponsesUpstream as dialect } from '../../src/dialects/openai-responses/upstream.ts';
import { anyCuts, cutAt, eventsOf, jsonLike, orderFaults } from '../support/decoder-properties.ts';
import { callIn, sent } from '../unit/dialects/upstream-calls.ts';

const types = [
  'response.created',
  'response.in_progress',
  'response.output_item.added',
  'response.output_item.done',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.delta',
  'response.output_text.done',
  'response.refusal.delta',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'response.custom_tool_call_input.delta',
  'response.reasoning_summary_text.delta',
  'response.reasoning_text.delta',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
];
const keys = [
  'type',
  'output_index',
  'content_index',
  'summary_index',
  'item',
  'part',
  'delta',
  'text',
  'arguments',
  'input',
  'call_id',
  'id',
  'name',
  'content',
  'summary',
  'encrypted_content',
  'response',
  'output',
  'status',
  'incomplete_details',
  'reason',
  'usage',
  'error',
  'code',
  'message',
  'input_tokens',
  'output_tokens',
];
const words = ['message', 'reasoning', 'function_call', 'output_text', 'completed', 'failed', 'a'];
const anything = jsonLike(keys, [...types, ...words]);

const index = fc.integer({ min: 0, max: 3 });
const text = fc.string({ unit: 'grapheme', maxLength: 6 });
const item = fc.oneof(
  fc.record({
    type: fc.constantFrom('function_call', 'custom_tool_call'),
    call_id: fc.constantFrom('a', 'b', ''),
    name: fc.constantFrom('f', ''),
    arguments: text,
    input: text,
  }),
  fc.record({
    type: fc.constant('message'),
    content: fc.array(fc.record({ type: fc.constant('output_text'), text }), { maxLength: 2 }),
  }),
  fc.record({
    type: fc.constant('reasoning'),
    summary: fc.array(fc.record({ type: fc.constant('summary_text'), text }), { maxLength: 2 }),
    encrypted_content: fc.option(text),
  }),
  fc.record({ type: fc.constant('web_search_call') }),
);
const likely = fc.oneof(
  fc.record({
    type: fc.constantFrom('response.output_item.added', 'response.output_item.done'),
    output_index: index,
    item,
  }),
  fc.record({
    type: fc.constantFrom(...types.slice(6, 14)),
    output_index: index,
    content_index: index,
    summary_index: index,
    delta: text,
    text,
    arguments: text,
  }),
  fc.constant({ type: 'response.completed', response: { status: 'completed', output: [] } }),
  fc
    .tuple(fc.constantFrom(...types), fc.dictionary(fc.constantFrom(...keys.slice(1)), anything))
    .map(([type, rest]) => ({ ...rest, type })),
);
const streams = fc
  .tuple(fc.array(likely, { maxLength: 30 }), fc.constantFrom('\n', '\r\n', '\r'))
  .map(([events, eol]) =>
    Buffer.from(
      events.map((event) => `event: x${eol}data: ${JSON.stringify(event)}${eol}${eol}`).join(''),
    ),
  );

describe('the openai-responses decoder', () => {
  it('ST-13 ST-17 gives the same events however the bytes are cut', () => {
    fc.assert(
      fc.property(streams, anyCuts, (bytes, cuts) => {
        expect(eventsOf(dialect, cutAt(bytes, cuts))).toEqual(eventsOf(dialect, [bytes]));
      }),
    );
  });

  it('TR-02 keeps calls whole, apart and numbered without gaps, whatever order their pieces come in', () => {
    fc.assert(
      fc.property(streams, (bytes) => {
        const events = eventsOf(dialect, [bytes]);
        expect(orderFaults(events)).toEqual([]);
        const ends = events.filter(({ type }) => type === 'end' || type === 'error');
        expect(ends.length).toBeLessThanOrEqual(1);
        expect(events.filter(({ type }) => type === 'start').length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('throws on nothing that a provider may send', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string().map(Buffer.from)),
        (junk) => {
          eventsOf(dialect, [Buffer.from(junk)]);
          dialect.decodeReply(Buffer.from(junk));
        },
      ),
    );
    fc.assert(
      fc.property(anything, (value) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const [part] = dialect.decodeReply(bytes);
        expect(part?.events.length).toBeGreaterThan(0);
        eventsOf(dialect, [Buffer.concat([Buffer.from('data: '), bytes, Buffer.from('\n\n')])]);
        dialect.readError({ status: null, headers: {}, body: value });
        dialect.hints.bodyDelay(value);
      }),
    );
  });
});

describe('a body of a client of openai-responses', () => {
  it('leaves with all fields that nobody here knows, and its own model', () => {
    const fields = fc.dictionary(
      fc.string({ maxLength: 8 }).map((name) => `x${name}`),
      fc.jsonValue({ maxDepth: 3 }),
      { maxKeys: 5 },
    );
    const part = fields.map((extra) => ({ type: 'input_text', text: 'hi', ...extra }));
    fc.assert(
      fc.property(fields, part, fc.boolean(), (extra, content, isSpaced) => {
        const input = [{ role: 'user', content: [content], ...extra }];
        const json = { ...extra, model: 'a', store: false, input };
        const body = JSON.stringify(json, null, isSpaced ? 2 : 0);
        const call = callIn(openaiResponsesClient, body, { model: 'b' });
        expect(sent(dialect, call).text).toBe(body.replace(/("model": ?)"a"/, '$1"b"'));
      }),
    );
  });
});
