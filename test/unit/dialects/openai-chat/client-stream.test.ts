import { describe, expect, it } from 'vitest';
import type { ChatEvent, StreamPart } from '../../../../src/chat/stream-event.ts';
import { type Usage, unknownUsage } from '../../../../src/chat/usage.ts';
import type { StreamEncoderOptions } from '../../../../src/dialects/dialect.ts';
import { openaiChatClient } from '../../../../src/dialects/openai-chat/client.ts';
import { openaiChatUpstream } from '../../../../src/dialects/openai-chat/upstream.ts';
import { failureWith } from './request-failure.ts';

const options: StreamEncoderOptions = {
  includeUsage: false,
  fallbackId: 'chatcmpl-own',
  createdAtSeconds: 77,
  meta: null,
};
const usage: Usage = { ...unknownUsage, inputTokens: 3, outputTokens: 2, cachedTokens: 1 };
const start: ChatEvent = { type: 'start', id: 'msg_1', model: 'm-1' };
const text = (value: string): ChatEvent => ({ type: 'text', choice: 0, text: value });
const finish = (reason: 'stop' | 'tool_calls' | 'length' = 'stop'): ChatEvent => ({
  type: 'finish',
  choice: 0,
  reason,
  raw: 'raw',
});
const end: ChatEvent = { type: 'end' };

function write(parts: readonly StreamPart[], change: Partial<StreamEncoderOptions> = {}): string {
  const encoder = openaiChatClient.streamEncoder({ ...options, ...change });
  return parts.map((part) => encoder.push(part).toString()).join('');
}

function fromEvents(
  events: readonly ChatEvent[],
  change: Partial<StreamEncoderOptions> = {},
): string {
  return write(
    events.map((event) => ({ events: [event], frame: null })),
    change,
  );
}

/** The data of each event; every line must be JSON or the terminator. */
function dataIn(stream: string) {
  return stream
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const data = block.replace(/^data: /, '');
      return data === '[DONE]' ? data : JSON.parse(data);
    });
}

function decoded(stream: string): readonly StreamPart[] {
  const decoder = openaiChatUpstream.streamDecoder({ eventBytesMax: 1 << 20 });
  return [...decoder.push(Buffer.from(stream)), ...decoder.end()];
}

const chunk = (delta: unknown, finishReason: string | null = null, extra: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c-1', created: 5, model: 'm', choices: [{ index: 0, delta, finish_reason: finishReason }], ...extra })}\n\n`;
const usageChunk = `data: {"id":"c-1","created":5,"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}\n\n`;
const done = 'data: [DONE]\n\n';

describe('chunks of our own', () => {
  it('open with the role once, end with one finish and the terminator', () => {
    const data = dataIn(fromEvents([start, text('he'), text('llo'), finish(), finish(), end, end]));
    expect(data).toEqual([
      {
        id: 'chatcmpl-msg_1',
        object: 'chat.completion.chunk',
        created: 77,
        model: 'm-1',
        choices: [
          {
            index: 0,
            delta: { role: 'assistant', content: 'he' },
            logprobs: null,
            finish_reason: null,
          },
        ],
      },
      expect.objectContaining({
        id: 'chatcmpl-msg_1',
        created: 77,
        choices: [{ index: 0, delta: { content: 'llo' }, logprobs: null, finish_reason: null }],
      }),
      expect.objectContaining({
        choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }],
      }),
      '[DONE]',
    ]);
  });

  it('ST-27 let the last finish count, and nothing come behind it', () => {
    const data = dataIn(
      fromEvents([start, text('he'), finish(), text('llo'), finish('length'), end]),
    );
    expect(data.map((each) => each.choices?.[0].finish_reason)).toEqual([
      null,
      null,
      'length',
      undefined,
    ]);
  });

  it('TR-18 tell usage behind the finish when it was asked for', () => {
    const events: ChatEvent[] = [start, { type: 'usage', usage }, text('a'), finish(), end];
    const data = dataIn(fromEvents(events, { includeUsage: true }));
    expect(data.at(0).usage).toBeNull();
    expect(data.at(-2)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 2,
        total_tokens: 5,
        prompt_tokens_details: { cached_tokens: 1 },
      },
    });
    expect(fromEvents(events)).not.toContain('usage');
  });

  it('carry calls, reasoning and refusals', () => {
    const data = dataIn(
      fromEvents([
        start,
        { type: 'reasoning', choice: 0, text: 'hm' },
        { type: 'reasoning_end', choice: 0, signature: 'SIG', redacted: null },
        { type: 'tool_call_start', choice: 0, index: 0, id: 'a', name: 'f' },
        { type: 'tool_call_arguments', choice: 0, index: 0, fragment: '{"x":1}' },
        { type: 'tool_call_end', choice: 0, index: 0 },
        { type: 'refusal', choice: 0, text: 'no' },
        finish('tool_calls'),
        end,
      ]),
    );
    expect(data.slice(0, -1).map((each) => each.choices[0].delta)).toEqual([
      { role: 'assistant', content: '', reasoning_content: 'hm' },
      {
        tool_calls: [
          { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] },
      { refusal: 'no' },
      {},
    ]);
    expect(JSON.stringify(data)).not.toContain('SIG');
  });

  it('TR-19 give a call without arguments an empty object', () => {
    const data = dataIn(
      fromEvents([
        start,
        { type: 'tool_call_start', choice: 0, index: 0, id: 'a', name: 'now' },
        { type: 'tool_call_end', choice: 0, index: 0 },
        finish('tool_calls'),
        end,
      ]),
    );
    const joined = data
      .flatMap((each) => each.choices?.[0].delta.tool_calls ?? [])
      .map((call) => call.function.arguments)
      .join('');
    expect(joined).toBe('{}');
  });

  it('have an id even where the provider gave none, and hold what was asked to be told', () => {
    const meta = () => ({ request_id: 'r' });
    const data = dataIn(fromEvents([text('a'), finish(), end], { meta }));
    expect(data[0].id).toBe('chatcmpl-own');
    expect(data.at(-2)).toMatchObject({ choices: [], tiergate: { request_id: 'r' } });
  });
});

describe('frames of the dialect', () => {
  const stream =
    chunk({ role: 'assistant', content: '' }) + chunk({ content: 'a' }) + chunk({}, 'stop');

  it('ST-12 pass as they are, and get a terminator where the provider sent none', () => {
    expect(write(decoded(stream + done))).toBe(stream + done);
    expect(write([...decoded(stream), { events: [end], frame: null }])).toBe(stream + done);
  });

  it('keep the usage chunk from a client that did not ask', () => {
    expect(write(decoded(stream + usageChunk + done))).toBe(stream + done);
    expect(write(decoded(stream + usageChunk + done), { includeUsage: true })).toBe(
      stream + usageChunk + done,
    );
  });

  it('get a usage chunk where the provider told usage in no frame that passed', () => {
    const parts = [
      ...decoded(stream),
      { events: [{ type: 'usage', usage } as const], frame: null },
      { events: [end], frame: null },
    ];
    expect(dataIn(write(parts, { includeUsage: true })).at(-2)).toMatchObject({
      id: 'c-1',
      created: 5,
      choices: [],
      usage: { prompt_tokens: 3 },
    });
    const inFinish = chunk({ content: 'a' }, 'stop', {
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    });
    expect(write(decoded(inFinish + done), { includeUsage: true })).toBe(inFinish + done);
  });

  it('ST-09 share id, date and role with the chunks written between them', () => {
    const odd = chunk({
      tool_calls: [{ index: 1, id: 'a', function: { name: 'f', arguments: '{}' } }],
    });
    const data = dataIn(
      write(decoded(chunk({ role: 'assistant', content: '' }) + odd + chunk({}, 'stop') + done)),
    );
    expect(new Set(data.slice(0, -1).map((each) => `${each.id} ${each.created}`)).size).toBe(1);
    expect(data.filter((each) => each.choices?.[0].delta.role !== undefined)).toHaveLength(1);
    expect(data.at(-2).choices[0].finish_reason).toBe('tool_calls');
  });

  it('tell one finish, though the provider told it in every chunk', () => {
    const data = dataIn(
      write(decoded(chunk({ content: 'a' }, 'length') + chunk({ content: 'b' }, 'length') + done)),
    );
    const finishes = data.filter((each) => each.choices?.[0].finish_reason);
    expect(finishes).toHaveLength(1);
    expect(data.at(1).choices[0].delta).toEqual({ content: 'b' });
  });

  it('ST-15 hold no comment and no malformed event', () => {
    const dirty = `: PROCESSING\n\n${chunk({ content: 'a' })}data: {"x\n\n: x\n\n${chunk({}, 'stop')}${done}`;
    expect(dataIn(write(decoded(dirty)))).toHaveLength(3);
  });

  it('of a second answer go on under the id of the first', () => {
    const second = (
      chunk({ role: 'assistant', content: '' }) +
      chunk({ content: 'b' }, 'stop') +
      done
    )
      .replaceAll('"c-1"', '"c-2"')
      .replaceAll('"m"', '"m-2"');
    const data = dataIn(
      write([...decoded(chunk({ role: 'assistant', content: 'a' })), ...decoded(second)]),
    );
    expect(data.map((each) => each.id)).toEqual(['c-1', 'c-1', 'c-1', undefined]);
    expect(data.map((each) => each.model)).toEqual(['m', 'm-2', 'm-2', undefined]);
    expect(data.filter((each) => each.choices?.[0].delta.role)).toHaveLength(1);
  });

  it('get the meta object into the last data event', () => {
    const meta = () => ({ tier: 't' });
    const data = dataIn(write(decoded(stream + done), { meta }));
    expect(data.at(-2)).toMatchObject({ id: 'c-1', choices: [], tiergate: { tier: 't' } });
    expect(data.at(-1)).toBe('[DONE]');
  });
});

it('fail is the dialect’s error event, with nothing behind it', () => {
  const encoder = openaiChatClient.streamEncoder(options);
  encoder.push({ events: [start, text('a')], frame: null });
  const failure = failureWith({
    failureClass: 'stream_interrupted',
    status: 502,
    regenerate: true,
  });
  const [data] = dataIn(encoder.fail(failure));
  expect(data.error).toMatchObject({
    code: 'stream_interrupted',
    type: 'server_error',
    tiergate: { regenerate: true, retryable: false },
  });
  expect(data.error.message).toMatch(/\(request req-1\)$/);
  expect(encoder.push({ events: [end], frame: null })).toBe('');
  expect(encoder.fail(failure)).toBe('');
});

it('every chunk has the id of the first, also where the provider tells its own later', () => {
  const late = [text('a'), start, text('b'), finish(), end];
  const ids = dataIn(fromEvents(late)).flatMap((data) => data.id ?? []);
  expect([...new Set(ids)]).toEqual(['chatcmpl-own']);
});
