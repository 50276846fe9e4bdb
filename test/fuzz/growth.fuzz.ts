/** Eight times as much takes no more than about eight times as long: requests and answers of every dialect. */
import { describe, expect, it } from 'vitest';
import { ReplyCollector } from '../../src/chat/reply.ts';
import type { StreamPart } from '../../src/chat/stream-event.ts';
import { clientDialects, upstreamDialects } from '../../src/dialects/registry.ts';
import type { Answer, ToolCall } from '../../src/simulator/prompt.ts';
import { cutEvery } from '../conformance/dialects/decoded.ts';
import { type CutUpstream, cutUpstreams } from '../support/cuts/cut-upstreams.ts';
import { growthFault } from '../support/growth.ts';
import { type Conversation, largeBodies } from '../support/large-bodies.ts';

const small: Conversation = {
  prompt: 'hello',
  exchanges: 1,
  arguments: '{"a":1}',
  tools: 1,
  schema: { type: 'object', properties: { a: { type: 'integer' } } },
};

const models: { readonly [dialect: string]: string } = {
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-2.5-flash',
  'bedrock-converse': 'anthropic.claude-sonnet-4-5-20250929-v1:0',
};

/** From the client's bytes to the target's. */
function carried(client: string, upstream: string, of: Partial<Conversation>): () => void {
  const bytes = Buffer.from(largeBodies[client]?.({ ...small, ...of }) ?? '');
  return () => {
    const decoded = clientDialects.get(client)?.decodeRequest(bytes);
    if (decoded?.ok !== true) throw new Error(decoded?.fault.message ?? client);
    const { request } = decoded.value;
    const encoded = upstreamDialects.get(upstream)?.encodeCall({
      request,
      model: models[upstream] ?? 'gpt-4.1',
      isStream: true,
      system: { before: 'before', after: 'after' },
      parameters: request.parameters,
      ownedParameters: [],
      extraFields: {},
      toolDescriptions: {},
      maxOutputTokens: 64_000,
      isReasoningModel: false,
    });
    if (encoded?.ok !== true) throw new Error(encoded?.fault.message ?? upstream);
  };
}

const pairs = [...clientDialects.keys()].flatMap((client) =>
  [...upstreamDialects.keys()].map((upstream) => ({ client, upstream })),
);

describe.each(pairs)('a request from $client to $upstream', ({ client, upstream }) => {
  const sized = (of: (size: number) => Partial<Conversation>) => (size: number) =>
    carried(client, upstream, of(size));

  it('of longer texts', () => {
    const work = sized((size) => ({ prompt: '"wörd"\n '.repeat(size) }));
    expect(growthFault(work, 20_000)).toBeNull();
  });

  it('of more turns and calls', () => {
    expect(
      growthFault(
        sized((exchanges) => ({ exchanges })),
        100,
      ),
    ).toBeNull();
  });

  it('of more tools', () => {
    expect(
      growthFault(
        sized((tools) => ({ tools })),
        100,
      ),
    ).toBeNull();
  });

  it('of larger arguments', () => {
    const work = sized((size) => ({ arguments: `{"a":[${'1.10,'.repeat(size)}1]}` }));
    expect(growthFault(work, 5000)).toBeNull();
  });
});

function answer(over: Partial<Answer>): Answer {
  const usage = { input: 1, cached: 0, output: 1, thinking: 0 };
  const plain = { thinking: '', text: '', calls: [], end: 'complete', rawFinish: null } as const;
  return { ...plain, stopSequence: null, usage, ...over };
}

function callsOf(count: number, text: string): Partial<Answer> {
  const calls = Array.from({ length: count }, (_, nth): ToolCall => {
    return { id: `call_${String(nth).padStart(24, '0')}`, name: 'look', arguments: text };
  });
  return { calls, end: 'tools' };
}

function streamOf({ vendor, model }: CutUpstream, said: Answer): Buffer {
  const route = { operation: 'generate', model, isStream: true, isArray: false } as const;
  const prompt = { ...vendor.read({}, route), showsThinking: true, includeUsage: true };
  const identity = {
    id: vendor.messageId('0123456789abcdef01234567'),
    requestId: 'req',
    model,
    createdAtSeconds: 1,
    eol: vendor.eol,
  };
  const frames = vendor.frames(said, prompt, { identity, isArray: false });
  const encoding = vendor.binaryStreams === undefined ? 'utf8' : 'latin1';
  return Buffer.from(frames.map(({ frame }) => frame).join(''), encoding);
}

const options = { includeUsage: true, fallbackId: 'own', createdAtSeconds: 1, meta: null };

/** From a provider's bytes to those of clients of every dialect, streamed and whole. */
function told(upstream: CutUpstream, said: Answer, pieceBytes: number): () => void {
  const pieces = cutEvery(streamOf(upstream, said), pieceBytes);
  return () => {
    const decoder = upstreamDialects.get(upstream.dialect)?.streamDecoder({
      eventBytesMax: 1 << 27,
    });
    if (decoder === undefined) throw new Error(upstream.dialect);
    const encoders = [...clientDialects.values()].map((client) => client.streamEncoder(options));
    const collector = new ReplyCollector();
    const tell = (parts: readonly StreamPart[]): void => {
      for (const part of parts) {
        for (const encoder of encoders) encoder.push(part);
        for (const event of part.events) collector.push(event);
      }
    };
    for (const piece of pieces) tell(decoder.push(piece));
    tell(decoder.end());
    const reply = collector.reply();
    if (reply.choices[0]?.finish == null) throw new Error('no finish');
    for (const client of clientDialects.values()) {
      client.encodeReply({ ...options, reply, original: null });
    }
  };
}

describe.each(cutUpstreams)('an answer of $dialect', (upstream) => {
  const sized = (of: (size: number) => Partial<Answer>, pieceBytes: number) => (size: number) =>
    told(upstream, answer(of(size)), pieceBytes);

  it.each([100, 4096, 1 << 20])('of more words, in reads of %i bytes', (pieceBytes) => {
    const work = sized((size) => ({ text: 'word '.repeat(size) }), pieceBytes);
    expect(growthFault(work, 1000)).toBeNull();
  });

  it('of more thinking', () => {
    const work = sized((size) => ({ thinking: 'word '.repeat(size), text: 'a' }), 4096);
    expect(growthFault(work, 1000)).toBeNull();
  });

  it.each([64, 4096])('of a call with larger arguments, in reads of %i bytes', (pieceBytes) => {
    const work = sized((size) => callsOf(1, `{"a":"${'word '.repeat(size)}"}`), pieceBytes);
    expect(growthFault(work, 1000)).toBeNull();
  });

  it('of more calls', () => {
    // More than 1,024 are no answer.
    expect(
      growthFault(
        sized((size) => callsOf(size, '{"a":1}'), 4096),
        100,
      ),
    ).toBeNull();
  });
});
