import { describe, expect, it } from 'vitest';
import { type SseEvent, SseSplitter } from '../../../src/framing/sse.ts';

const eventBytesMax = 1 << 20;

function split(pieces: readonly Buffer[], bytesMax = eventBytesMax): readonly SseEvent[] {
  const splitter = new SseSplitter({ eventBytesMax: bytesMax });
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

function splitText(text: string): readonly SseEvent[] {
  return split([Buffer.from(text)]);
}

/** What a reader understands: comments left out, since a cut CR LF may add one. */
function told(events: readonly SseEvent[]): unknown[] {
  return events.flatMap((event): unknown[] => {
    if (event.kind === 'too_large') return [event.kind];
    if (event.kind === 'comment' && event.otherFields.length === 0) return [];
    const data = event.kind === 'comment' ? null : event.data;
    return [[event.kind, event.event, data, event.otherFields]];
  });
}

function data(events: readonly SseEvent[]): string[] {
  return events.flatMap((event) => (event.kind === 'event' ? [event.data] : []));
}

function bytesOf(events: readonly SseEvent[]): Buffer {
  return Buffer.concat(
    events.map((event) => (event.kind === 'too_large' ? Buffer.alloc(0) : event.bytes)),
  );
}

function cut(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

const lines = [
  ': hello',
  'event: message',
  'data: {"text":"你好🌍é"}',
  '',
  'data:no space',
  '',
  ':',
  '',
  'data: one',
  'data:  two',
  'data',
  'id: 7',
  'retry: 10',
  '',
  'error: {"code":500}',
  '',
  'data: [DONE]',
  '',
  '',
];

describe('SseSplitter', () => {
  it('reads fields as the standard says', () => {
    expect(told(splitText(lines.join('\n')))).toEqual([
      ['event', 'message', '{"text":"你好🌍é"}', []],
      ['event', null, 'no space', []],
      ['event', null, 'one\n two\n', []],
      ['comment', null, null, [{ name: 'error', value: '{"code":500}' }]],
      ['event', null, '[DONE]', []],
    ]);
  });

  it.each(['\n', '\r\n', '\r'])(
    'ST-13 ST-14 ST-17 every cut gives the same events, line end %j',
    (lineEnd) => {
      const bytes = Buffer.from(lines.join(lineEnd));
      const whole = told(splitText(lines.join('\n')));
      for (const size of [1, 2, 3, 5, 7, 37, 64]) {
        const events = split(cut(bytes, size));
        expect(told(events)).toEqual(whole);
        expect(bytesOf(events).equals(bytes)).toBe(true);
      }
      for (let at = 1; at < bytes.length; at += 1) {
        const events = split([bytes.subarray(0, at), bytes.subarray(at)]);
        expect(told(events)).toEqual(whole);
        expect(bytesOf(events).equals(bytes)).toBe(true);
      }
    },
  );

  it('ST-14 gives an event at its closing CR and does not wait for what follows', () => {
    const splitter = new SseSplitter({ eventBytesMax });
    expect(data(splitter.push(Buffer.from('data: a\r\r')))).toEqual(['a']);
    expect(data(splitter.push(Buffer.from('\ndata: b\r\n\r')))).toEqual(['b']);
    expect(data(splitter.push(Buffer.from('\n')))).toEqual([]);
    expect(splitter.end()).toEqual([]);
  });

  it('ST-15 ST-16 comments end nothing and are no events', () => {
    const events = splitText(': ping\n\ndata: x\n\n: ping\n: ping\n\n:\n\ndata: y\n\n');
    expect(data(events)).toEqual(['x', 'y']);
    expect(events.map((event) => event.kind)).toEqual([
      'comment',
      'event',
      'comment',
      'comment',
      'event',
    ]);
  });

  it.each([1, 2, 3, 4, 64])('drops a byte order mark, cut at %i', (size) => {
    const events = split(cut(Buffer.from('\ufeffdata: a\n\ndata: \ufeffb\n\n'), size));
    expect(data(events)).toEqual(['a', '\ufeffb']);
    expect(bytesOf(events).toString()).toBe('data: a\n\ndata: \ufeffb\n\n');
  });

  it('ST-18 hands out what the body ended with', () => {
    expect(told(splitText('data: a\n\ndata: {"te'))).toEqual([
      ['event', null, 'a', []],
      ['residual', null, '{"te', []],
    ]);
    expect(told(splitText('data: [DONE]\n'))).toEqual([['residual', null, '[DONE]', []]]);
    expect(told(splitText('\ufeffdata: x'))).toEqual([['residual', null, 'x', []]]);
    expect(splitText('')).toEqual([]);
    expect(splitText('\n\n').every((event) => event.kind === 'comment')).toBe(true);
  });

  it('ST-26 an event beyond the bound ends the splitting and is never cut', () => {
    const big = `data: ${'x'.repeat(200)}\n\n`;
    const bytes = Buffer.from(`data: ok\n\n${big}data: after\n\n`);
    for (const size of [1, 7, 64, 1000]) {
      const events = split(cut(bytes, size), 100);
      expect(data(events)).toEqual(['ok']);
      expect(events.at(-1)?.kind).toBe('too_large');
      expect(events).toHaveLength(2);
    }
    const fitting = split([Buffer.from(big)], Buffer.byteLength(big));
    expect(data(fitting)).toEqual(['x'.repeat(200)]);
  });

  it('bounds an event that never ends, comments included', () => {
    const splitter = new SseSplitter({ eventBytesMax: 1000 });
    const kinds: string[] = [];
    for (let count = 0; count < 500; count += 1) {
      kinds.push(...splitter.push(Buffer.from(': keep\n')).map((event) => event.kind));
    }
    expect(kinds).toEqual(['too_large']);
  });

  it('keeps at most 16 unknown fields of one block', () => {
    const [event] = splitText(`${'a: b\n'.repeat(100)}data: x\n\n`);
    expect(event?.kind === 'event' && event.otherFields.length).toBe(16);
  });

  it('does not overwrite the bytes of events it has given out', () => {
    const splitter = new SseSplitter({ eventBytesMax });
    const given = [
      ...splitter.push(Buffer.from('da')),
      ...splitter.push(Buffer.from('ta: a\n\ndat')),
      ...splitter.push(Buffer.from('a: b\n\nda')),
      ...splitter.push(Buffer.from('ta: c\n\n')),
    ];
    expect(bytesOf(given).toString()).toBe('data: a\n\ndata: b\n\ndata: c\n\n');
  });

  it('takes a large event in small reads in linear time', () => {
    const bytes = Buffer.from(`data: ${'x'.repeat(300_000)}\n\n`);
    const events = split(cut(bytes, 16));
    expect(data(events)[0]).toHaveLength(300_000);
  });
});
