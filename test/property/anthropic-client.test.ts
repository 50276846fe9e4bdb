import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatReply, ReplyCollector } from '../../src/chat/reply.ts';
import type { StreamPart } from '../../src/chat/stream-event.ts';
import { anthropicMessagesClient as client } from '../../src/dialects/anthropic-messages/client.ts';
import { anthropicMessagesUpstream as upstream } from '../../src/dialects/anthropic-messages/upstream.ts';
import type { UpstreamDialect } from '../../src/dialects/dialect.ts';
import { upstreamDialects } from '../../src/dialects/registry.ts';
import { anthropicVendor } from '../../src/simulator/vendors/anthropic/anthropic-vendor.ts';
import { anyCuts, cutAt, jsonLike } from '../support/decoder-properties.ts';
import { readMessagesStream } from '../support/messages-stream.ts';

const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

/** Every stream of the fixtures that ends, with the dialect that reads it, by its name. */
const streams = new Map(
  [...upstreamDialects].flatMap(([name, dialect]) =>
    readdirSync(`${fixtures}${name}`)
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

function collect(parts: readonly StreamPart[]): ChatReply['choices'][number] | null {
  const collector = new ReplyCollector();
  for (const event of eventsOf(parts)) collector.push(event);
  return collector.reply().choices.find(({ index }) => index === 0) ?? null;
}

function write(parts: readonly StreamPart[]): string {
  const encoder = client.streamEncoder({
    includeUsage: true,
    fallbackId: 'own',
    createdAtSeconds: 1,
    meta: null,
  });
  return parts.map((part) => encoder.push(part).toString()).join('');
}

/** Events alone, as a stream of another dialect gives them. */
function unframed(parts: readonly StreamPart[]): readonly StreamPart[] {
  return parts.map(({ events }) => ({ events, frame: null }));
}

describe('a stream for a client of anthropic-messages', () => {
  it('keeps to the grammar and says the same, whoever said it and however it was cut', () => {
    expect(streams.size).toBeGreaterThan(10);
    fc.assert(
      fc.property(fc.constantFrom(...streams.keys()), anyCuts, (name, cuts) => {
        const { dialect, bytes } = fixture(name);
        const parts = partsOf(dialect, cutAt(bytes, cuts));
        if (eventsOf(parts).some(({ type }) => type === 'error')) return;
        const written = write(unframed(parts));
        const read = readMessagesStream(written);
        expect(read.faults).toEqual([]);
        const said = collect(parts);
        const heard = collect(partsOf(upstream, [Buffer.from(written)]));
        expect(heard?.text ?? '').toBe((said?.text ?? '') + (said?.refusal ?? ''));
        expect(heard?.toolCalls ?? []).toEqual(
          (said?.toolCalls ?? []).map((call) => ({
            ...call,
            arguments: call.arguments === '' ? '{}' : call.arguments,
          })),
        );
        const thoughts = (choice: typeof said): string =>
          (choice?.reasoning ?? []).map(({ text }) => text).join('');
        expect(thoughts(heard)).toBe(thoughts(said));
      }),
    );
  });

  it('keeps to the grammar whatever events come', () => {
    const choice = fc.constantFrom(0, 0, 0, 1);
    const text = fc.constantFrom('', 'a', '{', 'é🌍');
    const call = fc.tuple(fc.array(text, { maxLength: 3 }), fc.boolean());
    const event = fc.oneof(
      fc.record({ type: fc.constant('text' as const), choice, text }),
      fc.record({ type: fc.constant('refusal' as const), choice, text }),
      fc.record({ type: fc.constant('reasoning' as const), choice, text }),
      fc.record({
        type: fc.constant('reasoning_end' as const),
        choice,
        signature: fc.constantFrom(null, 'S'),
        redacted: fc.constantFrom(null, 'R'),
      }),
      fc.record({
        type: fc.constant('finish' as const),
        choice,
        reason: fc.constantFrom('stop' as const, 'length' as const, 'other' as const),
        raw: fc.constantFrom(null, 'odd'),
      }),
      fc.constant({ type: 'activity' as const, isProgress: false }),
      fc.constant({ type: 'start' as const, id: 'x', model: 'm' }),
    );
    const group = fc.oneof(
      event.map((each) => [each]),
      call.map(([fragments, isEnded]) => [
        { type: 'tool_call_start' as const, choice: 0, index: 0, id: 'i', name: 'n' },
        ...fragments.map((fragment) => {
          return { type: 'tool_call_arguments' as const, choice: 0, index: 0, fragment };
        }),
        ...(isEnded ? [{ type: 'tool_call_end' as const, choice: 0, index: 0 }] : []),
      ]),
    );
    fc.assert(
      fc.property(fc.array(group, { maxLength: 12 }), (groups) => {
        const events = [
          ...groups.flat(),
          { type: 'finish', choice: 0, reason: 'stop', raw: null } as const,
          { type: 'end' } as const,
        ];
        const written = write(events.map((each) => ({ events: [each], frame: null })));
        expect(readMessagesStream(written).faults).toEqual([]);
      }),
    );
  });

  it('of this dialect passes unchanged', () => {
    const own = [...streams.keys()].filter((name) => {
      const { dialect, bytes } = fixture(name);
      // SDKs cannot read events under another name: those are written anew.
      const isRenamed = bytes.includes('event: vertex_event');
      return dialect === upstream && bytes.includes('event: message_stop') && !isRenamed;
    });
    fc.assert(
      fc.property(fc.constantFrom(...own), anyCuts, (name, cuts) => {
        const { bytes } = fixture(name);
        const parts = partsOf(upstream, cutAt(bytes, cuts));
        if (parts.some(({ frame }) => frame === null)) return;
        const sent = write(parts);
        // The message is over: what a provider says behind it, and be it a line feed, says nothing.
        expect(bytes.toString().startsWith(sent)).toBe(true);
        expect(sent).toMatch(/message_stop[^\r\n]*[\r\n]+$/);
      }),
    );
  });
});

describe('a request of a client of anthropic-messages', () => {
  it('throws on nothing that a client may send', () => {
    const anything = jsonLike(
      [
        'messages',
        'role',
        'content',
        'type',
        'text',
        'source',
        'input',
        'id',
        'name',
        'system',
        'tools',
        'thinking',
        'signature',
      ],
      ['user', 'assistant', 'text', 'tool_use', 'tool_result', 'image', 'thinking', 'document'],
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
          anything.map((value) => Buffer.from(JSON.stringify(value))),
          anything.map((content) =>
            Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] })),
          ),
        ),
        (body) => {
          client.decodeRequest(body);
        },
      ),
    );
  });

  it('leaves with all fields that nobody here knows, and its own model', () => {
    const names = fc.string({ maxLength: 8 }).filter((name) => name !== 'thinking');
    const fields = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
    fc.assert(
      fc.property(fields, fc.boolean(), (extra, isSpaced) => {
        const own = { model: 'a', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
        const body = Buffer.from(JSON.stringify({ ...extra, ...own }, null, isSpaced ? 2 : 0));
        const decoded = client.decodeRequest(body);
        if (!decoded.ok) return;
        const { request } = decoded.value;
        const encoded = upstream.encodeCall({
          request,
          model: 'house-model',
          isStream: request.isStream,
          system: null,
          parameters: request.parameters,
          ownedParameters: [],
          extraFields: {},
          toolDescriptions: {},
          maxOutputTokens: null,
          isReasoningModel: false,
        });
        if (!encoded.ok) throw new Error(encoded.fault.message);
        const { tiergate: _, ...kept } = JSON.parse(body.toString());
        expect(JSON.parse(encoded.value.body.toString())).toEqual({
          ...kept,
          model: 'house-model',
        });
      }),
    );
  });

  it('is taken by a service of its dialect as it was, after the edit for a model of the family', () => {
    const head = {
      method: 'POST',
      path: '/v1/messages',
      query: new URLSearchParams(),
      headers: { 'anthropic-version': '2023-06-01' },
    };
    const route = anthropicVendor.route(head);
    if (route === null) throw new Error('no route');
    const bodies = fc.record(
      {
        temperature: fc.constantFrom(0, 0.5, 1),
        top_k: fc.constantFrom(1, 40),
        thinking: fc.constantFrom(
          { type: 'enabled', budget_tokens: 2000 },
          { type: 'adaptive' },
          { type: 'disabled' },
        ),
        output_config: fc.constantFrom({ effort: 'low' }, { effort: 'xhigh' }),
        system: fc.constantFrom('s', [{ type: 'text', text: 's' }]),
        tools: fc.constant([{ name: 'f', input_schema: { type: 'object' } }]),
      },
      { requiredKeys: [] },
    );
    const models = [
      'claude-3-5-haiku-20241022',
      'claude-sonnet-4-5',
      'claude-opus-4-6',
      'claude-opus-4-7',
    ];
    const thought = { type: 'thinking', thinking: 't', signature: 'tgu_not-signed' };
    const loop = [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: [thought, { type: 'tool_use', id: 'a b', name: 'f', input: {} }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a b', content: '1' }] },
    ];
    fc.assert(
      fc.property(bodies, fc.constantFrom(...models), fc.boolean(), (fields, model, isLoop) => {
        const isThinking = fields.thinking?.type === 'enabled' && fields.temperature !== 1;
        // A fault of the client's own, whatever the model.
        if (isThinking && fields.temperature !== undefined) return;
        const messages = isLoop ? loop : [{ role: 'user', content: 'q' }];
        const text = JSON.stringify({ model: 'a', max_tokens: 4000, messages, ...fields });
        const decoded = client.decodeRequest(Buffer.from(text));
        if (!decoded.ok) throw new Error(decoded.fault.message);
        const { request } = decoded.value;
        const encoded = upstream.encodeCall({
          request,
          model,
          isStream: false,
          system: { before: 'B', after: 'A' },
          parameters: request.parameters,
          ownedParameters: [],
          extraFields: {},
          toolDescriptions: { f: 'described' },
          maxOutputTokens: 8192,
          isReasoningModel: false,
        });
        if (!encoded.ok) throw new Error(encoded.fault.message);
        const body = JSON.parse(encoded.value.body.toString());
        expect(anthropicVendor.validate(body, route, head)).toBeNull();
        expect(body.system.at(0)).toEqual({ type: 'text', text: 'B' });
      }),
    );
  });
});
