import { describe, expect, it } from 'vitest';
import type { ChatEvent, FinishReason, StreamPart } from '../../../../src/chat/stream-event.ts';
import { type Usage, unknownUsage } from '../../../../src/chat/usage.ts';
import type { ClientDialect, StreamEncoderOptions } from '../../../../src/dialects/dialect.ts';
import { geminiClient } from '../../../../src/dialects/gemini/client.ts';
import { encodeCallId } from '../../../../src/dialects/gemini/tool-call-ids.ts';
import { geminiUpstream } from '../../../../src/dialects/gemini/upstream.ts';
import { readGeminiArray, readGeminiStream } from '../../../support/gemini-answers.ts';
import { failureWith } from '../openai-chat/request-failure.ts';

const options: StreamEncoderOptions = {
  includeUsage: true,
  fallbackId: 'own',
  createdAtSeconds: 77,
  meta: null,
};
const usage: Usage = {
  ...unknownUsage,
  inputTokens: 3,
  outputTokens: 9,
  cachedTokens: 1,
  reasoningTokens: 4,
};
const start: ChatEvent = { type: 'start', id: 'msg_1', model: 'm-1' };
const text = (value: string): ChatEvent => ({ type: 'text', choice: 0, text: value });
const finish = (reason: FinishReason = 'stop', raw: string | null = 'raw'): ChatEvent => ({
  type: 'finish',
  choice: 0,
  reason,
  raw,
});
const end: ChatEvent = { type: 'end' };

function called(index: number, id: string, name: string, ...fragments: string[]): ChatEvent[] {
  return [
    { type: 'tool_call_start', choice: 0, index, id, name },
    ...fragments.map(
      (fragment): ChatEvent => ({ type: 'tool_call_arguments', choice: 0, index, fragment }),
    ),
    { type: 'tool_call_end', choice: 0, index },
  ];
}

/** The form that answers without `alt=sse`. */
function arrayForm(): ClientDialect {
  const form = geminiClient.pathCalls?.dialectFor('m:streamGenerateContent', () => undefined);
  if (form === null || form === undefined) throw new Error('no form');
  return form;
}

function write(
  parts: readonly StreamPart[],
  change: Partial<StreamEncoderOptions> = {},
  dialect = geminiClient,
): string {
  const encoder = dialect.streamEncoder({ ...options, ...change });
  return parts.map((part) => encoder.push(part).toString()).join('');
}

function unframed(events: readonly ChatEvent[]): readonly StreamPart[] {
  return events.map((event) => ({ events: [event], frame: null }));
}

function decoded(stream: string): readonly StreamPart[] {
  const decoder = geminiUpstream.streamDecoder({ eventBytesMax: 1 << 20 });
  return [...decoder.push(Buffer.from(stream)), ...decoder.end()];
}

const chunk = (value: object): string =>
  `data: ${JSON.stringify({ ...value, modelVersion: 'gemini-3-pro', responseId: 'r1' })}\r\n\r\n`;
const candidate = (parts: readonly object[], more: object = {}): object => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
});

describe('chunks of our own', () => {
  it('are events that end in CR LF, with one finish, usage at the end, and no terminator', () => {
    const events = [
      start,
      text('he'),
      { type: 'usage', usage } as const,
      text('llo'),
      finish(),
      end,
    ];
    const stream = write(unframed(events));
    expect(stream.split('\r\n\r\n')[0]).toBe(
      'data: {"candidates":[{"content":{"parts":[{"text":"he"}],"role":"model"},"index":0}],"modelVersion":"m-1","responseId":"msg_1"}',
    );
    expect(readGeminiStream(stream)).toMatchObject({
      text: 'hello',
      finishReasons: ['STOP'],
      ids: ['msg_1'],
      models: ['m-1'],
      usage: {
        promptTokenCount: 3,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 4,
        cachedContentTokenCount: 1,
        totalTokenCount: 12,
      },
    });
  });

  it('ST-27 let the last finish count, and nothing come behind it', () => {
    const events = [
      start,
      text('he'),
      finish(),
      text('llo'),
      finish('length'),
      end,
      text('x'),
      end,
    ];
    const read = readGeminiStream(write(unframed(events)));
    expect(read).toMatchObject({ text: 'hello', finishReasons: ['MAX_TOKENS'] });
  });

  it('carry calls once they are whole, thoughts and refusals', () => {
    const stream = write(
      unframed([
        start,
        { type: 'reasoning', choice: 0, text: 'hm' },
        { type: 'reasoning_end', choice: 0, signature: 'foreign', redacted: null },
        text(''),
        ...called(0, 'call_a', 'f', '{"a":', '12345678901234567890}'),
        ...called(1, 'call_b', 'g'),
        finish('tool_calls'),
        end,
      ]),
    );
    expect(stream).not.toContain('foreign');
    expect(stream).toContain('"args":{"a":12345678901234567890}');
    expect(readGeminiStream(stream)).toMatchObject({
      thoughts: 'hm',
      text: '',
      calls: [
        { id: 'call_a', name: 'f' },
        { id: 'call_b', name: 'g', args: {} },
      ],
      finishReasons: ['STOP'],
    });
    const refused: ChatEvent = { type: 'refusal', choice: 0, text: 'no' };
    const read = readGeminiStream(write(unframed([start, refused, finish(), end])));
    expect(read).toMatchObject({ text: 'no', finishReasons: ['SAFETY'] });
  });

  it('put a signature back where the service had it, and its own ids', () => {
    const id = encodeCallId({
      family: 'gemini-3-pro',
      providerId: null,
      signature: 'c2ln',
      seed: 's',
    });
    const own: ChatEvent = { type: 'start', id: 'r', model: 'gemini-3-pro-preview' };
    const read = readGeminiStream(
      write(unframed([own, ...called(0, id, 'f', '{}'), finish(), end])),
    );
    expect(read.documents[0]).toMatchObject({
      candidates: [
        {
          content: { parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' }] },
        },
      ],
    });
    expect(read.calls[0]?.id).toBeNull();
  });

  it.each([
    ['tool_calls', 'MALFORMED_FUNCTION_CALL'],
    ['length', 'MAX_TOKENS'],
  ] as const)('a call that is no JSON is not made up (%s)', (reason, word) => {
    const events = [start, ...called(0, 'a', 'f', '{"a":'), finish(reason), end];
    const read = readGeminiStream(write(unframed(events)));
    expect(read).toMatchObject({ calls: [], finishReasons: [word] });
  });

  it.each([
    ['stop', 'end_turn', 'STOP'],
    ['content_filter', 'refusal', 'SAFETY'],
    ['content_filter', 'RECITATION', 'RECITATION'],
    ['error', 'MALFORMED_FUNCTION_CALL', 'MALFORMED_FUNCTION_CALL'],
    ['error', null, 'OTHER'],
    ['paused', 'pause_turn', 'OTHER'],
    ['other', 'STOP', 'OTHER'],
  ] as const)('%s (%s) is %s', (reason, raw, word) => {
    const read = readGeminiStream(write(unframed([start, text('a'), finish(reason, raw), end])));
    expect(read.finishReasons).toEqual([word]);
  });

  it('keep the id of the stream that another answer goes on with', () => {
    const frames = decoded(chunk(candidate([{ text: 'one ' }])));
    const rest = unframed([
      { type: 'start', id: 'other', model: 'm-2' },
      text('two'),
      finish(),
      end,
    ]);
    const read = readGeminiStream(write([...frames, ...rest]));
    expect(read).toMatchObject({ text: 'one two', ids: ['r1'], models: ['gemini-3-pro', 'm-2'] });
  });

  it('tell of several choices each for itself', () => {
    const second: ChatEvent = { type: 'text', choice: 1, text: 'b' };
    const events = [start, text('a'), second, finish(), { ...finish('length'), choice: 1 }, end];
    const read = readGeminiStream(write(unframed(events as ChatEvent[])));
    expect(read.finishReasons).toEqual(['STOP', 'MAX_TOKENS']);
  });
});

describe('frames of the dialect', () => {
  const stream =
    chunk(candidate([{ text: 'he', brandNew: 1 }])) +
    chunk(candidate([{ functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' }])) +
    `: a comment\r\n\r\n${chunk(candidate([{ text: '' }], { finishReason: 'STOP' }))}${chunk({ usageMetadata: { promptTokenCount: 3 } })}`;

  it('pass byte by byte, but for comments, on which SDKs fail', () => {
    expect(write(decoded(stream))).toBe(stream.replace(': a comment\r\n\r\n', ''));
  });

  it('keep line ends and unknown fields of their own', () => {
    const odd = `data:{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP","new":{}}],"x":1.0}\n\n`;
    expect(write(decoded(odd))).toBe(odd);
  });

  it('end with what was asked for on top, in a chunk that SDKs keep', () => {
    const written = write(decoded(stream.replace(',"brandNew":1', '')), {
      meta: () => ({ request_id: 'q' }),
    });
    const last = readGeminiStream(written).documents.at(-1);
    expect(last).toMatchObject({
      tiergate: { request_id: 'q' },
      responseId: 'r1',
      candidates: [{ content: { parts: [{ text: '' }] } }],
    });
  });

  it('tell a finish once, also where a call came after it', () => {
    const late =
      chunk(candidate([{ text: 'a' }], { finishReason: 'STOP' })) +
      chunk(candidate([{ functionCall: { name: 'f', args: {} } }]));
    const parts = decoded(late);
    const written = write(parts);
    expect(written.match(/finishReason/g)).toHaveLength(1);
    expect(written.match(/functionCall/g)).toHaveLength(1);
  });

  it('a call in pieces passes as it came, and is not told again at the end', () => {
    const pieces =
      chunk(candidate([{ functionCall: { name: 'f', willContinue: true } }])) +
      chunk(
        candidate([
          {
            functionCall: {
              partialArgs: [{ jsonPath: '$.a', stringValue: 'x' }],
              willContinue: true,
            },
          },
        ]),
      ) +
      chunk(candidate([{ text: '' }], { finishReason: 'STOP' }));
    expect(write(decoded(pieces))).toBe(pieces);
  });
});

describe('the array that comes without alt=sse', () => {
  it('is one JSON text, of chunks of our own or of frames', () => {
    const own = write(unframed([start, text('he'), text('llo'), finish(), end]), {}, arrayForm());
    expect(readGeminiArray(own)).toMatchObject({ text: 'hello', finishReasons: ['STOP'] });
    const frames =
      chunk(candidate([{ text: 'he' }])) +
      `: c\r\n\r\n` +
      chunk(candidate([{ text: 'llo' }], { finishReason: 'STOP' }));
    const passed = write(decoded(frames), {}, arrayForm());
    expect(readGeminiArray(passed)).toMatchObject({ text: 'hello', finishReasons: ['STOP'] });
    expect(arrayForm().streamType).toContain('application/json');
  });

  it('closes after an error, also one that comes first', () => {
    const failure = failureWith({ failureClass: 'stream_interrupted', regenerate: true });
    const encoder = arrayForm().streamEncoder(options);
    const begun = encoder.push({ events: [start, text('a')], frame: null }).toString();
    expect(readGeminiArray(begun + encoder.fail(failure)).error).toMatchObject({ code: 502 });
    expect(readGeminiArray(arrayForm().streamEncoder(options).fail(failure)).error).not.toBeNull();
    expect(readGeminiArray(write([{ events: [end], frame: null }], {}, arrayForm()))).toMatchObject(
      {
        documents: [],
      },
    );
  });
});

it('an error in the stream is its last event', () => {
  const encoder = geminiClient.streamEncoder(options);
  const begun = encoder.push({ events: [start, text('a')], frame: null }).toString();
  const failure = failureWith({ failureClass: 'stream_interrupted', regenerate: true });
  const read = readGeminiStream(begun + encoder.fail(failure));
  expect(read.error).toMatchObject({
    code: 502,
    status: 'INTERNAL',
    message: 'No target answered. (request req-1)',
    tiergate: { class: 'stream_interrupted', regenerate: true },
  });
  expect(encoder.push({ events: [text('b')], frame: null })).toBe('');
  expect(encoder.fail(failure)).toBe('');
});

it('every chunk has the id of the first, also where the provider tells its own later', () => {
  const late = [text('a'), start, text('b'), finish(), end];
  expect(readGeminiStream(write(unframed(late))).ids).toEqual(['own']);
});

it('a call whose end is never told is told when the answer is over', () => {
  const open = called(0, 'c', 'look', '{"a":1}').slice(0, -1);
  const { calls } = readGeminiStream(write(unframed([start, finish(), ...open, end])));
  expect(calls).toMatchObject([{ name: 'look', args: { a: 1 } }]);
});
