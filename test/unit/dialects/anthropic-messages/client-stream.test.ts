import { describe, expect, it } from 'vitest';
import type { ChatEvent, FinishReason, StreamPart } from '../../../../src/chat/stream-event.ts';
import { type Usage, unknownUsage } from '../../../../src/chat/usage.ts';
import { anthropicMessagesClient } from '../../../../src/dialects/anthropic-messages/client.ts';
import { unsignedMark } from '../../../../src/dialects/anthropic-messages/thinking-origin.ts';
import { anthropicMessagesUpstream } from '../../../../src/dialects/anthropic-messages/upstream.ts';
import type { StreamEncoderOptions } from '../../../../src/dialects/dialect.ts';
import { readMessagesStream } from '../../../support/messages-stream.ts';
import { failureWith } from '../openai-chat/request-failure.ts';

const options: StreamEncoderOptions = {
  includeUsage: true,
  fallbackId: 'own',
  createdAtSeconds: 77,
  meta: null,
};
const usage: Usage = { ...unknownUsage, inputTokens: 13, outputTokens: 2, cachedTokens: 10 };
const start: ChatEvent = { type: 'start', id: 'chatcmpl-1', model: 'm-1' };
const text = (value: string): ChatEvent => ({ type: 'text', choice: 0, text: value });
const think = (value: string): ChatEvent => ({ type: 'reasoning', choice: 0, text: value });
const signed = (signature: string | null, redacted: string | null = null): ChatEvent => ({
  type: 'reasoning_end',
  choice: 0,
  signature,
  redacted,
});
const tool = (index: number, ...fragments: readonly string[]): readonly ChatEvent[] => [
  { type: 'tool_call_start', choice: 0, index, id: `call_${index}`, name: 'f' },
  ...fragments.map((fragment): ChatEvent => {
    return { type: 'tool_call_arguments', choice: 0, index, fragment };
  }),
  { type: 'tool_call_end', choice: 0, index },
];
const finish = (reason: FinishReason = 'stop', raw: string | null = null): ChatEvent => ({
  type: 'finish',
  choice: 0,
  reason,
  raw,
});
const end: ChatEvent = { type: 'end' };

function write(parts: readonly StreamPart[], change: Partial<StreamEncoderOptions> = {}): string {
  const encoder = anthropicMessagesClient.streamEncoder({ ...options, ...change });
  return parts.map((part) => encoder.push(part).toString()).join('');
}

function bare(events: readonly ChatEvent[]): readonly StreamPart[] {
  return events.map((event) => ({ events: [event], frame: null }));
}

function decoded(stream: string): readonly StreamPart[] {
  const decoder = anthropicMessagesUpstream.streamDecoder({ eventBytesMax: 1 << 20 });
  return [...decoder.push(Buffer.from(stream)), ...decoder.end()];
}

/** Read without a fault. */
function told(stream: string) {
  const read = readMessagesStream(stream);
  expect(read.faults).toEqual([]);
  return read;
}

const event = (type: string, fields: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const messageStart = (id = 'msg_1'): string =>
  event('message_start', {
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  });
const blockStart = (index: number, content_block: object): string =>
  event('content_block_start', { index, content_block });
const delta = (index: number, fields: object): string =>
  event('content_block_delta', { index, delta: fields });
const blockStop = (index: number): string => event('content_block_stop', { index });
const textBlock = (index: number, value: string): string =>
  blockStart(index, { type: 'text', text: '' }) +
  delta(index, { type: 'text_delta', text: value }) +
  blockStop(index);
const messageEnd = (reason = 'end_turn'): string =>
  event('message_delta', {
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 9 },
  }) + event('message_stop');

describe('events of our own', () => {
  it('are a message: its start, blocks one after another, why it ended and its end', () => {
    const stream = write(
      bare([
        start,
        think('hm'),
        signed('of another vendor'),
        text('he'),
        text('llo'),
        ...tool(0, '{"a":', '1}'),
        ...tool(1),
        { type: 'usage', usage },
        finish('tool_calls'),
        end,
        end,
      ]),
    );
    const read = told(stream);
    expect(read.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: unsignedMark },
      { type: 'text', text: 'hello' },
      { type: 'tool_use', id: 'call_0', name: 'f', input: '{"a":1}' },
      { type: 'tool_use', id: 'call_1', name: 'f', input: '{}' },
    ]);
    expect(read.stopReason).toBe('tool_use');
    expect(read.usage).toMatchObject({
      input_tokens: 3,
      output_tokens: 2,
      cache_read_input_tokens: 10,
    });
    expect(read.events[0]).toMatchObject({
      message: { id: 'msg_chatcmpl-1', model: 'm-1', usage: { input_tokens: 0, output_tokens: 0 } },
    });
    expect(stream).not.toContain('of another vendor');
  });

  it('tell the size of the prompt at once where it is known', () => {
    const stream = write([{ events: [start, { type: 'usage', usage }], frame: null }]);
    expect(readMessagesStream(stream).events[0]).toMatchObject({
      message: { usage: { input_tokens: 3, cache_read_input_tokens: 10 } },
    });
  });

  it('TR-18 wait for the usage that comes behind the finish', () => {
    const read = told(write(bare([start, text('a'), finish(), { type: 'usage', usage }, end])));
    expect(read.usage).toMatchObject({ input_tokens: 3, output_tokens: 2 });
  });

  it('ST-27 let the last finish count', () => {
    const read = told(
      write(bare([start, text('he'), finish(), text('llo'), finish('length'), end])),
    );
    expect(read.content).toEqual([{ type: 'text', text: 'hello' }]);
    expect(read.stopReason).toBe('max_tokens');
  });

  it('end thinking that nobody ended, and show nobody’s redacted blocks', () => {
    const read = told(
      write(bare([start, think('a'), text('b'), signed(null, 'RED'), think('c'), finish(), end])),
    );
    expect(read.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'thinking']);
    expect(JSON.stringify(read.content)).not.toContain('RED');
  });

  it('have a reason also where the provider gave none', () => {
    expect(told(write(bare([start, text('a'), end]))).stopReason).toBe('end_turn');
    expect(told(write(bare([start, ...tool(0), end]))).stopReason).toBe('tool_use');
  });

  it('tell a refusal as text and as the reason', () => {
    const refusal: ChatEvent = { type: 'refusal', choice: 0, text: 'no' };
    const read = told(write(bare([start, refusal, finish(), end])));
    expect(read).toMatchObject({ stopReason: 'refusal', content: [{ type: 'text', text: 'no' }] });
  });

  it('show the first choice alone, and an empty answer as an empty message', () => {
    const other: ChatEvent = { type: 'text', choice: 1, text: 'x' };
    expect(told(write(bare([start, other, finish(), end]))).content).toEqual([]);
    expect(told(write(bare([finish(), end]))).events[0]).toMatchObject({
      message: { id: 'msg_own' },
    });
  });

  it('show that the provider is at work, once the message has begun', () => {
    const work: ChatEvent = { type: 'activity', isProgress: true };
    const read = told(write(bare([work, start, work, text('a'), work, finish(), end])));
    expect(read.events.map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'ping',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('hold what was asked to be told, in the last of them', () => {
    const meta = () => ({ tier: 't' });
    const read = told(write(bare([start, text('a'), finish(), end]), { meta }));
    expect(read.events.at(-1)).toEqual({ type: 'message_stop', tiergate: { tier: 't' } });
  });
});

describe('frames of the dialect', () => {
  const thinking =
    blockStart(0, { type: 'thinking', thinking: '', signature: '' }) +
    delta(0, { type: 'thinking_delta', thinking: 'hm' }) +
    delta(0, { type: 'signature_delta', signature: 'SIG' }) +
    blockStop(0);

  it('ST-12 pass as they are, to the last byte', () => {
    const stream = `: hello\n\n${messageStart()}${event('ping')}${thinking}${textBlock(1, 'a')}${event('brand_new_event')}${messageEnd()}`;
    expect(write(decoded(stream))).toBe(stream);
    const crlf = stream.replaceAll('\n', '\r\n');
    expect(write(decoded(crlf))).toBe(crlf);
  });

  it('get their end where the provider did not send it', () => {
    const stopped = `${messageStart()}${textBlock(0, 'a')}`;
    const delivered = [...decoded(stopped), ...bare([finish(), end])];
    expect(told(write(delivered)).stopReason).toBe('end_turn');
    const finished = stopped + messageEnd().replace(event('message_stop'), '');
    expect(write([...decoded(finished), ...bare([end])])).toBe(finished + event('message_stop'));
    // The last event lacks its blank line.
    const cut = `${stopped}${messageEnd()}`.trimEnd();
    expect(told(write(decoded(cut))).stopReason).toBe('end_turn');
  });

  it('get their name back, without which SDKs pass over them', () => {
    const stream = messageStart() + textBlock(0, 'a') + messageEnd();
    const nameless = stream.replaceAll(/event: \w+\n/g, '');
    expect(write(decoded(nameless))).toBe(stream);
  });

  it('get the meta object into the last data event', () => {
    const stream = messageStart() + textBlock(0, 'a') + messageEnd();
    const read = told(write(decoded(stream), { meta: () => ({ tier: 't' }) }));
    expect(read.events.at(-1)).toEqual({ type: 'message_stop', tiergate: { tier: 't' } });
    expect(read.events.filter(({ type }) => type === 'message_delta')).toHaveLength(1);
  });

  it('ST-09 of a second answer go on in the message and the numbers of the first', () => {
    const first = messageStart() + textBlock(0, 'one ') + blockStart(1, { type: 'text', text: '' });
    const second =
      messageStart('msg_2') + thinking + textBlock(1, 'two') + messageEnd('max_tokens');
    const read = told(write([...decoded(first), ...decoded(second)]));
    expect(read.content).toEqual([
      { type: 'text', text: 'one ' },
      { type: 'text', text: '' },
      { type: 'thinking', thinking: 'hm', signature: 'SIG' },
      { type: 'text', text: 'two' },
    ]);
    expect(read.stopReason).toBe('max_tokens');
  });

  it('ST-09 are followed by another vendor’s answer in the block that is open', () => {
    const first =
      messageStart() +
      blockStart(0, { type: 'text', text: '' }) +
      delta(0, { type: 'text_delta', text: 'one ' });
    const read = told(write([...decoded(first), ...bare([start, text('two'), finish(), end])]));
    expect(read.content).toEqual([{ type: 'text', text: 'one two' }]);
  });

  it('without a beginning are told as a message of our own', () => {
    const read = told(write(decoded(textBlock(0, 'a') + messageEnd())));
    expect(read.content).toEqual([{ type: 'text', text: 'a' }]);
    expect(read.stopReason).toBe('end_turn');
  });

  it('ST-15 hold no malformed event', () => {
    const stream = `${messageStart()}data: {"x\n\n${textBlock(0, 'a')}${messageEnd()}`;
    expect(told(write(decoded(stream))).content).toEqual([{ type: 'text', text: 'a' }]);
  });
});

it('fail is the dialect’s error event, with nothing behind it', () => {
  const encoder = anthropicMessagesClient.streamEncoder(options);
  const opening = encoder.push({ events: [start, text('a')], frame: null }).toString();
  const failure = failureWith({
    failureClass: 'stream_interrupted',
    status: 502,
    regenerate: true,
  });
  const read = readMessagesStream(opening + encoder.fail(failure));
  expect(read.faults).toEqual([]);
  expect(read.error).toMatchObject({
    type: 'api_error',
    message: expect.stringMatching(/\(request req-1\)$/),
    tiergate: { class: 'stream_interrupted', regenerate: true, retryable: false },
  });
  expect(encoder.push({ events: [end], frame: null })).toBe('');
  expect(encoder.fail(failure)).toBe('');
});
