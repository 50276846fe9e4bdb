import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatReply, ReplyCollector } from '../../src/chat/reply.ts';
import type { StreamPart } from '../../src/chat/stream-event.ts';
import type { UpstreamDialect } from '../../src/dialects/dialect.ts';
import { openaiResponsesClient as client } from '../../src/dialects/openai-responses/client.ts';
import { upstreamDialects } from '../../src/dialects/registry.ts';
import { anyCuts, cutAt, jsonLike } from '../support/decoder-properties.ts';
import { type Json, responseFaults } from '../support/responses-object.ts';
import { readResponsesStream } from '../support/responses-stream.ts';

const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

/** Every stream of the fixtures that ends, with the dialect that reads it, by its name. */
const streams = new Map(
  [...upstreamDialects].flatMap(([name, dialect]) =>
    (existsSync(`${fixtures}${name}`) ? readdirSync(`${fixtures}${name}`) : [])
      .map((folder) => ({
        name: `${name}/${folder}`,
        file: `${fixtures}${name}/${folder}/stream.sse`,
      }))
      .filter(({ file }) => existsSync(file))
      .map((each) => [each.name, { dialect, bytes: readFileSync(each.file) }] as const)
      .filter(([, { bytes }]) => hasEnd(partsOf(dialect, [bytes]))),
  ),
);

function fixture(name: string): { readonly dialect: UpstreamDialect; readonly bytes: Buffer } {
  const found = streams.get(name);
  if (found === undefined) throw new Error(name);
  return found;
}

function hasEnd(parts: readonly StreamPart[]): boolean {
  return eventsOf(parts).some(({ type }) => type === 'end');
}

function partsOf(dialect: UpstreamDialect, pieces: readonly Buffer[]): readonly StreamPart[] {
  const decoder = dialect.streamDecoder({ eventBytesMax: 1 << 20 });
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
}

function eventsOf(parts: readonly StreamPart[]) {
  return parts.flatMap(({ events }) => events);
}

function collect(parts: readonly StreamPart[]): ChatReply {
  const collector = new ReplyCollector();
  for (const event of eventsOf(parts)) collector.push(event);
  return collector.reply();
}

const options = { includeUsage: true, fallbackId: 'own', createdAtSeconds: 1, meta: null };

function write(parts: readonly StreamPart[]): string {
  const encoder = client.streamEncoder(options);
  return parts.map((part) => encoder.push(part).toString()).join('');
}

/** Events alone, as a stream of another dialect gives them. */
function unframed(parts: readonly StreamPart[]): readonly StreamPart[] {
  return parts.map(({ events }) => ({ events, frame: null }));
}

/** What a client makes of the output: text with refusals, thoughts, calls. */
function heardIn(output: readonly Json[]) {
  const texts = (of: string, field: string): string =>
    output
      .filter(({ type }) => type === of)
      .flatMap((item) => item[field] as readonly Json[])
      .map((part) => part['text'] ?? part['refusal'])
      .join('');
  return {
    text: texts('message', 'content'),
    thoughts: texts('reasoning', 'summary'),
    calls: output
      .filter(({ type }) => type === 'function_call')
      .map((item) => ({ id: item['call_id'], name: item['name'], arguments: item['arguments'] })),
  };
}

function saidIn(reply: ChatReply): ReturnType<typeof heardIn> {
  const choice = reply.choices.find(({ index }) => index === 0);
  return {
    text: (choice?.text ?? '') + (choice?.refusal ?? ''),
    thoughts: (choice?.reasoning ?? []).map(({ text }) => text).join(''),
    calls: (choice?.toolCalls ?? []).map((call) => ({
      ...call,
      arguments: call.arguments === '' ? '{}' : call.arguments,
    })),
  };
}

/** Such a part tells a client of any dialect nothing. */
function saysNothing(events: StreamPart['events']): boolean {
  return events.every(({ type }) => type === 'activity');
}

describe('an answer for a client of openai-responses', () => {
  it('keeps to the grammar and says the same, streamed and whole, whoever said it and however it was cut', () => {
    expect(streams.size).toBeGreaterThan(10);
    fc.assert(
      fc.property(fc.constantFrom(...streams.keys()), anyCuts, (name, cuts) => {
        const { dialect, bytes } = fixture(name);
        const parts = partsOf(dialect, cutAt(bytes, cuts));
        if (eventsOf(parts).some(({ type }) => type === 'error')) return;
        const reply = collect(parts);
        const streamed = readResponsesStream(write(unframed(parts)));
        expect(streamed.faults).toEqual([]);
        expect(heardIn(streamed.output)).toEqual(saidIn(reply));
        const whole = JSON.parse(
          client.encodeReply({ ...options, reply, original: null }).toString(),
        );
        expect(responseFaults(whole)).toEqual([]);
        expect(heardIn(whole.output)).toEqual(saidIn(reply));
        expect(whole.usage).toEqual(streamed.response?.['usage']);
        expect(whole.status).toBe(streamed.response?.['status']);
      }),
    );
  });

  it('keeps to the grammar whatever events come', () => {
    const choice = fc.constantFrom(0, 0, 0, 1);
    const text = fc.constantFrom('', 'a', '{', 'é🌍', '\ud800');
    const call = fc.tuple(fc.array(text, { maxLength: 3 }), fc.boolean());
    const reasons = [
      'stop',
      'length',
      'tool_calls',
      'content_filter',
      'error',
      'paused',
      'other',
    ] as const;
    const finish = fc.record({
      type: fc.constant('finish' as const),
      choice,
      reason: fc.constantFrom(...reasons),
      raw: fc.constantFrom(null, 'odd'),
    });
    const event = fc.oneof(
      fc.record({ type: fc.constant('text' as const), choice, text }),
      fc.record({ type: fc.constant('refusal' as const), choice, text }),
      fc.record({ type: fc.constant('reasoning' as const), choice, text }),
      fc.record(
        {
          type: fc.constant('reasoning_end' as const),
          choice,
          signature: fc.constantFrom(null, 'S'),
          redacted: fc.constantFrom(null, 'R'),
          dialect: fc.constantFrom('anthropic-messages', 'openai-responses'),
        },
        { requiredKeys: ['type', 'choice', 'signature', 'redacted'] },
      ),
      finish,
      fc.constant({ type: 'activity' as const, isProgress: false }),
      fc.constant({ type: 'malformed' as const }),
      fc.constant({ type: 'start' as const, id: 'x', model: 'm' }),
      fc.constant({
        type: 'usage' as const,
        usage: {
          inputTokens: 3,
          outputTokens: null,
          cachedTokens: null,
          cacheWriteTokens: 1,
          reasoningTokens: null,
        },
      }),
    );
    let index = 0;
    const group = fc.oneof(
      event.map((each) => [each]),
      call.map(([fragments, isEnded]) => {
        index += 1;
        return [
          { type: 'tool_call_start' as const, choice: 0, index, id: `i${index}`, name: 'n' },
          ...fragments.map((fragment) => {
            return { type: 'tool_call_arguments' as const, choice: 0, index, fragment };
          }),
          ...(isEnded ? [{ type: 'tool_call_end' as const, choice: 0, index }] : []),
        ];
      }),
    );
    fc.assert(
      fc.property(fc.array(group, { maxLength: 12 }), fc.option(finish), (groups, last) => {
        const events = [
          ...groups.flat(),
          ...(last === null ? [] : [last]),
          { type: 'end' } as const,
        ];
        const written = write(events.map((each) => ({ events: [each], frame: null })));
        expect(readResponsesStream(written).faults).toEqual([]);
      }),
    );
  });
});

describe('a stream of openai-responses for a client of it', () => {
  it('passes unchanged, however it was cut', () => {
    const own = [...streams.keys()].filter((name) => name.startsWith('openai-responses/'));
    expect(own.length).toBeGreaterThan(10);
    fc.assert(
      fc.property(fc.constantFrom(...own), anyCuts, (name, cuts) => {
        const { dialect, bytes } = fixture(name);
        const parts = partsOf(dialect, cutAt(bytes, cuts));
        const passed = parts.flatMap(({ frame }) => (frame === null ? [] : [frame.bytes]));
        const isWhole = parts.every(({ frame, events }) => frame !== null || saysNothing(events));
        if (!isWhole) return;
        const sent = write(parts);
        // The response is over: what a provider says behind it says nothing.
        expect(Buffer.concat(passed).toString().startsWith(sent)).toBe(true);
        expect(sent).toMatch(/response\.(completed|incomplete)/);
      }),
    );
  });

  it('that another answer goes on with ends in one response that holds both', () => {
    const own = fixture('openai-responses/text-stream');
    const parts = partsOf(own.dialect, [own.bytes]);
    const first = parts.findIndex(({ events }) => events.some(({ type }) => type === 'text'));
    fc.assert(
      fc.property(fc.constantFrom(...streams.keys()), (name) => {
        const { dialect, bytes } = fixture(name);
        const rest = partsOf(dialect, [bytes]);
        if (eventsOf(rest).some(({ type }) => type === 'error')) return;
        const encoder = client.streamEncoder(options);
        const begun = parts.slice(0, first + 1).map((part) => encoder.push(part).toString());
        encoder.join({ from: 'a', to: 'b' });
        const written = rest.map((part) => encoder.push(part).toString());
        const numbers = [...begun, ...written]
          .join('')
          .matchAll(/"sequence_number":(\d+)/g)
          .map(([, number]) => Number(number))
          .toArray();
        expect(numbers).toEqual([...numbers.keys()].map((at) => at + (numbers[0] ?? 0)));
        const last = JSON.parse(
          written.join('').split('data: ').at(-1)?.split('\n')[0] ?? '',
        ).response;
        const said = saidIn(collect([...parts.slice(0, first + 1), ...rest]));
        expect(heardIn(last.output).text).toBe(said.text);
      }),
    );
  });
});

describe('a request of a client of openai-responses', () => {
  it('throws on nothing that a client may send', () => {
    const anything = jsonLike(
      [
        'input',
        'role',
        'content',
        'type',
        'text',
        'image_url',
        'output',
        'call_id',
        'name',
        'arguments',
        'id',
        'summary',
        'encrypted_content',
        'tools',
        'format',
      ],
      [
        'user',
        'assistant',
        'input_text',
        'output_text',
        'refusal',
        'function_call',
        'function_call_output',
        'item_reference',
        'reasoning',
        'custom_tool_call',
        'input_file',
      ],
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
          anything.map((value) => Buffer.from(JSON.stringify(value))),
          anything.map((input) => Buffer.from(JSON.stringify({ input }))),
          anything.map((item) => Buffer.from(JSON.stringify({ input: [item], store: true }))),
          anything.map((rest) => Buffer.from(JSON.stringify({ ...Object(rest), input: 'x' }))),
        ),
        (body) => {
          client.decodeRequest(body);
        },
      ),
    );
  });

  it('says the same where its long texts are put off', () => {
    const long = fc.string({ maxLength: 80 }).map((text) => text.repeat(200));
    const image = (data: string) => `data:image/png;base64,${data}`;
    const forms: readonly ((text: string) => object)[] = [
      (text) => ({ role: 'user', content: text }),
      (text) => ({ role: 'user', content: [{ type: 'input_text', text }] }),
      (text) => ({ role: 'user', content: [{ type: 'input_image', image_url: image(text) }] }),
      (text) => ({ role: 'assistant', content: [{ type: 'output_text', text }] }),
      (text) => ({ type: 'function_call', call_id: 'c', name: 'f', arguments: text }),
      (output) => ({ type: 'function_call_output', call_id: 'c', output }),
      (text) => ({ type: 'reasoning', summary: [{ type: 'summary_text', text }] }),
    ];
    fc.assert(
      fc.property(fc.array(long, { minLength: 7, maxLength: 7 }), (texts) => {
        const input = forms.map((form, index) => form(texts[index] ?? ''));
        const decoded = client.decodeRequest(Buffer.from(JSON.stringify({ input })));
        if (!decoded.ok) throw new Error(decoded.fault.message);
        const read = decoded.value.request.messages.flatMap((message) =>
          message.content.map((part) => {
            if (part.type === 'tool_call') return part.arguments;
            if (part.type === 'image') {
              return part.source.kind === 'base64' ? part.source.data : part.source.kind;
            }
            return 'text' in part ? part.text : part.type;
          }),
        );
        expect(read).toEqual(texts);
      }),
    );
  });
});
