/** What is kept of an answer that was sent: whole, bounded, and hardly larger than the text itself. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { StreamPart } from '../../../../src/chat/stream-event.ts';
import { SentAnswer } from '../../../../src/engine/continuation/sent-answer.ts';

const keptMax = 1024 * 1024;

function says(text: string, choice = 0): StreamPart {
  return { events: [{ type: 'text', choice, text }], frame: null };
}

function sentBy(pieces: readonly string[]): SentAnswer {
  const sent = new SentAnswer();
  sent.begin(1, 'a/m');
  for (const piece of pieces) sent.note([says(piece)]);
  return sent;
}

describe('the text that was sent', () => {
  it.each([1, 127, 128, 129, 1000])('is whole after %i pieces, whenever it is read', (count) => {
    const pieces = Array.from({ length: count }, (_, at) => `${at} `);
    expect(sentBy(pieces).text).toBe(pieces.join(''));
    const sent = new SentAnswer();
    let whole = '';
    for (const piece of pieces) {
      sent.note([says(piece)]);
      whole += piece;
      expect(sent.text).toBe(whole);
    }
  });

  it('is kept up to 1 MB, and nothing of it beyond', () => {
    const sent = sentBy(['x'.repeat(keptMax - 1), 'y']);
    expect(sent.bar).toBeNull();
    expect(sent.text).toHaveLength(keptMax);
    sent.note([says('z')]);
    expect(sent.bar).toBe('too_long');
    sent.note([says('and more')]);
    expect(sent.text).toBe('');
  });

  it('is measured for the seams also where it is no longer kept', () => {
    const sent = sentBy(['x'.repeat(keptMax), 'yz']);
    sent.begin(2, 'b/m');
    sent.note([says('...')]);
    sent.doubt();
    expect(sent.seams).toEqual([
      { attempt: 1, target: 'a/m', start: 0, end: keptMax + 2, uncertain: false },
      { attempt: 2, target: 'b/m', start: keptMax + 2, end: keptMax + 5, uncertain: true },
    ]);
  });

  it('takes about its own size, however small the pieces are', () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const used = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const length = 256 * 1024;
    const before = used();
    const kept = Array.from({ length: 8 }, () => {
      const sent = new SentAnswer();
      for (let at = 0; at < length; at += 4) sent.note([says(String(at).slice(-4).padStart(4))]);
      return sent;
    });
    const perUnit = (used() - before) / (kept.length * length);
    expect(kept[0]?.bar).toBeNull();
    expect(perUnit).toBeLessThan(3);
  });
});
