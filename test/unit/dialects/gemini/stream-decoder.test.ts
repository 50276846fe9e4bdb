import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../../src/chat/stream-event.ts';
import { geminiUpstream as dialect } from '../../../../src/dialects/gemini/upstream.ts';
import type { Json } from '../upstream-calls.ts';

function parts(bytes: Buffer, eventBytesMax = 1_000_000) {
  const decoder = dialect.streamDecoder({ eventBytesMax });
  return [...decoder.push(bytes), ...decoder.end()];
}

function framed(...chunks: readonly (Json | string)[]): Buffer {
  const texts = chunks.map((chunk) =>
    typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\r\n\r\n`,
  );
  return Buffer.from(texts.join(''));
}

function events(...chunks: readonly (Json | string)[]): readonly ChatEvent[] {
  return parts(framed(...chunks)).flatMap((part) => part.events);
}

/** Without the start, which every one of these streams has. */
function told(...chunks: readonly (Json | string)[]): readonly ChatEvent[] {
  return events(...chunks).filter((event) => event.type !== 'start');
}

function chunk(pieces: readonly Json[], rest: Json = {}, top: Json = {}): Json {
  const candidate = { content: { role: 'model', parts: pieces }, ...rest };
  return { candidates: [candidate], modelVersion: 'gemini-3-pro', responseId: 'r1', ...top };
}

const text = (words: string) => ({ text: words });
const called = (name: string, args: Json = {}) => ({ functionCall: { name, args } });
const stop = { finishReason: 'STOP' };

function callsOf(all: readonly ChatEvent[]): readonly unknown[] {
  return all.flatMap((event) => {
    if (event.type === 'tool_call_start') return [[event.index, event.name]];
    if (event.type === 'tool_call_arguments') return [[event.index, event.fragment]];
    return [];
  });
}

describe('a stream', () => {
  it('is told as events, each with the frame it came in, and ends with the body', () => {
    const bytes = framed(
      chunk([text('a')]),
      chunk([text('b')], stop, { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } }),
    );
    const decoded = parts(bytes);
    expect(decoded.flatMap((part) => part.events)).toEqual([
      { type: 'start', id: 'r1', model: 'gemini-3-pro' },
      { type: 'text', choice: 0, text: 'a' },
      { type: 'text', choice: 0, text: 'b' },
      { type: 'finish', choice: 0, reason: 'stop', raw: 'STOP' },
      { type: 'usage', usage: expect.objectContaining({ inputTokens: 3, outputTokens: 2 }) },
      { type: 'end' },
    ]);
    expect(decoded.at(-1)).toEqual({ events: [{ type: 'end' }], frame: null });
    const frames = decoded.map((part) => part.frame?.bytes ?? Buffer.alloc(0));
    expect(Buffer.concat(frames)).toEqual(bytes);
  });

  it('TR-01 counts calls over chunks, with arguments of their own and distinct ids', () => {
    const all = events(
      chunk([called('w', { c: 'A' })]),
      chunk([called('w', { c: 'B' }), called('w', { c: 'C' })]),
      chunk([], stop),
    );
    expect(callsOf(all)).toEqual([
      [0, 'w'],
      [0, '{"c":"A"}'],
      [1, 'w'],
      [1, '{"c":"B"}'],
      [2, 'w'],
      [2, '{"c":"C"}'],
    ]);
    const ids = all.flatMap((event) => (event.type === 'tool_call_start' ? [event.id] : []));
    expect(new Set(ids).size).toBe(3);
    expect(all).toContainEqual({ type: 'finish', choice: 0, reason: 'tool_calls', raw: 'STOP' });
  });

  it.each([
    ['TR-15', 'MAX_TOKENS', 'length'],
    ['TR-17', 'SAFETY', 'content_filter'],
    ['TR-17', 'RECITATION', 'content_filter'],
    ['TR-17', 'IMAGE_SAFETY', 'content_filter'],
    ['an unusable answer', 'MALFORMED_FUNCTION_CALL', 'error'],
    ['an unfinished answer', 'CONTINUATION', 'paused'],
    ['a new word', 'BRAND_NEW', 'other'],
  ])('%s: %s finishes as %s', (_case, finishReason, reason) => {
    expect(told(chunk([text('x')], { finishReason })).at(-2)).toEqual({
      type: 'finish',
      choice: 0,
      reason,
      raw: finishReason,
    });
  });

  it('TR-16 a natural stop with a call is a stop for calls', () => {
    expect(told(chunk([called('f')], stop))).toContainEqual({
      type: 'finish',
      choice: 0,
      reason: 'tool_calls',
      raw: 'STOP',
    });
    expect(told(chunk([text('a')], stop), chunk([called('f')])).at(-2)).toEqual({
      type: 'finish',
      choice: 0,
      reason: 'tool_calls',
      raw: 'STOP',
    });
  });

  it('ST-27 text may follow a finish; the latest finish counts', () => {
    expect(
      told(chunk([text('he')], stop), chunk([text('llo')], { finishReason: 'MAX_TOKENS' })),
    ).toEqual([
      { type: 'text', choice: 0, text: 'he' },
      { type: 'finish', choice: 0, reason: 'stop', raw: 'STOP' },
      { type: 'text', choice: 0, text: 'llo' },
      { type: 'finish', choice: 0, reason: 'length', raw: 'MAX_TOKENS' },
      { type: 'end' },
    ]);
  });

  it('ST-18 cut in mid-event says no more than it said, and does not end', () => {
    expect(told(chunk([text('par')]), 'data: {"candidates":[{"content":{"parts":[{"te')).toEqual([
      { type: 'text', choice: 0, text: 'par' },
    ]);
  });

  it('ST-18 whole in the last event without its line end is whole', () => {
    const last = `data: ${JSON.stringify(chunk([text('b')], stop))}`;
    expect(told(chunk([text('a')]), last).at(-1)).toEqual({ type: 'end' });
  });

  it('tells a refused prompt as an error, and what it came to', () => {
    const body = { promptFeedback: { blockReason: 'SAFETY' }, modelVersion: 'm', responseId: 'r' };
    expect(told(body)).toEqual([
      { type: 'error', status: null, body },
      { type: 'finish', choice: 0, reason: 'content_filter', raw: 'blocked:SAFETY' },
    ]);
    expect(dialect.readError({ status: null, headers: {}, body })).toMatchObject({
      type: 'prompt_blocked',
      code: 'SAFETY',
      upstreamRequestId: 'r',
      isKnownShape: true,
    });
  });

  it('tells an error in an event, and one that stands bare in the body', () => {
    const body = { error: { code: 503, message: 'x', status: 'UNAVAILABLE' } };
    const bare = JSON.stringify(body, null, 2);
    for (const sent of [body, bare, `${bare}\r\n`, `[${bare}]`]) {
      expect(told(chunk([text('a')]), sent)).toContainEqual({ type: 'error', status: 503, body });
      expect(told(sent)).toContainEqual({ type: 'error', status: 503, body });
    }
  });

  it('tells thoughts apart from text, and their end with its signature', () => {
    const thought = { text: 't', thought: true };
    expect(
      told(
        chunk([thought]),
        chunk([{ ...thought, thoughtSignature: 'S' }, text('a')]),
        chunk([{ text: '', thoughtSignature: 'T' }], stop),
      ),
    ).toEqual([
      { type: 'reasoning', choice: 0, text: 't' },
      { type: 'reasoning', choice: 0, text: 't' },
      { type: 'reasoning_end', choice: 0, signature: 'S', redacted: null },
      { type: 'text', choice: 0, text: 'a' },
      { type: 'activity', isProgress: true },
      { type: 'finish', choice: 0, reason: 'stop', raw: 'STOP' },
      { type: 'end' },
    ]);
  });

  it('builds arguments that come in pieces, and closes a call that is left open', () => {
    const open = (functionCall: Json) =>
      chunk([{ functionCall: { willContinue: true, ...functionCall } }]);
    const piece = (jsonPath: string, value: Json) =>
      open({ partialArgs: [{ jsonPath, ...value }] });
    const all = told(
      open({ name: 'f' }),
      piece('$.a[0].b', { stringValue: 'x', willContinue: true }),
      piece('$.a[0].b', { stringValue: 'y' }),
      piece('$.a[1].b', { stringValue: 'z' }),
      piece('$["__proto__"].polluted', { boolValue: true }),
      chunk([{ functionCall: {} }]),
      open({ name: 'g' }),
      chunk([text('')], stop),
    );
    expect(callsOf(all)).toEqual([
      [0, 'f'],
      [0, '{"a":[{"b":"xy"},{"b":"z"}],"__proto__":{"polluted":true}}'],
      [1, 'g'],
      [1, '{}'],
    ]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(all.filter((event) => event.type === 'malformed')).toEqual([]);
  });

  it.each(['a', '$', '$.a[', '$..a', '$[0]', '$.a[99999]', '$.s.x', `$${'.a'.repeat(100)}`])(
    'says that a piece has no place: %s',
    (jsonPath) => {
      const open = (functionCall: Json) =>
        chunk([{ functionCall: { willContinue: true, ...functionCall } }]);
      const all = told(
        open({ name: 'f' }),
        open({ partialArgs: [{ jsonPath: '$.s', stringValue: 's' }] }),
        open({ partialArgs: [{ jsonPath, numberValue: 1 }] }),
        chunk([], stop),
      );
      expect(all.filter((event) => event.type === 'malformed')).toHaveLength(1);
      expect(callsOf(all).at(-1)).toEqual([0, expect.stringContaining('"s":"s"')]);
    },
  );

  it('keeps several answers apart, and ends when all have finished', () => {
    const one = { content: { parts: [text('a')] } };
    const two = { content: { parts: [text('b')] }, index: 1 };
    const half = [{ candidates: [one, two] }, { candidates: [{ finishReason: 'STOP', index: 1 }] }];
    expect(told(...half).some((event) => event.type === 'end')).toBe(false);
    const all = told(...half, { candidates: [{ finishReason: 'STOP' }] });
    expect(all).toContainEqual({ type: 'text', choice: 1, text: 'b' });
    expect(all.at(-1)).toEqual({ type: 'end' });
  });

  it('TR-18 states usage as totals, and nothing where the chunk has no counts', () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      toolUsePromptTokenCount: '7',
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      totalTokenCount: 1,
    };
    const all = told(
      { usageMetadata: { trafficType: 'ON_DEMAND' } },
      { usageMetadata },
      { usageMetadata },
    );
    expect(all).toEqual(
      Array.from({ length: 2 }, () => ({
        type: 'usage',
        usage: {
          inputTokens: 107,
          outputTokens: 50,
          cachedTokens: 40,
          cacheWriteTokens: null,
          reasoningTokens: 30,
        },
      })),
    );
  });

  it('without alt=sse is an array that grows', () => {
    const body = `[${JSON.stringify(chunk([text('a "]{" \\')]), null, 2)}\n,\r\n${JSON.stringify(chunk([text('b')], stop))}\n]`;
    const decoder = dialect.streamDecoder({ eventBytesMax: 1000 });
    const at = body.indexOf('\n,');
    const first = decoder.push(Buffer.from(body.slice(0, at)));
    expect(first.flatMap((part) => part.events)).toContainEqual({
      type: 'text',
      choice: 0,
      text: 'a "]{" \\',
    });
    const rest = [...decoder.push(Buffer.from(body.slice(at))), ...decoder.end()];
    expect(rest.flatMap((part) => part.events).at(-1)).toEqual({ type: 'end' });
    expect([...first, ...rest].every((part) => part.frame === null)).toBe(true);
  });

  it.each(['sse', 'array'])('gives up on an event that is too large (%s)', (form) => {
    const large = chunk([text('x'.repeat(3000))]);
    const bytes =
      form === 'sse'
        ? framed(large, chunk([text('y')], stop))
        : Buffer.from(JSON.stringify([large, chunk([text('y')], stop)]));
    const all = parts(bytes, 1000).flatMap((part) => part.events);
    expect(all).toEqual([{ type: 'malformed' }, { type: 'malformed' }]);
  });

  it('skips what it cannot read', () => {
    const all = told(
      'data: {"candidates":[,]}\r\n\r\n',
      'data: 7\r\n\r\n',
      chunk([text('a')], stop),
    );
    expect(all.filter((event) => event.type === 'malformed')).toHaveLength(2);
    expect(told({ candidates: [7, { index: -1 }, { index: 1e9 }] })).toEqual(
      Array.from({ length: 3 }, () => ({ type: 'malformed' })),
    );
  });
});
