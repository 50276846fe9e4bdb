import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatReply, ReplyCollector } from '../../src/chat/reply.ts';
import type { ChatEvent, StreamPart } from '../../src/chat/stream-event.ts';
import { openaiChatClient } from '../../src/dialects/openai-chat/client.ts';
import { openaiChatUpstream } from '../../src/dialects/openai-chat/upstream.ts';

function decode(pieces: readonly Buffer[]): readonly StreamPart[] {
  const decoder = openaiChatUpstream.streamDecoder({ eventBytesMax: 1 << 20 });
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
}

function eventsOf(parts: readonly StreamPart[]): readonly ChatEvent[] {
  return parts.flatMap((part) => part.events).filter((event) => event.type !== 'activity');
}

function collect(parts: readonly StreamPart[]): ChatReply {
  const collector = new ReplyCollector();
  for (const event of eventsOf(parts)) collector.push(event);
  return collector.reply();
}

function cutEvery(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

const word = fc.constantFrom('', 'a', '{', '}', '{"x":', '1}', '"', '\\', 'é🌍', '\ud800');
const toolDelta = fc.record(
  {
    index: fc.oneof(fc.nat(3), fc.constant(null), fc.constant('0')),
    id: fc.constantFrom('a', 'b', '', null, 7),
    type: fc.constantFrom('function', 'custom', null),
    function: fc.oneof(
      fc.record(
        {
          name: fc.constantFrom('f', 'g', '', null),
          arguments: fc.oneof(word, fc.constant(null), fc.constant({ a: 1 })),
        },
        { requiredKeys: [] },
      ),
      fc.constant(null),
    ),
  },
  { requiredKeys: [] },
);
const delta = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.oneof(
      word,
      fc.constant(null),
      fc.constant([
        { type: 'thinking', thinking: [{ text: 't' }] },
        { type: 'text', text: 'x' },
        7,
      ]),
    ),
    reasoning_content: word,
    refusal: word,
    tool_calls: fc.oneof(fc.array(toolDelta, { maxLength: 3 }), fc.constant(null), fc.constant({})),
  },
  { requiredKeys: [] },
);
const choice = fc.record(
  {
    index: fc.oneof(fc.nat(2), fc.constant(-1), fc.constant(1e9)),
    delta: fc.oneof(delta, fc.constant(null)),
    finish_reason: fc.constantFrom(
      null,
      null,
      null,
      '',
      'stop',
      'length',
      'tool_calls',
      'odd',
      'error',
    ),
  },
  { requiredKeys: [] },
);
const chunk = fc.oneof(
  fc.record(
    {
      id: fc.constantFrom('c-1', ''),
      model: fc.constant('m'),
      choices: fc.oneof(fc.array(choice, { maxLength: 3 }), fc.constant(null)),
      usage: fc.oneof(
        fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat() }),
        fc.constant(null),
        fc.constant({ prompt_tokens: -1, completion_tokens: 'x' }),
      ),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
);
const stream = fc
  .array(fc.oneof(chunk.map(frame), fc.constant(': ping\n\n'), fc.constant('data: {"cut\n\n')), {
    maxLength: 12,
  })
  .map((frames) => Buffer.from(`${frames.join('')}data: [DONE]\n\n`));

describe('a decoder', () => {
  it('ST-17 tells the same of any stream, however it is cut', () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 20 }), (bytes, size) => {
        expect(eventsOf(decode(cutEvery(bytes, size)))).toEqual(eventsOf(decode([bytes])));
      }),
    );
  });

  it('TR-02 tells calls one after another, numbered without gaps, each begun and ended once', () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        const next = new Map<number, number>();
        const open = new Map<number, number>();
        for (const event of eventsOf(decode([bytes]))) {
          if (event.type === 'tool_call_start') {
            expect(open.has(event.choice)).toBe(false);
            expect(event.index).toBe(next.get(event.choice) ?? 0);
            expect(event.id).not.toBe('');
            expect(event.name).not.toBe('');
            next.set(event.choice, event.index + 1);
            open.set(event.choice, event.index);
          } else if (event.type === 'tool_call_arguments') {
            expect(open.get(event.choice)).toBe(event.index);
          } else if (event.type === 'tool_call_end') {
            expect(open.get(event.choice)).toBe(event.index);
            open.delete(event.choice);
          }
        }
      }),
    );
  });

  it('throws on no bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (raw) => {
        decode([Buffer.from(raw)]);
        openaiChatUpstream.decodeReply(Buffer.from(raw));
      }),
    );
  });

  it('throws on no document', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        openaiChatUpstream.decodeReply(Buffer.from(JSON.stringify(value)));
        const facts = openaiChatUpstream.readError({ status: 400, headers: {}, body: value });
        expect(typeof facts.message).toBe('string');
        openaiChatUpstream.hints.bodyDelay(value);
      }),
    );
  });
});

it('a client that reads what was written learns what the provider said', () => {
  fc.assert(
    fc.property(stream, fc.boolean(), (bytes, isPassed) => {
      const parts = decode([bytes]);
      // After an error nothing is passed on.
      if (eventsOf(parts).some((event) => event.type === 'error')) return;
      const encoder = openaiChatClient.streamEncoder({
        includeUsage: true,
        fallbackId: 'own',
        createdAtSeconds: 1,
        meta: null,
      });
      const written = parts.map((part) => {
        const given = isPassed ? part : { ...part, frame: null };
        return Buffer.from(encoder.push(given));
      });
      const reread = decode(written);
      const [said, read] = [collect(parts), collect(reread)];
      expect(eventsOf(reread).some((event) => event.type === 'malformed')).toBe(false);
      for (const choiceSaid of said.choices) {
        const found = read.choices.find(({ index }) => index === choiceSaid.index);
        expect(found?.text ?? '').toBe(choiceSaid.text);
        expect(found?.toolCalls.map(({ id, name }) => [id, name]) ?? []).toEqual(
          choiceSaid.toolCalls.map(({ id, name }) => [id, name]),
        );
      }
      expect(eventsOf(reread).filter((event) => event.type === 'end')).toHaveLength(1);
    }),
  );
});

describe('a request', () => {
  it('throws on no body', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (raw) => {
          openaiChatClient.decodeRequest(Buffer.from(raw));
        },
      ),
    );
  });

  it('leaves with all fields that nobody here knows, and its own model', () => {
    const fields = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), {
      maxKeys: 5,
    });
    fc.assert(
      fc.property(fields, fc.boolean(), (extra, isSpaced) => {
        const json = { ...extra, model: 'a', messages: [{ role: 'user', content: 'hi' }] };
        const body = Buffer.from(JSON.stringify(json, null, isSpaced ? 2 : 0));
        const decoded = openaiChatClient.decodeRequest(body);
        if (!decoded.ok) return;
        const { request } = decoded.value;
        const encoded = openaiChatUpstream.encodeCall({
          request,
          model: 'b',
          isStream: request.isStream,
          system: { before: 'B', after: '' },
          parameters: request.parameters,
          ownedParameters: [],
          extraFields: {},
          toolDescriptions: {},
          maxOutputTokens: null,
          isReasoningModel: false,
        });
        expect(encoded.ok).toBe(true);
        if (!encoded.ok) return;
        const sent = JSON.parse(encoded.value.body.toString());
        expect(sent.messages).toEqual([{ role: 'system', content: 'B' }, ...json.messages]);
        const { tiergate: _, ...kept } = JSON.parse(body.toString());
        expect(sent).toEqual({ ...kept, model: 'b', messages: sent.messages });
      }),
    );
  });
});
