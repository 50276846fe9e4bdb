/** Odd answers of every upstream dialect, told to clients of every dialect: each character and digit as it came. */
import { describe, expect, it } from 'vitest';
import { ReplyCollector } from '../../../src/chat/reply.ts';
import type { StreamPart } from '../../../src/chat/stream-event.ts';
import type { UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { encodeMessage } from '../../support/event-stream-codec.ts';
import { toldReaders } from '../../support/told-clients.ts';

const args = '{"big":12345678901234567890123,"small":-0.0,"exact":1.10,"huge":1e400}';
const text = [
  ...Array.from({ length: 17 }, (_, plane) => String.fromCodePoint(plane * 0x10000 + 0xe5)),
  '\u0000\u001f\u0085\u2028\u2029\ufeff\ufffe"\\\r\n\n data: [DONE]',
].join('');
const quoted = JSON.stringify(text);
const called = JSON.stringify(args);

type Answer = { readonly whole: string; readonly stream: Buffer };

/** As each service writes it: the arguments are put in as they are spelled. */
const answers: { readonly [upstream: string]: Answer } = {
  'openai-chat': {
    whole: `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":${quoted},"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":${called}}}]},"finish_reason":"tool_calls"}]}`,
    stream: lines(
      `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":${quoted}}}]}`,
      `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"look","arguments":${called}}}]}}]}`,
      `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
      '[DONE]',
    ),
  },
  'openai-responses': {
    whole: `{"id":"resp_1","object":"response","model":"m","status":"completed","output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":${quoted},"annotations":[]}]},{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"look","arguments":${called}}]}`,
    stream: lines(
      '{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress","output":[]}}',
      '{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","content":[]}}',
      `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":${quoted}}`,
      `{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":${quoted}}]}}`,
      '{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"look","arguments":""}}',
      `{"type":"response.function_call_arguments.delta","output_index":1,"delta":${called}}`,
      `{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"look","arguments":${called}}}`,
      '{"type":"response.completed","response":{"id":"resp_1","model":"m","status":"completed","output":[]}}',
    ),
  },
  'anthropic-messages': {
    whole: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":${quoted}},{"type":"tool_use","id":"call_1","name":"look","input":${args}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
    stream: lines(
      '{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${quoted}}}`,
      '{"type":"content_block_stop","index":0}',
      '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"call_1","name":"look","input":{}}}',
      `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":${called}}}`,
      '{"type":"content_block_stop","index":1}',
      '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}',
      '{"type":"message_stop"}',
    ),
  },
  gemini: (() => {
    const chunk = `{"candidates":[{"content":{"role":"model","parts":[{"text":${quoted}},{"functionCall":{"name":"look","args":${args}}}]},"finishReason":"STOP","index":0}],"modelVersion":"m","responseId":"r"}`;
    return { whole: chunk, stream: lines(chunk) };
  })(),
  'bedrock-converse': {
    whole: `{"output":{"message":{"role":"assistant","content":[{"text":${quoted}},{"toolUse":{"toolUseId":"call_1","name":"look","input":${args}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1}}`,
    stream: messages(
      ['messageStart', '{"role":"assistant"}'],
      ['contentBlockDelta', `{"contentBlockIndex":0,"delta":{"text":${quoted}}}`],
      ['contentBlockStop', '{"contentBlockIndex":0}'],
      [
        'contentBlockStart',
        '{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"call_1","name":"look"}}}',
      ],
      ['contentBlockDelta', `{"contentBlockIndex":1,"delta":{"toolUse":{"input":${called}}}}`],
      ['contentBlockStop', '{"contentBlockIndex":1}'],
      ['messageStop', '{"stopReason":"tool_use"}'],
    ),
  },
};

function lines(...data: readonly string[]): Buffer {
  return Buffer.from(data.map((each) => `data: ${each}\n\n`).join(''));
}

function messages(...events: readonly (readonly [string, string])[]): Buffer {
  const event = { type: 'string', value: 'event' } as const;
  return Buffer.concat(
    events.map(([name, payload]) => {
      const named = { type: 'string', value: name } as const;
      return encodeMessage({ ':message-type': event, ':event-type': named }, payload);
    }),
  );
}

function streamed(upstream: UpstreamDialect, bytes: Buffer): readonly StreamPart[] {
  const decoder = upstream.streamDecoder({ eventBytesMax: 1 << 20 });
  return [...decoder.push(bytes), ...decoder.end()];
}

/** As the wire of a client has them: as an object, or as a text that spells one. */
const spellings: readonly string[] = [args, called.slice(1, -1)];

/** A call that comes in pieces is put together of them. */
function argumentsIn(raw: string): boolean {
  return spellings.some((spelled) => raw.includes(spelled));
}

const options = { includeUsage: true, fallbackId: 'own', createdAtSeconds: 1, meta: null };

const pairs = [...upstreamDialects.values()].flatMap((upstream) =>
  [...clientDialects.values()].map((client) => ({
    from: upstream.name,
    to: client.name,
    upstream,
    client,
  })),
);

describe.each(pairs)('from $from to $to', ({ from, to, upstream, client }) => {
  const answer = answers[from];
  const reader = toldReaders[to];
  if (answer === undefined || reader === undefined) throw new Error(`no answer of ${from}`);

  it('a whole answer keeps its characters, and the digits of arguments', () => {
    const collector = new ReplyCollector();
    const parts = upstream.decodeReply(Buffer.from(answer.whole));
    for (const event of parts.flatMap(({ events }) => events)) collector.push(event);
    const reply = collector.reply();
    const raw = client.encodeReply({ ...options, reply, original: null }).toString();
    expect(reader.whole(raw).text).toBe(text);
    expect(argumentsIn(raw)).toBe(true);
  });

  it('a stream keeps its characters, and the digits of arguments', () => {
    const encoder = client.streamEncoder(options);
    const parts = streamed(upstream, answer.stream).map(({ events }) => ({ events, frame: null }));
    const raw = parts.map((part) => encoder.push(part).toString()).join('');
    expect(reader.stream(raw).text).toBe(text);
    expect(argumentsIn(raw)).toBe(true);
  });
});

/** What each service says of an answer with calls, and the word for one without, which some servers say of both. */
const endWords: { readonly [upstream: string]: readonly [called: string, natural: string] } = {
  'openai-chat': ['"finish_reason":"tool_calls"', '"finish_reason":"stop"'],
  'anthropic-messages': ['"stop_reason":"tool_use"', '"stop_reason":"end_turn"'],
  'bedrock-converse': ['"stopReason":"tool_use"', '"stopReason":"end_turn"'],
  // The same word for both.
  'openai-responses': ['"status":"completed"', '"status":"completed"'],
  gemini: ['"finishReason":"STOP"', '"finishReason":"STOP"'],
};

it.each([...upstreamDialects.values()])(
  'an answer of $name with calls ends with them, though it be called a natural end',
  (upstream) => {
    const [called, natural] = endWords[upstream.name] ?? ['', ''];
    const whole = answers[upstream.name]?.whole ?? '';
    expect(whole).toContain(called);
    const parts = upstream.decodeReply(Buffer.from(whole.replaceAll(called, natural)));
    const finishes = parts.flatMap(({ events }) => events.filter(({ type }) => type === 'finish'));
    expect(finishes).toEqual([expect.objectContaining({ reason: 'tool_calls' })]);
  },
);
