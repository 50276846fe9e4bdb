import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicMessagesUpstream as dialect } from '../../src/dialects/anthropic-messages/upstream.ts';
import { anyCuts, cutAt, eventsOf, jsonLike, orderFaults } from '../support/decoder-properties.ts';

const keys = [
  'type',
  'index',
  'delta',
  'content_block',
  'message',
  'usage',
  'text',
  'thinking',
  'signature',
  'partial_json',
  'id',
  'name',
  'input',
  'stop_reason',
  'error',
  'content',
  'model',
  'data',
  'input_tokens',
  'output_tokens',
  'iterations',
  'details',
  'error_code',
  'to',
];
const words = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'server_tool_use',
  'fallback',
  'text_delta',
  'input_json_delta',
  'thinking_delta',
  'signature_delta',
  'end_turn',
  'tool_use',
  'a',
  'b',
];
const anything = jsonLike(keys, words);

/** Events with their right type, whose insides are anything. */
const anyEvent = fc
  .tuple(
    fc.constantFrom(...words.slice(0, 8)),
    fc.dictionary(fc.constantFrom(...keys.slice(1)), anything),
  )
  .map(([type, rest]) => ({ ...rest, type }));

const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.constant('') }),
  fc.record({ type: fc.constant('thinking'), thinking: fc.constant('') }),
  fc.record({
    type: fc.constant('tool_use'),
    id: fc.string(),
    name: fc.string(),
    input: fc.constant({}),
  }),
);
const piece = fc.oneof(
  fc.record({ type: fc.constant('text_delta'), text: fc.string({ unit: 'grapheme' }) }),
  fc.record({ type: fc.constant('thinking_delta'), thinking: fc.string() }),
  fc.record({ type: fc.constant('input_json_delta'), partial_json: fc.string() }),
);
const index = fc.integer({ min: 0, max: 3 });
const likely = fc.oneof(
  fc.record({ type: fc.constant('content_block_start'), index, content_block: block }),
  fc.record({ type: fc.constant('content_block_delta'), index, delta: piece }),
  fc.record({ type: fc.constant('content_block_stop'), index }),
  fc.constant({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 2 },
  }),
  fc.constant({
    type: 'message_start',
    message: { id: 'm', model: 'm', usage: { input_tokens: 1 } },
  }),
  fc.constant({ type: 'message_stop' }),
  anyEvent,
);
const streams = fc
  .tuple(fc.array(likely, { maxLength: 30 }), fc.constantFrom('\n', '\r\n', '\r'))
  .map(([events, eol]) =>
    Buffer.from(
      events.map((event) => `event: x${eol}data: ${JSON.stringify(event)}${eol}${eol}`).join(''),
    ),
  );

describe('the anthropic-messages decoder', () => {
  it('ST-13 ST-17 gives the same events however the bytes are cut', () => {
    fc.assert(
      fc.property(streams, anyCuts, (bytes, cuts) => {
        expect(eventsOf(dialect, cutAt(bytes, cuts))).toEqual(eventsOf(dialect, [bytes]));
      }),
    );
  });

  it('keeps calls whole, apart and numbered without gaps, whatever order their pieces come in', () => {
    fc.assert(
      fc.property(streams, (bytes) => {
        expect(orderFaults(eventsOf(dialect, [bytes]))).toEqual([]);
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
