import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatReply, ReplyCollector } from '../../src/chat/reply.ts';
import type { ChatRequest } from '../../src/chat/request.ts';
import type { ChatEvent, StreamPart } from '../../src/chat/stream-event.ts';
import type { UpstreamCall, UpstreamDialect } from '../../src/dialects/dialect.ts';
import { geminiClient as client } from '../../src/dialects/gemini/client.ts';
import { geminiUpstream as upstream } from '../../src/dialects/gemini/upstream.ts';
import { upstreamDialects } from '../../src/dialects/registry.ts';
import { anthropicVendor } from '../../src/simulator/vendors/anthropic/anthropic-vendor.ts';
import { geminiVendor } from '../../src/simulator/vendors/gemini/gemini-vendor.ts';
import { openaiVendor } from '../../src/simulator/vendors/openai/openai-vendor.ts';
import type { Vendor } from '../../src/simulator/vendors/vendor.ts';
import { anyCuts, cutAt, jsonLike } from '../support/decoder-properties.ts';
import {
  type ReadAnswer,
  readGeminiArray,
  readGeminiReply,
  readGeminiStream,
} from '../support/gemini-answers.ts';
import { openaiBodies } from '../support/openai-bodies.ts';
import { callOf, sent } from '../unit/dialects/upstream-calls.ts';

const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

type Stream = { readonly dialect: UpstreamDialect; readonly bytes: Buffer };

/** Every stream of the fixtures that ends well, by its name. */
const streams: ReadonlyMap<string, Stream> = new Map(
  [...upstreamDialects].flatMap(([name, dialect]) => {
    const folder = `${fixtures}${name}`;
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names
      .map((each) => [`${name}/${each}`, `${folder}/${each}/stream.sse`] as const)
      .filter(([, file]) => existsSync(file))
      .map(([key, file]) => [key, { dialect, bytes: readFileSync(file) }] as const)
      .filter(([, { bytes }]) => {
        const types: readonly string[] = eventsOf(partsOf(dialect, [bytes])).map(
          ({ type }) => type,
        );
        return ['finish', 'end'].every((type) => types.includes(type)) && !types.includes('error');
      });
  }),
);

function fixture(name: string): Stream {
  const found = streams.get(name);
  if (found === undefined) throw new Error(name);
  return found;
}

function partsOf(dialect: UpstreamDialect, pieces: readonly Buffer[]): readonly StreamPart[] {
  const decoder = dialect.streamDecoder({ eventBytesMax: 1 << 20 });
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
}

function eventsOf(parts: readonly StreamPart[]): readonly ChatEvent[] {
  return parts.flatMap(({ events }) => events);
}

function collect(events: readonly ChatEvent[]): ChatReply {
  const collector = new ReplyCollector();
  for (const event of events) collector.push(event);
  return collector.reply();
}

const options = { includeUsage: true, fallbackId: 'own', createdAtSeconds: 1, meta: null };

function write(parts: readonly StreamPart[], alt: 'sse' | 'json' = 'sse'): string {
  const form = client.pathCalls?.dialectFor('m:streamGenerateContent', () => alt);
  if (form === null || form === undefined) throw new Error('no form');
  const encoder = form.streamEncoder(options);
  return parts.map((part) => encoder.push(part).toString()).join('');
}

/** Events alone, as a stream of another dialect gives them. */
function unframed(parts: readonly StreamPart[]): readonly StreamPart[] {
  return parts.map(({ events }) => ({ events, frame: null }));
}

/** What the first choice said and called, as far as this dialect has a form for it. */
function saidIn(reply: ChatReply): Pick<ReadAnswer, 'text' | 'thoughts'> & { calls: unknown } {
  const choice = reply.choices.find(({ index }) => index === 0);
  return {
    text: (choice?.text ?? '') + (choice?.refusal ?? ''),
    thoughts: (choice?.reasoning ?? []).map(({ text }) => text).join(''),
    calls: (choice?.toolCalls ?? []).flatMap((call) => {
      const args = parsed(call.arguments);
      return args === null ? [] : [{ name: call.name, args }];
    }),
  };
}

function heardIn({ text, thoughts, calls }: ReadAnswer) {
  return { text, thoughts, calls: calls.map(({ name, args }) => ({ name, args })) };
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

describe('an answer for a client of gemini', () => {
  it('keeps to the grammar and says the same, whoever said it and however it was cut', () => {
    expect(streams.size).toBeGreaterThan(20);
    fc.assert(
      fc.property(fc.constantFrom(...streams.keys()), anyCuts, (name, cuts) => {
        const { dialect, bytes } = fixture(name);
        const parts = partsOf(dialect, cutAt(bytes, cuts));
        const reply = collect(eventsOf(parts));
        const said = saidIn(reply);
        const events = readGeminiStream(write(unframed(parts)));
        expect(heardIn(events)).toEqual(said);
        expect(heardIn(readGeminiArray(write(unframed(parts), 'json')))).toEqual(said);
        const whole = client.encodeReply({ ...options, reply, original: null });
        const read = readGeminiReply(whole.toString());
        expect(heardIn(read)).toEqual(said);
        expect(read.finishReasons).toEqual(events.finishReasons);
      }),
    );
  });

  it('of this dialect passes unchanged, and as an array says the same', () => {
    const own = [...streams.keys()].filter((name) => fixture(name).dialect === upstream);
    fc.assert(
      fc.property(fc.constantFrom(...own), anyCuts, (name, cuts) => {
        const { bytes } = fixture(name);
        const parts = partsOf(upstream, cutAt(bytes, cuts));
        // The last part says that the body has ended.
        if (parts.slice(0, -1).some(({ frame }) => frame === null)) return;
        const finishes = eventsOf(parts).filter(({ type }) => type === 'finish');
        if (finishes.length === 1) expect(bytes.toString()).toContain(write(parts));
        const array: unknown = JSON.parse(write(parts, 'json'));
        expect(Array.isArray(array)).toBe(true);
      }),
    );
  });

  it('keeps to the grammar whatever events come', () => {
    const choice = fc.constantFrom(0, 0, 0, 1);
    const text = fc.constantFrom('', 'a', '{', '{}', '\r\n', '\u2028', 'é🌍', '\ud800');
    const event: fc.Arbitrary<ChatEvent> = fc.oneof(
      fc.record({ type: fc.constant('text' as const), choice, text }),
      fc.record({ type: fc.constant('refusal' as const), choice, text }),
      fc.record({ type: fc.constant('reasoning' as const), choice, text }),
      fc.record({
        type: fc.constant('finish' as const),
        choice,
        reason: fc.constantFrom('stop' as const, 'length' as const, 'other' as const),
        raw: fc.constantFrom(null, 'odd', 'STOP'),
      }),
      fc.constant({ type: 'activity' as const, isProgress: false }),
      fc.constant({ type: 'start' as const, id: 'x', model: 'm' }),
      fc.constant({ type: 'malformed' as const }),
    );
    const call = fc.tuple(fc.array(text, { maxLength: 3 }), fc.boolean());
    const group: fc.Arbitrary<ChatEvent[]> = fc.oneof(
      event.map((each) => [each]),
      call.map(([fragments, isEnded]): ChatEvent[] => [
        { type: 'tool_call_start', choice: 0, index: 0, id: 'i', name: 'n' },
        ...fragments.map((fragment): ChatEvent => {
          return { type: 'tool_call_arguments', choice: 0, index: 0, fragment };
        }),
        ...(isEnded ? [{ type: 'tool_call_end', choice: 0, index: 0 } as const] : []),
      ]),
    );
    fc.assert(
      fc.property(fc.array(group, { maxLength: 12 }), (groups) => {
        const finishes = [0, 1].map((each): ChatEvent => {
          return { type: 'finish', choice: each, reason: 'stop', raw: null };
        });
        const events: ChatEvent[] = [...groups.flat(), ...finishes, { type: 'end' }];
        const parts = events.map((each) => ({ events: [each], frame: null }));
        const read = readGeminiStream(write(parts));
        expect(heardIn(readGeminiArray(write(parts, 'json')))).toEqual(heardIn(read));
      }),
    );
  });
});

function requestOf(bytes: Buffer): ChatRequest {
  const decoded = client.decodeRequest(bytes);
  if (!decoded.ok) throw new Error(`${decoded.fault.param}: ${decoded.fault.message}`);
  return decoded.value.request;
}

function asked(request: ChatRequest, model: string): UpstreamCall {
  return {
    request,
    model,
    isStream: false,
    system: { before: 'B', after: 'A' },
    parameters: request.parameters,
    ownedParameters: [],
    extraFields: {},
    toolDescriptions: { f: 'described' },
    maxOutputTokens: 65_536,
    isReasoningModel: false,
    usualModel: 'gemini-2.5-flash',
  };
}

/** Bodies of this dialect, as good as those that clients of another are translated into. */
const bodies = openaiBodies
  .filter((body) => !JSON.stringify(body).includes('https://example.com/a.png'))
  .map((body) => sent(upstream, callOf(body, { model: 'gemini-3-pro-preview' })).text);

const services: readonly (readonly [vendor: Vendor, model: string, path: string])[] = [
  [geminiVendor, 'gemini-2.5-flash', '/v1beta/models/gemini-2.5-flash:generateContent'],
  [geminiVendor, 'gemini-3-pro-preview', '/v1beta/models/gemini-3-pro-preview:generateContent'],
  [anthropicVendor, 'claude-sonnet-4-5', '/v1/messages'],
  [openaiVendor, 'gpt-4.1-mini', '/v1/chat/completions'],
];

const dialectNames: ReadonlyMap<Vendor, string> = new Map([
  [geminiVendor, 'gemini'],
  [anthropicVendor, 'anthropic-messages'],
  [openaiVendor, 'openai-chat'],
]);

describe('a request of a client of gemini', () => {
  it('is taken by every service, edited or translated', () => {
    fc.assert(
      fc.property(bodies, fc.constantFrom(...services), (text, [vendor, model, path]) => {
        const request = requestOf(Buffer.from(text));
        const dialect = upstreamDialects.get(dialectNames.get(vendor) ?? '');
        if (dialect === undefined || dialect.missingAbility(request) !== null) return;
        // That both cannot be had at once is the client's own doing, on that service.
        const format = request.parameters.response_format?.type;
        if (dialect === upstream && model.includes('2.5') && format?.startsWith('json')) return;
        // Wants the word in the prompt, which is the client's.
        if (vendor === openaiVendor && format === 'json_object') return;
        const encoded = dialect.encodeCall(asked(request, model));
        if (!encoded.ok) throw new Error(encoded.fault.message);
        const body: unknown = JSON.parse(encoded.value.body.toString());
        const head = {
          method: 'POST',
          path,
          query: new URLSearchParams(),
          headers: { 'anthropic-version': '2023-06-01' },
        };
        const route = vendor.route(head);
        if (route === null) throw new Error('no route');
        expect(vendor.validate(body, route, head)).toBeNull();
      }),
    );
  });

  it('says the same when it is translated back into its dialect', () => {
    fc.assert(
      fc.property(bodies, (text) => {
        // A name that was mapped once would be mapped again.
        fc.pre(!text.includes('"tgn_'));
        const request = requestOf(Buffer.from(text));
        const foreign = { ...request, original: { ...request.original, dialect: 'other' } };
        const call = { ...asked(foreign, 'gemini-3-pro-preview'), system: null };
        const again = JSON.parse(sent(upstream, { ...call, toolDescriptions: {} }).text);
        const first = JSON.parse(text);
        expect(again.contents).toEqual(first.contents);
        expect(
          again.tools?.[0]?.functionDeclarations.map(({ name }: { name: string }) => name),
        ).toEqual(first.tools?.[0]?.functionDeclarations.map(({ name }: { name: string }) => name));
        expect(again.toolConfig).toEqual(first.toolConfig);
        expect(again.systemInstruction).toEqual(first.systemInstruction);
      }),
    );
  });

  it('throws on nothing that a client may send', () => {
    const anything = jsonLike(
      `contents role parts text inlineData inline_data fileData functionCall functionResponse name
       args response id tools functionDeclarations parameters generationConfig thinkingConfig
       systemInstruction thoughtSignature responseSchema properties type anyOf`.split(/\s+/),
      ['user', 'model', 'function', 'STRING', 'OBJECT', 'ANY', 'image/png'],
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
          anything.map((value) => Buffer.from(JSON.stringify(value))),
          anything.map((parts) => Buffer.from(JSON.stringify({ contents: [{ parts }] }))),
          anything.map((tools) =>
            Buffer.from(JSON.stringify({ contents: [{ parts: [{ text: 'x' }] }], tools })),
          ),
        ),
        (body) => {
          const decoded = client.decodeRequest(body);
          if (!decoded.ok) return;
          const { request } = decoded.value;
          JSON.stringify(request.messages);
          for (const dialect of upstreamDialects.values()) {
            if (dialect.missingAbility(request) === null) dialect.encodeCall(asked(request, 'm'));
          }
        },
      ),
    );
  });

  it('leaves with all fields that nobody here knows', () => {
    const names = fc.string({ maxLength: 8 });
    const fields = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
    fc.assert(
      fc.property(fields, fc.boolean(), (extra, isSpaced) => {
        const own = { contents: [{ parts: [{ text: 'hi' }] }] };
        const text = JSON.stringify({ ...extra, ...own }, null, isSpaced ? 2 : 0);
        const decoded = client.decodeRequest(Buffer.from(text));
        if (!decoded.ok) return;
        const call = { ...asked(decoded.value.request, 'gemini-2.5-flash'), system: null };
        expect(sent(upstream, call).text).toBe(text);
      }),
    );
  });
});
