import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeToolName, encodeToolName } from '../../../src/dialects/tool-names.ts';

const limits = { accepted: /^[a-z][a-z0-9_-]{0,63}$/, charactersMax: 64 };

describe('a tool’s name', () => {
  it('stays as it is where it is taken', () => {
    expect(encodeToolName('get_weather', limits)).toBe('get_weather');
    expect(decodeToolName('get_weather')).toBe('get_weather');
  });

  it.each(['ns.tool', '1st', 'Über', '🌍', 'tgn_x', 'tgn_', 'tgn_-zz'])('%s comes back', (name) => {
    const mapped = encodeToolName(name, limits);
    expect(mapped).toMatch(/^tgn_[\w-]+$/);
    expect(decodeToolName(mapped ?? '')).toBe(name);
  });

  it('cannot be written when its spelling is too long, or empty', () => {
    expect(encodeToolName('.'.repeat(20), limits)).not.toBeNull();
    expect(encodeToolName('.'.repeat(21), limits)).toBeNull();
    expect(encodeToolName('', limits)).toBeNull();
  });

  it('of any kind comes back, and two of them never become one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        const mapped = encodeToolName(name, limits);
        if (mapped !== null) expect(decodeToolName(mapped)).toBe(name);
        decodeToolName(`tgn_${name}`);
      }),
    );
  });
});
