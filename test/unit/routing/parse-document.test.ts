import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../../src/routing/parse-document.ts';
import { faultsOf } from '../../support/routing-samples.ts';

describe('parseDocument', () => {
  it('reads YAML and JSON, also with tabs and a byte order mark', () => {
    const expected = { a: 1, b: [true, 'off', 'yes'], c: '1s' };
    const yaml = 'a: 1\nb: [true, off, yes]\nc: 1s\n';
    const json = JSON.stringify(expected, null, '\t');
    for (const text of [yaml, `\uFEFF${yaml}`, json]) {
      expect(parseDocument(text)).toEqual({ value: expected, faults: [] });
      expect(parseDocument(Buffer.from(text))).toEqual({ value: expected, faults: [] });
    }
  });

  it('duplicate keys are told with path and line, in YAML and JSON', () => {
    expect(parseDocument('tiers:\n  a: { deadline: 1s, deadline: 2s }\n  a: {}\n').faults).toEqual([
      { path: 'tiers.a.deadline', message: 'duplicate key deadline (line 2)' },
      { path: 'tiers.a', message: 'duplicate key a (line 3)' },
    ]);
    expect(parseDocument('{"a": 1, "a": 2, "l": [{"x": 1, "x": 1}]}').faults).toEqual([
      { path: 'a', message: 'duplicate key a (line 1)' },
      { path: 'l[0].x', message: 'duplicate key x (line 1)' },
    ]);
  });

  it('CF-06 an empty file is no document', () => {
    for (const text of ['', '\n\n', '# only a comment\n', '---\n']) {
      const { value, faults } = parseDocument(text);
      expect(faults).toEqual([]);
      expect(faultsOf(value)).toEqual([': the document is empty']);
    }
  });

  it('CF-06 what is not UTF-8, cut off or no text at all is a fault with its place', () => {
    expect(parseDocument(Buffer.from([0x61, 0x3a, 0xff, 0xfe])).faults).toEqual([
      { path: '', message: 'the document is not UTF-8 text' },
    ]);
    expect(parseDocument('{"tiers": {"a": [1').faults[0]?.message).toMatch(/^line 1, column \d+: /);
    expect(parseDocument('a: "open').value).toBeUndefined();
    expect(parseDocument('a: 1\n---\nb: 1').faults).not.toEqual([]);
  });

  it('no message quotes the text, which may hold a secret', () => {
    const broken = [
      'k: "sk-CANARY12345',
      'k: sk-CANARY12345: x: y',
      '{k: sk-CANARY12345',
      '@CANARY',
    ];
    for (const text of broken) {
      const { value, faults } = parseDocument(text);
      expect(value).toBeUndefined();
      expect(faults.length).toBeGreaterThan(0);
      expect(JSON.stringify(faults)).not.toContain('CANARY');
    }
  });

  it('size and depth are bounded', () => {
    expect(parseDocument(' '.repeat(4_194_305)).faults[0]?.message).toContain('larger than');
    expect(parseDocument(Buffer.alloc(4_194_305, 32)).faults[0]?.message).toContain('larger than');
    expect(parseDocument('['.repeat(20_000)).value).toBeUndefined();
  });

  it('aliases cannot blow up or run in circles', () => {
    const laughs = ['a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]'];
    for (let level = 1; level < 9; level += 1) {
      laughs.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    }
    const bomb = parseDocument(laughs.join('\n'));
    expect(bomb.faults.length > 0 || faultsOf(bomb.value)[0]?.includes('too many')).toBe(true);
    expect(faultsOf(parseDocument('a: &x [*x]').value)[0]).toContain('nested too deeply');
  });
});
