import { describe, expect, it } from 'vitest';
import {
  applySplices,
  isNestedTooDeeply,
  jsonDepthMax,
  memberAt,
  removeMembers,
  scanContainer,
  scanJson,
} from '../../../src/dialects/json-spans.ts';

const text = '{ "a" : "x\\"}" ,"b":[1, {"c":"]"},"\\\\"],"é\\u0041":-1.50e+2,"d":{} }';
const bytes = Buffer.from(text);

function valueTexts(source: Buffer): string[] {
  const container = scanJson(source);
  return (container?.members ?? []).map((member) =>
    source.toString('utf8', member.valueStart, member.end),
  );
}

describe('scanJson', () => {
  it('finds the members of an object, whatever their values hold', () => {
    const container = scanJson(bytes);
    expect(container?.members.map((member) => member.key)).toEqual(['a', 'b', 'éA', 'd']);
    expect(valueTexts(bytes)).toEqual(['"x\\"}"', '[1, {"c":"]"},"\\\\"]', '-1.50e+2', '{}']);
    expect(bytes[container?.closeAt ?? 0]).toBe('}'.charCodeAt(0));
  });

  it('finds the elements of an array, and stops where it is asked to', () => {
    const list = memberAt(scanJson(bytes), 'b');
    const elements = scanContainer(bytes, list?.valueStart ?? 0);
    expect(elements?.members).toHaveLength(3);
    expect(scanContainer(bytes, list?.valueStart ?? 0, 2)?.members).toHaveLength(2);
  });

  it('reads long strings with any run of backslashes before a quote', () => {
    for (let slashes = 0; slashes < 6; slashes += 1) {
      const value = `${'y'.repeat(100)}${'\\'.repeat(slashes)}`;
      const source = Buffer.from(JSON.stringify({ long: value, next: `${value}"${value}` }));
      expect(valueTexts(source)).toEqual([
        JSON.stringify(value),
        JSON.stringify(`${value}"${value}`),
      ]);
    }
  });

  it('takes the last of two members with one key, as a parser does', () => {
    const twice = Buffer.from('{"a":1,"a":2}');
    const member = memberAt(scanJson(twice), 'a');
    expect(twice.toString('utf8', member?.valueStart, member?.end)).toBe('2');
  });

  it('refuses what nests too deeply, and scalars', () => {
    const deep = (levels: number): Buffer =>
      Buffer.from(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(scanJson(deep(jsonDepthMax - 1))).not.toBeNull();
    expect(scanJson(deep(jsonDepthMax))).toBeNull();
    expect(scanJson(deep(100_000))).toBeNull();
    expect(isNestedTooDeeply(deep(100_000))).toBe(true);
    expect(isNestedTooDeeply(Buffer.from(`"${'['.repeat(1000)}"`))).toBe(false);
    expect(scanJson(Buffer.from('"text"'))).toBeNull();
    expect(scanJson(Buffer.from(''))).toBeNull();
  });

  it.each(['{', '{"a"', '{"a":', '{"a":"', '[1,', '{:}', '{,}', '{"a" 1}', '{"a":\\', '{]'])(
    'comes to an end on %j, which is no JSON',
    (broken) => {
      expect(() => scanJson(Buffer.from(broken))).not.toThrow();
    },
  );
});

describe('splices', () => {
  const members = Buffer.from('{"a":1,"b":2 , "c":3,"d":4}');

  it.each([
    ['a', '{"b":2 , "c":3,"d":4}'],
    ['b', '{"a":1,"c":3,"d":4}'],
    ['d', '{"a":1,"b":2 , "c":3}'],
    ['cd', '{"a":1,"b":2}'],
    ['ac', '{"b":2 , "d":4}'],
    ['abcd', '{}'],
  ])('take out %s with the commas', (keys, left) => {
    const container = scanJson(members);
    if (container === null) throw new Error('not scanned');
    const splices = removeMembers(container, (member) => keys.includes(member.key));
    expect(applySplices(members, splices).toString()).toBe(left);
  });

  it('insert before what is taken out at the same place, and lose what lies inside it', () => {
    const source = Buffer.from('0123456789');
    const edited = applySplices(source, [
      { start: 4, end: 4, text: 'lost' },
      { start: 3, end: 6, text: '-' },
      { start: 3, end: 3, text: 'a' },
      { start: 3, end: 3, text: 'b' },
      { start: 6, end: 6, text: 'c' },
    ]);
    expect(edited.toString()).toBe('012ab-c6789');
  });

  it('leave the bytes alone when there are none', () => {
    expect(applySplices(members, [])).toBe(members);
  });
});
