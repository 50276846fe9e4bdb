/** What of a stream the fixtures do not show: frames, signs of life, bounds. */
import { describe, expect, it } from 'vitest';
import { ReplyCollector } from '../../../../src/chat/reply.ts';
import type { ChatEvent, StreamPart } from '../../../../src/chat/stream-event.ts';
import { openaiResponsesUpstream as dialect } from '../../../../src/dialects/openai-responses/upstream.ts';

type Json = { readonly [key: string]: unknown };

function frame(event: Json): string {
  return `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;
}

function decode(text: string, eventBytesMax = 1 << 20): readonly StreamPart[] {
  const decoder = dialect.streamDecoder({ eventBytesMax });
  return [...decoder.push(Buffer.from(text)), ...decoder.end()];
}

function eventsOf(...events: readonly Json[]): readonly ChatEvent[] {
  return decode(events.map(frame).join('')).flatMap((part) => part.events);
}

function said(...events: readonly Json[]): readonly ChatEvent[] {
  return eventsOf(...events).filter(({ type }) => type !== 'activity');
}

const created = { type: 'response.created', response: { id: 'resp_1', model: 'm' } };
const delta = (text: string, place: Json = { output_index: 0, content_index: 0 }) => ({
  type: 'response.output_text.delta',
  ...place,
  delta: text,
});
const done = (output_index: number, item: Json) => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const added = (output_index: number, item: Json) => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
const completed = { type: 'response.completed', response: { status: 'completed', output: [] } };

it('two messages of one answer are told as one text, as the vendor joins them in output_text', () => {
  const message = (text: string, phase: string) => ({
    type: 'message',
    phase,
    content: [{ type: 'output_text', text }],
  });
  const events = said(
    created,
    done(0, message('Let me look.', 'commentary')),
    done(1, { type: 'web_search_call', status: 'completed' }),
    done(2, message('It is **late**.', 'final_answer')),
    completed,
  );
  const texts = events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
  expect(texts.join('')).toBe('Let me look.It is **late**.');
});

describe('a frame', () => {
  it('is passed on byte for byte, also of events that nobody here knows', () => {
    const frames = [
      frame(created),
      'event: response.odd\r\ndata: {"type":"response.odd", "x":1.0}\r\n\r\n',
      `data: ${JSON.stringify(delta('hi'))}\n\n`,
      frame({ type: 'response.web_search_call.searching', output_index: 1 }),
      frame(completed),
    ];
    const parts = decode(frames.join(''));
    expect(parts.map((part) => part.frame?.bytes.toString())).toEqual(frames);
    expect(parts.every((part) => part.frame?.dialect === 'openai-responses')).toBe(true);
  });

  it('is not passed on where it is noise, an error, or behind the end', () => {
    const error = { type: 'error', error: { type: 'server_error', message: 'm' } };
    const cases = [
      ': comment\n\n',
      'data: [DONE]\n\n',
      'data: {"cut\n\n',
      'data: 7\n\n',
      frame(error),
      frame({ type: 'error', error: { code: 'odd' } }),
      frame({ type: 'response.failed', response: { status: 'failed' } }),
    ];
    for (const text of cases) expect(decode(text).every((part) => part.frame === null)).toBe(true);
    expect(decode(frame(completed) + frame(delta('late'))).at(-1)?.frame).toBeNull();
  });
});

describe('signs of life', () => {
  it.each<readonly [string, boolean]>([
    ['response.in_progress', false],
    ['keepalive', false],
    ['response.web_search_call.searching', true],
    ['response.code_interpreter_call_code.delta', true],
    ['response.mcp_call_arguments.delta', true],
    ['response.image_generation_call.partial_image', true],
    ['response.output_text.annotation.added', true],
    ['response.tomorrow', false],
  ])('%s: progress %s', (type, isProgress) => {
    expect(eventsOf({ type, output_index: 0 })).toMatchObject([{ type: 'activity', isProgress }]);
  });

  it('are items of the provider: they begin and end', () => {
    const item = { type: 'web_search_call', id: 'ws_1' };
    const working = { type: 'activity', isProgress: true };
    const omitted = { type: 'omitted', choice: 0, name: 'provider_tools' };
    expect(eventsOf(added(0, item), done(0, item))).toEqual([working, omitted]);
  });
});

describe('the start', () => {
  it('is told once, by the first event that names the answer', () => {
    const again = { type: 'response.in_progress', response: { id: 'other', model: 'm2' } };
    const late = { ...completed, response: { ...completed.response, id: 'resp_9', model: 'm' } };
    expect(said(created, again, completed)[0]).toEqual({ type: 'start', id: 'resp_1', model: 'm' });
    expect(said(created, again, late).filter(({ type }) => type === 'start')).toHaveLength(1);
    expect(said(delta('hi'), late).map(({ type }) => type)).toEqual([
      'text',
      'start',
      'finish',
      'end',
    ]);
  });
});

describe('reasoning', () => {
  it('ends with what the item holds when it is done, which is what goes back', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [] };
    const events = said(
      added(0, { ...item, encrypted_content: 'stub' }),
      {
        type: 'response.reasoning_summary_text.delta',
        output_index: 0,
        summary_index: 0,
        delta: 'a',
      },
      done(0, {
        ...item,
        encrypted_content: 'whole',
        summary: [{ type: 'summary_text', text: 'ab' }],
      }),
      delta('hi', { output_index: 1, content_index: 0 }),
    );
    expect(events).toEqual([
      { type: 'reasoning', choice: 0, text: 'a' },
      { type: 'reasoning', choice: 0, text: 'b' },
      {
        type: 'reasoning_end',
        choice: 0,
        signature: 'whole',
        redacted: null,
        dialect: 'openai-responses',
        isBoundToAccount: true,
      },
      { type: 'text', choice: 0, text: 'hi' },
    ]);
  });

  it('of two items is two blocks', () => {
    const collector = new ReplyCollector();
    const item = (text: string) => ({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text }],
      encrypted_content: `e-${text}`,
    });
    for (const event of said(done(0, item('a')), done(1, item('b')))) collector.push(event);
    expect(collector.reply().choices[0]?.reasoning).toMatchObject([
      { text: 'a', signature: 'e-a' },
      { text: 'b', signature: 'e-b' },
    ]);
  });

  it('that goes on behind the text is a block of its own', () => {
    const reason = (text: string) => ({
      type: 'response.reasoning_text.delta',
      output_index: 0,
      content_index: 0,
      delta: text,
    });
    expect(
      said(reason('a'), delta('hi', { output_index: 1, content_index: 0 }), reason('b')).map(
        ({ type }) => type,
      ),
    ).toEqual(['reasoning', 'reasoning_end', 'text', 'reasoning']);
  });
});

describe('a call', () => {
  it('is told as it grows, and completed from its full form', () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '' };
    const grow = (text: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      delta: text,
    });
    expect(said(added(0, item), grow('{"a"'), done(0, { ...item, arguments: '{"a":1}' }))).toEqual([
      { type: 'tool_call_start', choice: 0, index: 0, id: 'c', name: 'f' },
      { type: 'tool_call_arguments', choice: 0, index: 0, fragment: '{"a"' },
      { type: 'tool_call_arguments', choice: 0, index: 0, fragment: ':1}' },
      { type: 'tool_call_end', choice: 0, index: 0 },
    ]);
  });

  it('TR-03 whose name was mapped has its own again', () => {
    const item = { type: 'function_call', call_id: 'c', name: 'tgn_a-2eb', arguments: '{}' };
    expect(said(done(0, item))[0]).toMatchObject({ type: 'tool_call_start', name: 'a.b' });
  });

  it('without an id of its own takes the id of its item', () => {
    const item = { type: 'function_call', id: 'fc_1', name: 'f', arguments: '{}' };
    expect(said(done(0, item))[0]).toMatchObject({ id: 'fc_1' });
  });

  it('under the place of another ends that one', () => {
    const item = (call_id: string) => ({
      type: 'function_call',
      call_id,
      name: 'f',
      arguments: '',
    });
    const calls = said(added(0, item('a')), added(0, item('b')), completed);
    expect(calls.filter(({ type }) => type === 'tool_call_end')).toHaveLength(2);
  });
});

describe('bounds', () => {
  it('hold for places that no answer has', () => {
    for (const place of [-1, 0.5, 1e9]) {
      expect(said(delta('x', { output_index: place, content_index: 0 }))).toEqual([
        { type: 'malformed' },
      ]);
      expect(said(delta('x', { output_index: 0, content_index: place }))).toEqual([
        { type: 'malformed' },
      ]);
    }
  });

  it('hold for one event', () => {
    expect(decode(frame(delta('x'.repeat(500))), 200).flatMap((part) => part.events)).toEqual([
      { type: 'malformed' },
      { type: 'malformed' },
    ]);
  });

  it('hold for what is kept to fill in pieces that were left out: beyond it nothing is filled in', () => {
    const big = 'x'.repeat(5 * 1024 * 1024);
    const full = { type: 'response.output_text.done', output_index: 0, content_index: 0 };
    const events = decode(
      frame(delta(big)) + frame({ ...full, text: `${big} and more` }),
      32 * 1024 * 1024,
    ).flatMap((part) => part.events);
    expect(events.filter(({ type }) => type === 'text')).toHaveLength(1);
  });

  it('a text that was told otherwise than its full form says is left as it was told', () => {
    const full = {
      type: 'response.output_text.done',
      output_index: 0,
      content_index: 0,
      text: 'abc',
    };
    expect(said(delta('xyz'), full)).toEqual([{ type: 'text', choice: 0, text: 'xyz' }]);
  });
});

describe('errors', () => {
  it('say what they would have been as answers of their own', () => {
    const facts = (body: unknown) => dialect.readError({ status: null, headers: {}, body });
    expect(facts({ type: 'error', error: { code: 'rate_limit_exceeded', message: 'm' } })).toEqual({
      status: 429,
      code: 'rate_limit_exceeded',
      type: null,
      param: null,
      message: 'm',
      reasons: [],
      upstreamRequestId: null,
      isKnownShape: true,
    });
    expect(facts({ type: 'error', code: 'server_error', message: 'm', param: 'p' })).toMatchObject({
      status: 500,
      param: 'p',
      message: 'm',
    });
    const failed = { error: { code: 'insufficient_quota', message: 'm' } };
    expect(facts({ type: 'response.failed', response: failed })).toMatchObject({
      status: 429,
      code: 'insufficient_quota',
    });
    expect(facts({ output: [], status: 'failed', ...failed })).toMatchObject({ message: 'm' });
    expect(facts('<html>')).toMatchObject({ isKnownShape: false, code: null });
  });

  it('keep the request id of whoever stands in front', () => {
    const headers = { 'cf-ray': 'ray', 'x-request-id': 'req_1' };
    const facts = dialect.readError({ status: 500, headers, body: {} });
    expect(facts).toMatchObject({ upstreamRequestId: 'req_1', isKnownShape: false });
  });
});
