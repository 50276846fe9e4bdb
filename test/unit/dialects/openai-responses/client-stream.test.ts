import { describe, expect, it } from 'vitest';
import type { ChatEvent, FinishReason, StreamPart } from '../../../../src/chat/stream-event.ts';
import { type Usage, unknownUsage } from '../../../../src/chat/usage.ts';
import type { StreamEncoderOptions } from '../../../../src/dialects/dialect.ts';
import { openaiResponsesClient } from '../../../../src/dialects/openai-responses/client.ts';
import { readResponsesStream } from '../../../support/responses-stream.ts';
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
const refusal = (value: string): ChatEvent => ({ type: 'refusal', choice: 0, text: value });
const think = (value: string): ChatEvent => ({ type: 'reasoning', choice: 0, text: value });
const thought = (dialect: string | null, signature: string | null = null): ChatEvent => ({
  type: 'reasoning_end',
  choice: 0,
  signature,
  redacted: null,
  ...(dialect === null ? {} : { dialect }),
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

function encoderWith(change: Partial<StreamEncoderOptions> = {}) {
  return openaiResponsesClient.streamEncoder({ ...options, ...change });
}

function write(events: readonly ChatEvent[], change: Partial<StreamEncoderOptions> = {}): string {
  const encoder = encoderWith(change);
  return events.map((event) => String(encoder.push({ events: [event], frame: null }))).join('');
}

/** Read without a fault. */
function told(stream: string) {
  const read = readResponsesStream(stream);
  expect(read.faults).toEqual([]);
  return read;
}

function typesIn(events: readonly { readonly [key: string]: unknown }[]): readonly string[] {
  return events.map(({ type }) => String(type).replace(/^response\./, ''));
}

describe('a stream of another dialect', () => {
  it('tells each item from its beginning to its whole', () => {
    const read = told(
      write([
        start,
        think('hm'),
        think('m'),
        thought(null),
        text('Hel'),
        text('lo'),
        ...tool(0, '{"a"', ':1}'),
        { type: 'usage', usage },
        finish('tool_calls'),
        end,
      ]),
    );
    expect(typesIn(read.events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    expect(read.output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'hmm' }] },
      { type: 'message', status: 'completed', content: [{ text: 'Hello' }] },
      { type: 'function_call', call_id: 'call_0', name: 'f', arguments: '{"a":1}' },
    ]);
    expect(read.output[0]).not.toHaveProperty('encrypted_content');
    expect(read.response).toMatchObject({
      id: 'resp_chatcmpl-1',
      model: 'm-1',
      created_at: 77,
      status: 'completed',
      usage: { input_tokens: 13, output_tokens: 2, total_tokens: 15 },
    });
  });

  it('a refusal after text is another part of the same message', () => {
    const read = told(write([start, text('a'), refusal('no'), text('b'), finish(), end]));
    expect(read.output).toMatchObject([
      { content: [{ text: 'a' }, { type: 'refusal', refusal: 'no' }, { text: 'b' }] },
    ]);
  });

  it('a call without a word has empty arguments', () => {
    const read = told(write([start, ...tool(0), finish('tool_calls'), end]));
    expect(read.output).toMatchObject([{ arguments: '{}', status: 'completed' }]);
  });

  it('an answer without a word is an empty one', () => {
    expect(told(write([end])).response).toMatchObject({ id: 'resp_own', output: [], usage: null });
  });

  it.each([
    ['stop', null, 'completed', null, 'completed'],
    ['tool_calls', null, 'completed', null, 'completed'],
    ['length', 'MAX', 'incomplete', 'max_output_tokens', 'incomplete'],
    ['content_filter', 'SAFETY', 'incomplete', 'content_filter', 'incomplete'],
    ['paused', 'pause_turn', 'incomplete', 'pause_turn', 'completed'],
    ['other', 'odd', 'incomplete', 'odd', 'incomplete'],
    ['other', null, 'incomplete', 'other', 'incomplete'],
    ['error', 'MALFORMED', 'failed', null, 'incomplete'],
  ] as const)('the finish %s (%s) is %s (%s), its item %s', (reason, raw, status, why, item) => {
    const read = told(write([start, text('a'), finish(reason, raw), end]));
    expect(read.response).toMatchObject({
      status,
      incomplete_details: why === null ? null : { reason: why },
      output: [{ status: item }],
    });
  });

  it('a call that the limit cut off keeps what came of it', () => {
    const cut = [start, ...tool(0, '{"a').slice(0, -1), finish('length'), end];
    expect(told(write(cut)).output).toMatchObject([{ arguments: '{"a', status: 'incomplete' }]);
  });

  it('is not whole either where its end was told before the limit was', () => {
    const cut = [start, ...tool(0, '{"a'), ...tool(1, '{}'), finish('length'), end];
    expect(told(write(cut)).output).toMatchObject([
      { arguments: '{"a', status: 'incomplete' },
      { arguments: '{}', status: 'completed' },
    ]);
  });

  it('a second choice has no place', () => {
    const other: ChatEvent = { type: 'text', choice: 1, text: 'other' };
    expect(write([start, text('a'), other, finish(), end])).not.toContain('other');
  });

  it("carries a thought's signature under a mark of its own, or the thought that is nothing else", () => {
    const read = told(
      write([start, think('hm'), thought('anthropic-messages', 'S'), thought('x', 'T'), end]),
    );
    expect(read.output).toMatchObject([
      { summary: [{ text: 'hm' }], encrypted_content: expect.stringMatching(/^tgr_/) },
      { summary: [], encrypted_content: expect.stringMatching(/^tgr_/) },
    ]);
    expect(told(write([start, thought(null, 'S'), end])).output).toEqual([]);
  });

  it('repeats what was asked', () => {
    const body = { instructions: 'i', tools: [{ type: 'function', name: 'f' }], input: 'secret' };
    const decoded = openaiResponsesClient.decodeRequest(Buffer.from(JSON.stringify(body)));
    if (!decoded.ok) throw new Error(decoded.fault.message);
    const { request } = decoded.value;
    const written = write([start, finish(), end], { request });
    expect(told(written).response).toMatchObject({ instructions: 'i', tools: [{ name: 'f' }] });
    expect(written).not.toContain('secret');
  });

  it('ends with the extra object where it is wanted', () => {
    const written = write([start, end], { meta: () => ({ attempts: 2 }) });
    expect(told(written).events.at(-1)).toMatchObject({ tiergate: { attempts: 2 } });
  });
});

const frame = (type: string, fields: object): Buffer =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
const own = (bytes: Buffer, ...events: readonly ChatEvent[]): StreamPart => ({
  events,
  frame: { dialect: 'openai-responses', bytes },
});
const head = { id: 'resp_9', object: 'response', created_at: 5, model: 'gpt', store: false };
const item = (rest: object) => ({ type: 'message', id: 'msg_9', role: 'assistant', ...rest });
const begun: readonly StreamPart[] = [
  own(
    frame('response.created', {
      sequence_number: 0,
      response: { ...head, status: 'in_progress', custom: 1 },
    }),
    { type: 'start', id: 'resp_9', model: 'gpt' },
  ),
  own(frame('response.in_progress', { sequence_number: 1, response: head })),
  own(frame('response.reasoning_odd', { sequence_number: 2, x: 1 })),
  own(
    frame('response.output_item.added', {
      sequence_number: 3,
      output_index: 0,
      item: item({ status: 'in_progress', content: [] }),
    }),
  ),
  own(
    frame('response.content_part.added', {
      sequence_number: 4,
      output_index: 0,
      content_index: 0,
      item_id: 'msg_9',
      part: { type: 'output_text', text: '', annotations: [] },
    }),
  ),
  own(
    frame('response.output_text.delta', {
      sequence_number: 5,
      output_index: 0,
      content_index: 0,
      item_id: 'msg_9',
      delta: 'Hel',
    }),
    text('Hel'),
  ),
];
const completed = own(
  frame('response.completed', { sequence_number: 6, response: { ...head, status: 'completed' } }),
  finish(),
  end,
);

describe('a stream of this dialect', () => {
  it('passes byte for byte, with events that nobody here knows', () => {
    const encoder = encoderWith();
    for (const part of [...begun, completed]) {
      expect(encoder.push(part)).toBe(part.frame?.bytes);
    }
    expect(encoder.push(own(Buffer.from('data: [DONE]\n\n')))).toBe('');
  });

  it('tells the extra object in its own last event', () => {
    const encoder = encoderWith({ meta: () => ({ attempts: 2 }) });
    for (const part of begun) encoder.push(part);
    const last = String(encoder.push(completed));
    expect(JSON.parse(last.split('data: ')[1] ?? '')).toEqual({
      type: 'response.completed',
      sequence_number: 6,
      response: { ...head, status: 'completed' },
      tiergate: { attempts: 2 },
    });
  });

  it('that another answer goes on with keeps its numbers, its ids and what it has said', () => {
    const encoder = encoderWith();
    const passed = begun.map((part) => String(encoder.push(part))).join('');
    const comment = encoder.join({ from: 'a/b', to: 'c/d' });
    expect(comment).toMatch(/^: /);
    const rest = [start, text('lo'), finish(), end];
    const written = rest.map((event) => String(encoder.push({ events: [event], frame: null })));
    const events = (passed + written.join(''))
      .split('\n\n')
      .filter((block) => block !== '')
      .map((block) => JSON.parse(block.split('data: ')[1] ?? ''));
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    expect(typesIn(events.slice(6))).toEqual([
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    expect(events.slice(6, 10).every((event) => event.output_index === 0)).toBe(true);
    expect(events.at(-1).response).toMatchObject({
      id: 'resp_9',
      custom: 1,
      status: 'completed',
      output: [{ id: 'msg_9', content: [{ text: 'Hello' }] }],
    });
  });

  it('is gone on with by an answer of its own dialect as by any other', () => {
    const encoder = encoderWith();
    for (const part of begun) encoder.push(part);
    encoder.join({ from: 'a', to: 'b' });
    const again = String(encoder.push(own(frame('response.created', { response: head }), start)));
    expect(again).toBe('');
    expect(String(encoder.push(own(frame('x.delta', {}), text('lo'))))).toContain('"delta":"lo"');
  });
});

describe('an answer that breaks', () => {
  const failure = failureWith({ message: 'It broke.', failureClass: 'stream_interrupted' });

  it('says so in both forms of an error event and ends failed, with what had been said', () => {
    const encoder = encoderWith();
    const before = [start, text('a'), ...tool(0, '{}')]
      .map((event) => String(encoder.push({ events: [event], frame: null })))
      .join('');
    const read = told(before + encoder.fail(failure));
    expect(typesIn(read.events.slice(-2))).toEqual(['error', 'failed']);
    expect(read.error).toMatchObject({
      code: 'stream_interrupted',
      message: 'It broke. (request req-1)',
      tiergate: { class: 'stream_interrupted', request_id: 'req-1' },
    });
    expect(read.response).toMatchObject({
      status: 'failed',
      error: { code: 'stream_interrupted', message: 'It broke. (request req-1)' },
      output: [{ type: 'message' }, { type: 'function_call' }],
    });
    expect(encoder.push({ events: [text('b')], frame: null })).toBe('');
    expect(encoder.fail(failure)).toBe('');
  });

  it('before its beginning begins all the same', () => {
    const read = told(encoderWith().fail(failure));
    expect(typesIn(read.events)).toEqual(['created', 'in_progress', 'error', 'failed']);
  });
});
