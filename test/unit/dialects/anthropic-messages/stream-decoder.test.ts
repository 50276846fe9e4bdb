import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../../src/chat/stream-event.ts';
import { MessageReader } from '../../../../src/dialects/anthropic-messages/message-reader.ts';
import { anthropicMessagesUpstream as dialect } from '../../../../src/dialects/anthropic-messages/upstream.ts';

type Event = { readonly type: string; readonly [key: string]: unknown };

function bytesOf(...events: readonly Event[]): Buffer {
  return Buffer.from(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  );
}

function parts(bytes: Buffer, eventBytesMax = 1_000_000) {
  const decoder = dialect.streamDecoder({ eventBytesMax });
  return [...decoder.push(bytes), ...decoder.end()];
}

function events(...sent: readonly Event[]): readonly ChatEvent[] {
  return parts(bytesOf(...sent)).flatMap((part) => part.events);
}

const usage = { input_tokens: 5, output_tokens: 1 };
const start = (id = 'msg_1') => ({ type: 'message_start', message: { id, model: 'm', usage } });
const opened = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, piece: object) => ({
  type: 'content_block_delta',
  index,
  delta: piece,
});
const stopped = (index: number) => ({ type: 'content_block_stop', index });
const text = (words: string) => delta(0, { type: 'text_delta', text: words });
const finish = (stop_reason: string) => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage: { output_tokens: 9 },
});
const stop = { type: 'message_stop' };

describe('a stream', () => {
  it('is told as events, each with the frame it came in', () => {
    const sent = [
      start(),
      opened(0, { type: 'text', text: '' }),
      text('a'),
      stopped(0),
      finish('end_turn'),
      stop,
    ];
    const bytes = bytesOf(...sent);
    const decoded = parts(bytes);
    expect(decoded.flatMap((part) => part.events)).toEqual([
      { type: 'start', id: 'msg_1', model: 'm' },
      { type: 'usage', usage: expect.objectContaining({ inputTokens: 5, outputTokens: 1 }) },
      { type: 'text', choice: 0, text: 'a' },
      { type: 'finish', choice: 0, reason: 'stop', raw: 'end_turn' },
      { type: 'usage', usage: expect.objectContaining({ inputTokens: 5, outputTokens: 9 }) },
      { type: 'end' },
    ]);
    expect(decoded.every((part) => part.frame?.dialect === 'anthropic-messages')).toBe(true);
    expect(Buffer.concat(decoded.map((part) => part.frame?.bytes ?? Buffer.alloc(0)))).toEqual(
      bytes,
    );
  });

  it('TR-19 gives a call without pieces the arguments {}, once', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} };
    const empty = delta(0, { type: 'input_json_delta', partial_json: '' });
    expect(events(opened(0, call), empty, stopped(0), finish('tool_use'))).toEqual([
      { type: 'tool_call_start', choice: 0, index: 0, id: 'toolu_1', name: 'now' },
      { type: 'tool_call_arguments', choice: 0, index: 0, fragment: '{}' },
      { type: 'tool_call_end', choice: 0, index: 0 },
      { type: 'finish', choice: 0, reason: 'tool_calls', raw: 'tool_use' },
      expect.objectContaining({ type: 'usage' }),
    ]);
  });

  it('tells calls one after another, also when their pieces interleave', () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: id, input: {} });
    const piece = (index: number, partial_json: string) =>
      delta(index, { type: 'input_json_delta', partial_json });
    const told = events(
      opened(0, call('a')),
      opened(1, call('b')),
      piece(1, '{"y":'),
      piece(0, '{}'),
      stopped(1),
      stopped(0),
    );
    expect(told.map((event) => [event.type, 'index' in event ? event.index : null])).toEqual([
      ['tool_call_start', 0],
      ['tool_call_arguments', 0],
      ['tool_call_end', 0],
      ['tool_call_start', 1],
      ['tool_call_arguments', 1],
      ['tool_call_end', 1],
    ]);
  });

  it('holds back only so much of a later call', () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: id, input: {} });
    const reader = new MessageReader();
    reader.read(opened(0, call('a')));
    reader.read(opened(1, call('b')));
    const partial_json = 'x'.repeat(9_000_000);
    const piece = delta(1, { type: 'input_json_delta', partial_json });
    expect(reader.read(piece).events).toEqual([]);
    expect(reader.read(piece).events).toEqual([{ type: 'malformed' }, { type: 'malformed' }]);
  });

  it('gives the client the names that were written in another spelling', () => {
    const [called] = events(
      opened(0, { type: 'tool_use', id: 'a', name: 'tgn_ns-2ef', input: {} }),
    );
    expect(called).toMatchObject({ name: 'ns.f' });
  });

  it('ends a thought with its signature, and tells a redacted one whole', () => {
    expect(
      events(
        opened(0, { type: 'thinking', thinking: '', signature: '' }),
        delta(0, { type: 'thinking_delta', thinking: 't' }),
        delta(0, { type: 'signature_delta', signature: 'S' }),
        stopped(0),
        opened(1, { type: 'redacted_thinking', data: 'R' }),
        stopped(1),
      ),
    ).toEqual([
      { type: 'reasoning', choice: 0, text: 't' },
      { type: 'activity', isProgress: true },
      { type: 'reasoning_end', choice: 0, signature: 'S', redacted: null, dialect: dialect.name },
      { type: 'reasoning_end', choice: 0, signature: null, redacted: 'R', dialect: dialect.name },
    ]);
  });

  it('TR-18 states usage as totals, each time anew, never added', () => {
    const message = {
      id: 'm',
      model: 'm',
      usage: { input_tokens: 27, cache_read_input_tokens: 10, output_tokens: 1 },
    };
    const last = { input_tokens: 27, cache_read_input_tokens: 10, output_tokens: 15 };
    const told = events(
      { type: 'message_start', message },
      { type: 'message_delta', delta: {}, usage: last },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: last },
    );
    expect(told.filter((event) => event.type === 'usage').at(-1)).toEqual({
      type: 'usage',
      usage: {
        inputTokens: 37,
        outputTokens: 15,
        cachedTokens: 10,
        cacheWriteTokens: null,
        reasoningTokens: null,
      },
    });
  });

  it('ST-07 takes an error for one, and an unknown event for a sign of life', () => {
    const error = { type: 'error', error: { type: 'api_error', message: 'x' } };
    expect(events(start(), error, { type: 'brand_new_event' }).slice(2)).toEqual([
      { type: 'error', status: null, body: error },
      { type: 'activity', isProgress: false, unknown: 'brand_new_event' },
    ]);
  });

  it('ST-07 adds no end of its own', () => {
    expect(events(start(), text('a')).some((event) => event.type === 'end')).toBe(false);
  });

  it('counts the work of the provider’s own tools as progress, a ping not', () => {
    const told = events(
      { type: 'ping' },
      opened(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"q":1}' }),
    );
    expect(told).toEqual([
      { type: 'activity', isProgress: false },
      { type: 'omitted', choice: 0, name: 'provider_tools' },
      { type: 'activity', isProgress: true },
    ]);
  });

  it('passes over a second start of the same message, bytes and all', () => {
    const decoded = parts(bytesOf(start(), start(), text('a')));
    expect(decoded[1]).toEqual({ events: [{ type: 'activity', isProgress: false }], frame: null });
  });

  it('fails when another message starts after content: what was said cannot be taken back', () => {
    const told = events(start('one'), text('a'), start('two'), text('b'), finish('end_turn'), stop);
    expect(told.slice(2)).toEqual([
      { type: 'text', choice: 0, text: 'a' },
      { type: 'error', status: null, body: expect.objectContaining({ type: 'error' }) },
      ...Array.from({ length: 3 }, () => ({ type: 'activity', isProgress: false })),
    ]);
  });

  it('names the model that took over', () => {
    const told = events(start(), opened(0, { type: 'fallback', to: { model: 'other' } }));
    expect(told.at(-2)).toEqual({ type: 'start', id: 'msg_1', model: 'other' });
  });

  it('skips an event that is no JSON, and gives up on one that is too large', () => {
    const broken = Buffer.from('event: x\ndata: {"type":\n\n');
    expect(parts(broken)).toEqual([{ events: [{ type: 'malformed' }], frame: null }]);
    const large = bytesOf(start(), text('x'.repeat(300)), text('y'));
    const told = parts(large, 200).flatMap((part) => part.events);
    expect(told.filter((event) => event.type === 'malformed')).toHaveLength(2);
    expect(told.some((event) => event.type === 'text')).toBe(false);
  });
});

describe('a whole reply', () => {
  it('is told as the events that it would have been streamed as', () => {
    const body = {
      id: 'msg_1',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 't', signature: 'S' },
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 'x', name: 'f', input: { n: 'N' } },
      ],
      stop_reason: 'tool_use',
      usage,
    };
    const bytes = Buffer.from(JSON.stringify(body).replace('"N"', '12345678901234567890'));
    const told = dialect.decodeReply(bytes).flatMap((part) => part.events);
    expect(told.filter((event) => event.type !== 'usage')).toEqual([
      { type: 'start', id: 'msg_1', model: 'm' },
      { type: 'reasoning', choice: 0, text: 't' },
      { type: 'reasoning_end', choice: 0, signature: 'S', redacted: null, dialect: dialect.name },
      { type: 'text', choice: 0, text: 'a' },
      { type: 'tool_call_start', choice: 0, index: 0, id: 'x', name: 'f' },
      { type: 'tool_call_arguments', choice: 0, index: 0, fragment: '{"n":12345678901234567890}' },
      { type: 'tool_call_end', choice: 0, index: 0 },
      { type: 'finish', choice: 0, reason: 'tool_calls', raw: 'tool_use' },
      { type: 'end' },
    ]);
  });
});

describe('what no service should send', () => {
  it.each([{ name: 'look' }, { id: 'c', name: '' }, { id: '', name: 'look' }, {}])(
    'the call %j is lost, and so is the answer',
    (call) => {
      const sent = [start(), opened(0, { type: 'tool_use', ...call }), finish('tool_use'), stop];
      const malformed = events(...sent).filter(({ type }) => type === 'malformed');
      expect(malformed).toHaveLength(2);
    },
  );

  it('an empty id is none', () => {
    expect(events(start(''))[0]).toEqual({ type: 'start', id: null, model: 'm' });
  });

  it('an empty stop_reason is no finish', () => {
    const said = events(start(), text('a'), finish(''), stop);
    expect(said.some(({ type }) => type === 'finish')).toBe(false);
  });
});
