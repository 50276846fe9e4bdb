import { describe, expect, it } from 'vitest';
import type { ChatEvent, StreamPart } from '../../../../src/chat/stream-event.ts';
import { openaiChatUpstream } from '../../../../src/dialects/openai-chat/upstream.ts';

const done = 'data: [DONE]\n\n';

function decode(stream: string, eventBytesMax = 1 << 20): readonly StreamPart[] {
  const decoder = openaiChatUpstream.streamDecoder({ eventBytesMax });
  return [...decoder.push(Buffer.from(stream)), ...decoder.end()];
}

function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function chunk(delta: unknown, finish: string | null = null, extra: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return frame({
    id: 'c-1',
    object: 'chat.completion.chunk',
    created: 5,
    model: 'm',
    choices,
    ...extra,
  });
}

function tool(call: unknown, finish: string | null = null): string {
  return chunk({ tool_calls: [call] }, finish);
}

function eventsOf(parts: readonly StreamPart[]): readonly ChatEvent[] {
  return parts.flatMap((part) => part.events).filter((event) => event.type !== 'activity');
}

function isPassed(part: StreamPart | undefined): boolean {
  return part?.frame !== null && part?.frame !== undefined;
}

describe('frames', () => {
  it('of text pass byte for byte, with its own framing', () => {
    const stream =
      ': hi\ndata:{"id":"c-1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\r\n\r\n' +
      chunk({ content: 'a' }, null, { obfuscation: 'xyz' }) +
      chunk({}, 'stop') +
      frame({ id: 'c-1', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }) +
      done;
    const parts = decode(stream);
    const bytes = parts.map((part) => part.frame?.bytes ?? Buffer.alloc(0));
    expect(Buffer.concat(bytes).toString()).toBe(stream);
    expect(eventsOf(parts)).toEqual([
      { type: 'start', id: 'c-1', model: 'm', dialect: 'openai-chat' },
      { type: 'text', choice: 0, text: 'a' },
      { type: 'finish', choice: 0, reason: 'stop', raw: 'stop' },
      {
        type: 'usage',
        usage: {
          inputTokens: 3,
          outputTokens: 2,
          cachedTokens: null,
          cacheWriteTokens: null,
          reasoningTokens: null,
        },
      },
      { type: 'end' },
    ]);
  });

  it('of calls in the plain form pass', () => {
    const parts = decode(
      [
        chunk({ role: 'assistant', content: null }),
        tool({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
        tool({ index: 0, function: { arguments: '{"x":1}' } }),
        tool({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }),
        tool({ index: 1, function: { arguments: '{}' } }),
        chunk({}, 'tool_calls'),
        done,
      ].join(''),
    );
    expect(parts.every(isPassed)).toBe(true);
    expect(eventsOf(parts).map((event) => event.type)).toEqual([
      'start',
      'tool_call_start',
      'tool_call_arguments',
      'tool_call_end',
      'tool_call_start',
      'tool_call_arguments',
      'tool_call_end',
      'finish',
      'end',
    ]);
  });

  it.each([
    [
      'an index that starts at 1',
      { index: 1, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
    ],
    ['no index', { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
    ['no type', { index: 0, id: 'a', function: { name: 'f', arguments: '' } }],
    ['no id', { index: 0, type: 'function', function: { name: 'f', arguments: '' } }],
    [
      'null arguments',
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: null } },
    ],
    [
      'arguments as an object',
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: {} } },
    ],
  ])('TR-02 of a call with %s are written anew', (_what, call) => {
    const parts = decode(chunk({ role: 'assistant' }) + tool(call) + chunk({}, 'tool_calls'));
    expect(isPassed(parts[0])).toBe(true);
    expect(isPassed(parts[1])).toBe(false);
    expect(eventsOf(parts)).toContainEqual({
      type: 'tool_call_start',
      choice: 0,
      index: 0,
      id: expect.stringMatching(/^(a|call_[0-9a-f]{24})$/),
      name: 'f',
    });
  });

  it('TR-16 TR-02 of a finish that hides calls are written anew', () => {
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    for (const [raw, reason] of [
      ['stop', 'tool_calls'],
      ['eos', 'tool_calls'],
      ['length', 'length'],
      ['content_filter', 'content_filter'],
    ]) {
      const parts = decode(tool(call) + chunk({}, raw));
      expect(eventsOf(parts).at(-1)).toMatchObject({ type: 'finish', reason, raw });
      expect(isPassed(parts[1])).toBe(raw === reason);
    }
  });
});

describe('tool calls', () => {
  it('TR-02 come one after another, however they were mixed', () => {
    const parts = decode(
      [
        tool({
          index: 0,
          id: 'call_a',
          type: 'function',
          function: { name: 'f', arguments: '{"x":' },
        }),
        tool({
          index: 0,
          id: 'call_b',
          type: 'function',
          function: { name: 'g', arguments: '{"y":' },
        }),
        tool({ index: 0, id: 'call_a', function: { arguments: '1}' } }),
        tool({ index: 0, id: 'call_b', function: { arguments: '2}' } }),
        chunk({}, 'tool_calls'),
      ].join(''),
    );
    expect(eventsOf(parts)).toEqual([
      { type: 'start', id: 'c-1', model: 'm', dialect: 'openai-chat' },
      { type: 'tool_call_start', choice: 0, index: 0, id: 'call_a', name: 'f' },
      { type: 'tool_call_arguments', choice: 0, index: 0, fragment: '{"x":' },
      { type: 'tool_call_arguments', choice: 0, index: 0, fragment: '1}' },
      { type: 'tool_call_end', choice: 0, index: 0 },
      { type: 'tool_call_start', choice: 0, index: 1, id: 'call_b', name: 'g' },
      { type: 'tool_call_arguments', choice: 0, index: 1, fragment: '{"y":' },
      { type: 'tool_call_arguments', choice: 0, index: 1, fragment: '2}' },
      { type: 'tool_call_end', choice: 0, index: 1 },
      { type: 'finish', choice: 0, reason: 'tool_calls', raw: 'tool_calls' },
    ]);
    expect(parts.map(isPassed)).toEqual([true, false, false, false, true]);
  });

  it('of several choices are counted apart', () => {
    const two = (index: number) => ({
      index,
      delta: {
        tool_calls: [
          { index: 0, id: `c${index}`, type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
      finish_reason: null,
    });
    const starts = eventsOf(decode(frame({ id: 'x', choices: [two(0), two(1)] }))).filter(
      (event) => event.type === 'tool_call_start',
    );
    expect(starts).toMatchObject([
      { choice: 0, index: 0, id: 'c0' },
      { choice: 1, index: 0, id: 'c1' },
    ]);
  });

  it('whose ids rotate stay one call', () => {
    const parts = decode(
      [
        tool({ index: 0, id: 'r1', type: 'function', function: { name: 'f', arguments: '{"a"' } }),
        tool({ index: 0, id: 'r2', function: { arguments: ':1}' } }),
        chunk({}, 'tool_calls'),
      ].join(''),
    );
    const starts = eventsOf(parts).filter((event) => event.type === 'tool_call_start');
    expect(starts).toMatchObject([{ id: 'r1' }]);
  });

  it('that are sent a second time in whole are told once', () => {
    const whole = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const told = eventsOf(decode(tool(whole) + tool(whole) + chunk({}, 'tool_calls')));
    expect(told.filter((event) => event.type === 'tool_call_arguments')).toHaveLength(1);
  });

  it('are bounded in number', () => {
    const calls = Array.from({ length: 2000 }, (_, index) => ({
      index,
      id: `c${index}`,
      function: { name: 'f', arguments: '{}' },
    }));
    const events = eventsOf(decode(chunk({ tool_calls: calls })));
    expect(events.filter((event) => event.type === 'tool_call_start')).toHaveLength(1024);
    expect(events.some((event) => event.type === 'malformed')).toBe(true);
  });

  it('without a name are not told', () => {
    const empty = { index: 0, id: '', function: { name: '', arguments: '' } };
    expect(eventsOf(decode(tool(empty) + chunk({}, 'stop'))).map((event) => event.type)).toEqual([
      'start',
      'finish',
    ]);
    const nameless = { index: 0, id: 'a', function: { arguments: '{"a":1}' } };
    expect(eventsOf(decode(tool(nameless) + chunk({}, 'stop')))).toContainEqual({
      type: 'malformed',
    });
  });
});

describe('faults', () => {
  it('ST-08 in a chunk that looks like usage end the stream', () => {
    const parts = decode(
      frame({ id: 'x', choices: [], error: { code: 502, message: 'worker limit' } }) + done,
    );
    expect(parts[0]).toMatchObject({
      events: [{ type: 'start' }, { type: 'error', status: 502 }],
      frame: null,
    });
    const finish = decode(chunk({}, 'error'));
    expect(eventsOf(finish)).toMatchObject([{ type: 'start' }, { type: 'error', status: null }]);
  });

  it('of one event are skipped and told', () => {
    const parts = decode(
      `${chunk({ content: 'a' })}data: {"choices":[\n\n${chunk({ content: 'b' })}`,
    );
    expect(parts[1]).toEqual({ events: [{ type: 'malformed' }], frame: null });
    expect(eventsOf(parts).filter((event) => event.type === 'text')).toHaveLength(2);
  });

  it.each(['null', '7', '"x"', '[]', '[1]', 'true'])('%s is no chunk', (data) => {
    expect(decode(`data: ${data}\n\n`)).toEqual([{ events: [{ type: 'malformed' }], frame: null }]);
  });

  it('ST-19 of chunks without choices are kept from the client', () => {
    const parts = decode('data: {"choices":null}\n\ndata: {"id":"x"}\n\n');
    expect(parts.map((part) => part.frame)).toEqual([null, null]);
  });

  it('ST-26 an event beyond the bound loses the stream, not its middle', () => {
    const parts = decode(
      chunk({ content: 'ok ' }) + chunk({ content: 'x'.repeat(2000) }) + chunk({}, 'stop') + done,
      1000,
    );
    const events = eventsOf(parts);
    expect(events.filter((event) => event.type === 'malformed')).toHaveLength(2);
    expect(events.some((event) => event.type === 'finish' || event.type === 'end')).toBe(false);
  });

  it('of depth cost no time', () => {
    const deep = `{"choices":[{"delta":${'['.repeat(200_000)}`;
    expect(decode(`data: ${deep}\n\n`)).toEqual([{ events: [{ type: 'malformed' }], frame: null }]);
    const [part] = openaiChatUpstream.decodeReply(Buffer.from(deep));
    expect(part?.events).toEqual([{ type: 'malformed' }]);
  });

  it('SE-10 change no prototype', () => {
    const parts = decode(
      'data: {"__proto__":{"y":1},"choices":[{"index":0,"delta":{"content":"a","__proto__":{"y":1}},"finish_reason":"stop"}]}\n\n',
    );
    expect(eventsOf(parts)).toMatchObject([{ type: 'text' }, { type: 'finish' }]);
    const plain: Record<string, unknown> = {};
    expect(plain['y']).toBeUndefined();
  });
});

it('RH-11 takes no 200 without an answer in it for one', () => {
  for (const body of [
    '<html>lost</html>',
    '{}',
    '{"choices":[]}',
    '{"choices":null}',
    '',
    '[]',
    '7',
  ]) {
    const [part] = openaiChatUpstream.decodeReply(Buffer.from(body));
    expect(part?.events).toEqual([{ type: 'malformed' }]);
  }
});

describe('what no server should send', () => {
  it('a date of any kind changes nothing', () => {
    for (const created of [{ toString: null }, [{}], null, 'x']) {
      const stream = chunk({ content: 'a' }, 'stop', { created }) + done;
      expect(eventsOf(decode(stream))).toContainEqual({ type: 'text', choice: 0, text: 'a' });
    }
  });

  it('a call that is never named is lost, and so is the answer; until then none ends', () => {
    const stream =
      tool({ index: 0, id: 'c', function: { arguments: '{"a":1}' } }) +
      chunk({ content: 'a' }) +
      chunk({}, 'tool_calls') +
      done;
    const types = eventsOf(decode(stream)).map(({ type }) => type);
    expect(types).toEqual(['start', 'text', 'malformed', 'malformed', 'finish', 'end']);
  });

  it('arguments that come as an object keep the digits of their numbers', () => {
    const said = JSON.stringify({ index: 0, id: 'c', function: { name: 'f', arguments: {} } });
    const stream = tool('CALL').replace('"CALL"', said.replace('{}', '{"n":12345678901234567890}'));
    expect(eventsOf(decode(stream + done))).toContainEqual({
      type: 'tool_call_arguments',
      choice: 0,
      index: 0,
      fragment: '{"n":12345678901234567890}',
    });
  });
});
