/** Large and odd requests of every client dialect, to every upstream dialect: all of it arrives, as it was spelled. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { UpstreamDialect } from '../../../src/dialects/dialect.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { type Conversation, largeBodies, marksOf, toolName } from '../../support/large-bodies.ts';

const models: { readonly [dialect: string]: string } = {
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-flash',
  'bedrock-converse': 'anthropic.claude-sonnet-4-5-20250929-v1:0',
};

const small: Conversation = {
  prompt: 'hello',
  exchanges: 1,
  arguments: '{"a":1}',
  tools: 1,
  schema: { type: 'object', properties: { a: { type: 'integer' } } },
};

/** What the target is sent. */
function sentTo(upstream: UpstreamDialect, client: string, of: Partial<Conversation>): string {
  const body = Buffer.from(largeBodies[client]?.({ ...small, ...of }) ?? '');
  const decoded = clientDialects.get(client)?.decodeRequest(body);
  if (decoded?.ok !== true) throw new Error(decoded?.fault.message ?? `no ${client}`);
  const { request } = decoded.value;
  expect(upstream.missingAbility(request)).toBeNull();
  const encoded = upstream.encodeCall({
    request,
    model: models[upstream.name] ?? 'gpt-4.1',
    isStream: false,
    system: null,
    parameters: request.parameters,
    ownedParameters: [],
    extraFields: {},
    toolDescriptions: {},
    maxOutputTokens: 64_000,
    isReasoningModel: false,
  });
  if (!encoded.ok) throw new Error(encoded.fault.message);
  expect(encoded.value.dropped.filter((name) => name !== 'strict')).toEqual([]);
  return encoded.value.body.toString();
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

/** Nested `depth` times, with the shape of a schema. */
function deepSchema(depth: number): JsonObject {
  if (depth === 0) return { type: 'string' };
  return { type: 'object', properties: { a: deepSchema(depth - 1) } };
}

/** One character of each plane, those that are none, those that other formats are made of. */
const planes = [
  ...Array.from({ length: 17 }, (_, plane) => String.fromCodePoint(plane * 0x10000 + 0xe5)),
  '\u0000\u0001\u001f\u007f\u0085',
  '\ufffe\uffff\u{1fffe}\u{10ffff}',
  '\u2028\u2029\ufeff\u200d\u202e',
  '"\\/\b\f\n\r\t',
  'data: [DONE]\n\n',
  'e\u0301 👩‍👩‍👧‍👦 نص',
].join('');

const pairs = [...clientDialects.keys()].flatMap((client) =>
  [...upstreamDialects.values()].map((upstream) => ({ client, to: upstream.name, upstream })),
);

describe.each(pairs)('from $client to $to', ({ client, upstream }) => {
  it('a prompt of 1 MB arrives whole', () => {
    const prompt = `${planes} ${'word '.repeat(200_000)}end`;
    const body = JSON.parse(sentTo(upstream, client, { prompt }));
    expect(stringsIn(body)).toContain(prompt);
  });

  it('1,000 messages arrive in their order, and 128 tools', () => {
    const of = { ...small, exchanges: 334, tools: 128 };
    const text = sentTo(upstream, client, of);
    const found = text.match(/(?:says|tells|asks)-\d+-/g);
    expect(found).toEqual(marksOf(of));
    const tools = new Set(text.match(/tool_\d+_x/g));
    expect(tools).toEqual(new Set(Array.from({ length: 128 }, (_, nth) => toolName(nth))));
  });

  it('arguments keep the spelling of their numbers, and what no parser keeps', () => {
    const spelled =
      '{"big":12345678901234567890123,"small":-0.0,"exact":1.10,"huge":1e400,"__proto__":{"b":0.1}}';
    const text = sentTo(upstream, client, { arguments: spelled });
    const isText = upstream.name.startsWith('openai');
    expect(text).toContain(isText ? JSON.stringify(spelled).slice(1, -1) : spelled);
  });

  it('arguments and schemas of 100 levels arrive', () => {
    const depth = 100;
    const deep = `${'{"a":'.repeat(depth)}"deep-words"${'}'.repeat(depth)}`;
    const schema = deepSchema(40);
    const text = sentTo(upstream, client, { arguments: deep, schema });
    expect(text).toContain('deep-words');
    expect(JSON.parse(text)).toBeTypeOf('object');
  });

  it('characters of every plane arrive as they are', () => {
    expect(stringsIn(JSON.parse(sentTo(upstream, client, { prompt: planes })))).toContain(planes);
  });

  it('half a character arrives as one, in bytes that are sound', () => {
    const prompt = 'a\ud800b\udc00c';
    const text = sentTo(upstream, client, { prompt });
    expect(Buffer.from(text).toString()).toBe(text);
    expect(stringsIn(JSON.parse(text))).toContain(prompt);
  });
});
