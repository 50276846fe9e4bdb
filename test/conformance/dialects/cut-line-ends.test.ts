/** A stream in a client's own dialect reaches it byte for byte, wherever the network cut it. */
import { describe, expect, it } from 'vitest';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';

/** Events as each vendor writes them, lines apart; a dialect whose streams are no lines is not listed. */
const streams: { readonly [dialect: string]: readonly string[] } = {
  'openai-chat': [
    'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}',
    '',
    'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"é 🌍"},"finish_reason":null}]}',
    '',
    'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
    '',
    'data: [DONE]',
    '',
    '',
  ],
  'anthropic-messages': [
    'event: message_start',
    'data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}',
    '',
    'event: content_block_start',
    'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    '',
    'event: ping',
    'data: {"type":"ping"}',
    '',
    'event: content_block_delta',
    'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é 🌍"}}',
    '',
    'event: content_block_stop',
    'data: {"type":"content_block_stop","index":0}',
    '',
    'event: message_delta',
    'data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}',
    '',
    'event: message_stop',
    'data: {"type":"message_stop"}',
    '',
    '',
  ],
  gemini: [
    'data: {"candidates":[{"content":{"parts":[{"text":"é 🌍"}],"role":"model"},"index":0}],"modelVersion":"m","responseId":"r1"}',
    '',
    'data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"modelVersion":"m","responseId":"r1"}',
    '',
    '',
  ],
};

const options = { includeUsage: false, fallbackId: 'f', createdAtSeconds: 1, meta: null };

/** What reaches the client, read by read. */
function passed(name: string, pieces: readonly Buffer[]): readonly string[] {
  const upstream = upstreamDialects.get(name);
  const client = clientDialects.get(name);
  if (upstream === undefined || client === undefined) throw new Error(`no dialect ${name}`);
  const decoder = upstream.streamDecoder({ eventBytesMax: 1 << 20 });
  const encoder = client.streamEncoder(options);
  const reads = [...pieces.map((piece) => decoder.push(piece)), decoder.end()];
  return reads.map((parts) => parts.map((part) => encoder.push(part).toString()).join(''));
}

describe.each(Object.entries(streams))('%s passed through', (name, lines) => {
  it.each(['\n', '\r\n', '\r'])('ST-14 keeps every byte at every cut, line end %j', (lineEnd) => {
    const bytes = Buffer.from(lines.join(lineEnd));
    for (let at = 1; at < bytes.length; at += 1) {
      const reads = passed(name, [bytes.subarray(0, at), bytes.subarray(at)]);
      expect(reads.join('')).toBe(bytes.toString());
    }
    const single = [...bytes].map((byte) => Buffer.from([byte]));
    expect(passed(name, single).join('')).toBe(bytes.toString());
  });

  it.each(['\n', '\r\n', '\r'])(
    'ST-14 leaves no line end half written between two reads, line end %j',
    (lineEnd) => {
      const bytes = Buffer.from(lines.join(lineEnd));
      for (let at = 1; at < bytes.length; at += 1) {
        const [first = ''] = passed(name, [bytes.subarray(0, at), bytes.subarray(at)]);
        expect(first === '' || first.endsWith(lineEnd.repeat(2))).toBe(true);
      }
    },
  );
});
