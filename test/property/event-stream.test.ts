import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type EventStreamMessage,
  EventStreamSplitter,
} from '../../src/framing/aws-event-stream.ts';
import { decodeMessage, encodeMessage } from '../support/event-stream-codec.ts';

function split(pieces: readonly Buffer[], eventBytesMax = 1 << 20): readonly EventStreamMessage[] {
  const splitter = new EventStreamSplitter({ eventBytesMax });
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

function cutAt(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort(
    (left, right) => left - right,
  );
  return [...sorted, bytes.length].map((place, index) =>
    bytes.subarray(index === 0 ? 0 : sorted[index - 1], place),
  );
}

const places = fc.array(fc.nat(), { maxLength: 12 });

type Message = { readonly headers: Readonly<Record<string, string>>; readonly payload: Buffer };

const message: fc.Arbitrary<Message> = fc
  .record({
    names: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' }), {
      maxLength: 5,
    }),
    value: fc.string({ maxLength: 40, unit: 'grapheme' }),
    payload: fc.uint8Array({ maxLength: 300 }),
  })
  .map(({ names, value, payload }) => ({
    headers: Object.fromEntries(names.map((name) => [name, value])),
    payload: Buffer.from(payload),
  }));

function written(messages: readonly Message[]): Buffer {
  return Buffer.concat(
    messages.map(({ headers, payload }) =>
      encodeMessage(
        Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [
            name,
            { type: 'string' as const, value },
          ]),
        ),
        payload,
      ),
    ),
  );
}

it('what the vendor library writes is read back, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 5 }), places, (messages, cuts) => {
      const read = split(cutAt(written(messages), cuts)).map((each) => {
        if (each.kind !== 'message') throw new Error(each.kind);
        return { headers: Object.fromEntries(each.headers), payload: Buffer.from(each.payload) };
      });
      expect(read).toEqual(messages);
    }),
  );
});

it('whatever bytes are changed, a message is told only if the vendor library would read it', () => {
  const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(message, changes, places, (original, mutations, cuts) => {
      const bytes = written([original]);
      for (const [place, mask] of mutations) {
        const at = place % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ mask;
      }
      const told = split(cutAt(bytes, cuts)).filter(({ kind }) => kind === 'message');
      expect(told.length).toBe(decodeMessage(bytes) === null ? 0 : 1);
    }),
  );
});

it('no bytes crash it or make it hold more than its bound', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), (pieces) => {
      const messages = split(
        pieces.map((piece) => Buffer.from(piece)),
        256,
      );
      expect(messages.filter(({ kind }) => kind === 'message')).toEqual([]);
      expect(messages.length).toBeLessThanOrEqual(1);
    }),
  );
});
