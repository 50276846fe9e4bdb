/** Faults of the answer on the wires that speak neither lines of chat nor one document a line: seen as a gateway sees them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/chat/stream-event.ts';
import { upstreamDialects } from '../../../src/dialects/registry.ts';
import { decodeStream } from '../../conformance/dialects/decoded.ts';
import {
  type SimulatedUpstream,
  startSimulatedUpstream,
} from '../../support/simulated-upstream.ts';
import { parseReply, type RawOptions, type RawReply, rawRequest } from './raw-client.ts';

let upstream: SimulatedUpstream;
beforeAll(async () => {
  upstream = await startSimulatedUpstream();
});
beforeEach(() => upstream.control.clear());
afterAll(() => upstream.close());

const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1%3A0';

const wires = {
  'openai-responses': {
    provider: 'p1',
    path: { whole: '/responses', stream: '/responses' },
    body: (isStream: boolean) => ({ model: 'gpt-4.1', input: 'hi', stream: isStream }),
    firstWord: '"delta":" a"',
    errorCode: 'server_error',
  },
  'bedrock-converse': {
    provider: 'p5',
    path: { whole: `/model/${model}/converse`, stream: `/model/${model}/converse-stream` },
    body: () => ({ messages: [{ role: 'user', content: [{ text: 'hi' }] }] }),
    firstWord: '"text":" a"',
    errorCode: 'internalServerException',
  },
} as const;

type WireName = keyof typeof wires;
const names = Object.keys(wires) as readonly WireName[];

function ask(
  name: WireName,
  form: 'whole' | 'stream',
  options: RawOptions = {},
): Promise<RawReply> {
  const { provider, path, body } = wires[name];
  const headers = { authorization: 'Bearer test-key' };
  return rawRequest(upstream.url(provider) + path[form], body(form === 'stream'), {
    ...options,
    headers,
  });
}

function decoded(name: WireName, reply: RawReply) {
  const dialect = upstreamDialects.get(name);
  if (dialect === undefined) throw new Error(name);
  const { body } = parseReply(reply.bytes);
  return decodeStream(dialect, [body]);
}

const ends = (events: readonly ChatEvent[]): boolean => events.some(({ type }) => type === 'end');

describe.each(names)('on the wire of %s', (name) => {
  const strike = (kind: Parameters<typeof upstream.control.fault>[1], afterTokens = 3): void =>
    upstream.control.fault(wires[name].provider, kind, { afterTokens });

  it('an answer without a fault comes to its end', async () => {
    const told = decoded(name, await ask(name, 'stream'));
    expect(told).toMatchObject({ error: null, malformed: 0, finish: 'stop', hasEnded: true });
  });

  it('cut breaks a stream off, truncate ends it: neither says that it is over', async () => {
    for (const [kind, isComplete] of [
      ['cut', false],
      ['truncate', true],
    ] as const) {
      upstream.control.clear();
      strike(kind);
      const reply = await ask(name, 'stream');
      expect(parseReply(reply.bytes)).toMatchObject({ status: 200, isComplete });
      const { events, text, finish } = decoded(name, reply);
      expect([text.startsWith('This is'), finish, ends(events)]).toEqual([true, null, false]);
    }
  });

  it('stall goes silent and stays open', async () => {
    strike('stall');
    const { firstWord, provider } = wires[name];
    const reply = await ask(name, 'stream', { leaveWhen: (text) => text.includes(firstWord) });
    expect(reply.end).toBe('left');
    expect(ends(decoded(name, reply).events)).toBe(false);
    await upstream.until(() => upstream.requests(provider).at(-1)?.end === 'peer_closed');
  });

  it('malformed breaks the later events, which nobody takes for good ones', async () => {
    strike('malformed');
    const told = decoded(name, await ask(name, 'stream'));
    expect(told.malformed).toBeGreaterThanOrEqual(2);
    expect(told.text).toMatch(/^This is/);
  });

  it('stream_error ends a stream in the words of the wire', async () => {
    strike('stream_error');
    const { error, hasEnded } = decoded(name, await ask(name, 'stream'));
    expect(hasEnded).toBe(false);
    expect(JSON.stringify(error?.body)).toContain(wires[name].errorCode);
    expect(parseReply((await ask(name, 'whole')).bytes).status).toBe(500);
  });

  it('whole replies are cut, and broken in the middle', async () => {
    strike('cut');
    expect(parseReply((await ask(name, 'whole')).bytes).isComplete).toBe(false);
    upstream.control.clear();
    strike('malformed');
    const broken = parseReply((await ask(name, 'whole')).bytes);
    expect(() => JSON.parse(broken.body.toString())).toThrow();
  });
});

describe('the lean mode', () => {
  it.each(names)('answers in the wire of %s', async (name) => {
    const lean = await startSimulatedUpstream({ lean: { words: 3, eventsPerWrite: 1 } });
    const { provider, path, body } = wires[name];
    const dialect = upstreamDialects.get(name);
    const asked = (form: 'whole' | 'stream') =>
      rawRequest(lean.url(provider) + path[form], body(form === 'stream'));
    const whole = parseReply((await asked('whole')).bytes);
    const parts = dialect?.decodeReply(whole.body) ?? [];
    expect(parts.flatMap(({ events }) => events)).toContainEqual({
      type: 'text',
      choice: 0,
      text: 'word word word',
    });
    const told = decoded(name, await asked('stream'));
    await lean.close();
    expect(told).toMatchObject({ text: 'word word word', finish: 'stop', hasEnded: true });
  });
});
