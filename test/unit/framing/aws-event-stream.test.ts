import { describe, expect, it } from 'vitest';
import {
  type EventStreamMessage,
  EventStreamSplitter,
} from '../../../src/framing/aws-event-stream.ts';
import { encodeEvent, encodeMessage } from '../../support/event-stream-codec.ts';

function split(pieces: readonly Buffer[], eventBytesMax = 1 << 20): readonly EventStreamMessage[] {
  const splitter = new EventStreamSplitter({ eventBytesMax });
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

const kinds = (messages: readonly EventStreamMessage[]) => messages.map(({ kind }) => kind);

/** `bytes` with one of them changed. */
function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0x01;
  return copy;
}

const hello = encodeEvent('contentBlockDelta', { delta: { text: 'héllo 🌍' } });

describe('an event stream', () => {
  it('gives the headers and the payload of each message, in order', () => {
    const bytes = Buffer.concat([hello, encodeEvent('messageStop', { stopReason: 'end_turn' })]);
    const messages = split([bytes]);
    expect(kinds(messages)).toEqual(['message', 'message']);
    const [first] = messages;
    if (first?.kind !== 'message') throw new Error('no message');
    expect(first.headers.get(':event-type')).toBe('contentBlockDelta');
    expect(JSON.parse(first.payload.toString('utf8'))).toEqual({ delta: { text: 'héllo 🌍' } });
  });

  it('gives the same whatever single place it is cut at, and byte by byte', () => {
    const bytes = Buffer.concat([hello, hello, encodeEvent('x', {})]);
    const told = (pieces: readonly Buffer[]): string =>
      split(pieces)
        .map((message) => (message.kind === 'message' ? message.payload.toString('utf8') : '!'))
        .join('\n');
    const whole = told([bytes]);
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(told([bytes.subarray(0, at), bytes.subarray(at)])).toBe(whole);
    }
    expect(told([...bytes].map((byte) => Buffer.from([byte])))).toBe(whole);
  });

  it('reads every type of header', () => {
    const bytes = encodeMessage(
      {
        yes: { type: 'boolean', value: true },
        no: { type: 'boolean', value: false },
        byte: { type: 'byte', value: -7 },
        short: { type: 'short', value: -20_000 },
        integer: { type: 'integer', value: -500_000 },
        binary: { type: 'binary', value: Buffer.from([0, 255]) },
        string: { type: 'string', value: 'é' },
        timestamp: { type: 'timestamp', value: new Date(5_000_000_000) },
        uuid: { type: 'uuid', value: 'b79bc914-de21-4e13-b8b2-bc47e85b7f0b' },
      },
      '',
    );
    const [message] = split([bytes]);
    if (message?.kind !== 'message') throw new Error('no message');
    expect(Object.fromEntries(message.headers)).toEqual({
      yes: true,
      no: false,
      byte: -7,
      short: -20_000,
      integer: -500_000,
      binary: Buffer.from([0, 255]),
      string: 'é',
      timestamp: 5_000_000_000,
      uuid: 'b79bc914de214e13b8b2bc47e85b7f0b',
    });
  });

  it('tells nothing of a message with any one bit changed, and nothing after it', () => {
    for (let at = 0; at < hello.length; at += 1) {
      const messages = split([Buffer.concat([hello, flipped(hello, at), hello])]);
      expect(kinds(messages).slice(0, 2), `byte ${at}`).toEqual(['message', 'corrupt']);
      expect(messages).toHaveLength(2);
    }
  });

  it('a message beyond the bound ends it when its length is known, before it is held', () => {
    const splitter = new EventStreamSplitter({ eventBytesMax: hello.length });
    expect(kinds(splitter.push(hello))).toEqual(['message']);
    const large = encodeEvent('x', { text: 'x'.repeat(200) });
    expect(splitter.push(large.subarray(0, 12))).toEqual([
      { kind: 'too_large', bytesStated: large.length },
    ]);
    expect(splitter.push(hello)).toEqual([]);
    expect(splitter.end()).toEqual([]);
  });

  it('a body that ends in mid-message leaves its rest', () => {
    const rest = hello.subarray(0, -1);
    expect(split([hello, rest]).at(-1)).toEqual({ kind: 'residual', bytes: rest });
    expect(split([Buffer.alloc(0)])).toEqual([]);
  });

  it.each([
    ['text', Buffer.from('{"message":"no frames at all"}')],
    ['a page', Buffer.from('<html><body>502</body></html>')],
    ['zeros', Buffer.alloc(64)],
    ['ones', Buffer.alloc(64, 0xff)],
  ])('%s is no stream', (_name, bytes) => {
    expect(kinds(split([bytes]))).toEqual(['corrupt']);
  });
});
