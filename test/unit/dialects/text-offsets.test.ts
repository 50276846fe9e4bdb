import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextOffsets } from '../../../src/dialects/text-offsets.ts';

const text = 'naïve ☃ 😀 日本 end';

describe('places in a text', () => {
  it.each(['naïve', '☃', '😀', '日本', 'end'])(
    'are counted in each way before and behind %s',
    (word) => {
      const offsets = new TextOffsets();
      offsets.push(text);
      const units = text.indexOf(word);
      for (const place of [units, units + word.length]) {
        const before = text.slice(0, place);
        expect(offsets.toPoints(place)).toBe([...before].length);
        expect(offsets.toBytes(place)).toBe(Buffer.byteLength(before));
        expect(offsets.fromPoints([...before].length)).toBe(place);
        expect(offsets.fromBytes(Buffer.byteLength(before))).toBe(place);
      }
    },
  );

  it('are the same however the text comes, halves of characters apart too', () => {
    const string = fc.string({ unit: 'grapheme', maxLength: 30 });
    fc.assert(
      fc.property(string, fc.array(fc.nat(40)), fc.nat(40), (whole, cuts, asked) => {
        const offsets = new TextOffsets();
        const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)), whole.length];
        places.sort((one, other) => one - other);
        for (let at = 1; at < places.length; at += 1) {
          offsets.push(whole.slice(places[at - 1], places[at]));
          offsets.toBytes(asked);
        }
        const before = [...whole].slice(0, asked).join('');
        expect(offsets.length).toBe(whole.length);
        expect(offsets.fromPoints(asked)).toBe(before.length);
        expect(offsets.toPoints(before.length)).toBe([...before].length);
        expect(offsets.toBytes(before.length)).toBe(Buffer.byteLength(before));
        expect(offsets.fromBytes(Buffer.byteLength(before))).toBe(before.length);
      }),
    );
  });

  it('behind the end are the end', () => {
    const offsets = new TextOffsets();
    offsets.push('a\ud83d');
    expect(offsets.toPoints(9)).toBe(2);
    expect(offsets.fromBytes(99)).toBe(2);
    offsets.push('\ude00b');
    expect(offsets.toPoints(9)).toBe(3);
    expect(offsets.toBytes(9)).toBe(6);
  });
});
