import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type SseEvent, SseSplitter } from '../../src/framing/sse.ts';

function split(pieces: readonly Buffer[], eventBytesMax = 1 << 20): readonly SseEvent[] {
  const splitter = new SseSplitter({ eventBytesMax });
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort(
    (left, right) => left - right,
  );
  const pieces: Buffer[] = [];
  let from = 0;
  for (const place of [...sorted, bytes.length]) {
    pieces.push(bytes.subarray(from, place));
    from = place;
  }
  return pieces;
}

/** What a reader learns: of comments only fields, since where line ends are mixed a cut may give one more. */
function told(events: readonly SseEvent[]): unknown[] {
  return events.flatMap((event): unknown[] => {
    if (event.kind === 'too_large') return [event.kind];
    if (event.kind === 'comment') {
      return event.otherFields.length + (event.event?.length ?? 0) === 0 ? [] : [event.otherFields];
    }
    return [[event.kind, event.event, event.data, event.otherFields]];
  });
}

function bytesOf(events: readonly SseEvent[]): Buffer {
  return Buffer.concat(
    events.flatMap((event) => (event.kind === 'too_large' ? [] : [event.bytes])),
  );
}

function eventsIn(events: readonly SseEvent[]): readonly SseEvent[] {
  return events.filter(({ kind }) => kind !== 'comment');
}

/** Line ends as one sign each: which of them a mixed stream was meant to have cannot be told at a cut. */
function withPlainLineEnds(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/\r\n|\r/g, '\n');
}

/** Text made of the pieces that a stream is made of, so that every branch is met. */
const streamText = fc
  .array(
    fc.constantFrom(
      'data: ',
      'data:',
      'data',
      'event: ',
      'id: 1',
      ':',
      'error: x',
      '\n',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      '{"a":"é🌍"}',
      ' ',
      '\ufeff',
      'x',
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.from(parts.join('')));
const cuts = fc.array(fc.nat(500), { maxLength: 12 });

function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(Buffer.from('\ufeff')) ? bytes.subarray(3) : bytes;
}

it('ST-13 ST-14 ST-17 any cut of any stream gives the same events, and all of its lines', () => {
  fc.assert(
    fc.property(streamText, cuts, (bytes, places) => {
      const whole = split([bytes]);
      const pieces = split(cutAt(bytes, places));
      expect(told(pieces)).toEqual(told(whole));
      const lines = withPlainLineEnds(withoutMark(bytes));
      expect(withPlainLineEnds(bytesOf(pieces))).toBe(lines);
      expect(withPlainLineEnds(bytesOf(whole))).toBe(lines);
    }),
  );
});

it('ST-14 a stream of one kind of line end keeps every byte, and every event its own', () => {
  const lineEnds = fc.constantFrom('\n', '\r\n', '\r');
  fc.assert(
    fc.property(streamText, lineEnds, cuts, (text, lineEnd, places) => {
      const bytes = Buffer.from(text.toString('utf8').replace(/\r\n|\r|\n/g, lineEnd));
      const whole = split([bytes]);
      const pieces = split(cutAt(bytes, places));
      expect(eventsIn(pieces)).toEqual(eventsIn(whole));
      expect(bytesOf(pieces).equals(bytesOf(whole))).toBe(true);
    }),
  );
});

it('any bytes at all are split without a fault, and never held beyond the bound', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 400 }),
      cuts,
      fc.integer({ min: 1, max: 64 }),
      (raw, places, bound) => {
        const events = split(cutAt(Buffer.from(raw), places), bound);
        const tooLarge = events.findIndex((event) => event.kind === 'too_large');
        if (tooLarge !== -1) expect(tooLarge).toBe(events.length - 1);
        for (const event of events) {
          if (event.kind !== 'too_large') expect(event.bytes.length).toBeLessThanOrEqual(bound);
        }
      },
    ),
  );
});
