import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { diffDocuments } from '../../../src/routing/diff.ts';
import { canonicalJson, documentHash, isMatch, tierEtag } from '../../../src/routing/etag.ts';
import { documentJsonSchema } from '../../../src/routing/schema.ts';
import { sampleDocument } from '../../support/routing-samples.ts';

describe('etag', () => {
  it('is a quoted hash that does not depend on the order of keys', () => {
    expect(tierEtag({ a: 1, b: { c: [1, 2], d: null } })).toBe(
      tierEtag({ b: { d: null, c: [1, 2] }, a: 1 }),
    );
    expect(tierEtag({ a: 1 })).toMatch(/^"[0-9a-f]{64}"$/);
    expect(tierEtag({ a: [1, 2] })).not.toBe(tierEtag({ a: [2, 1] }));
    expect(documentHash({ a: 1 })).toMatch(/^[0-9a-f]{64}$/);
    expect(canonicalJson({ b: 1, a: [{ d: 1, c: 2 }] })).toBe('{"a":[{"c":2,"d":1}],"b":1}');
  });

  it('matches a list or *, never a weak one', () => {
    expect(isMatch('"a"', '"a"')).toBe(true);
    expect(isMatch('"b" , "a"', '"a"')).toBe(true);
    expect(isMatch('*', '"a"')).toBe(true);
    expect(isMatch('W/"a"', '"a"')).toBe(false);
    expect(isMatch('a', '"a"')).toBe(false);
    expect(isMatch('', '"a"')).toBe(false);
  });
});

describe('diff', () => {
  it('names each place that was added, removed or changed', () => {
    const before = { tiers: { a: { list: [1, 2, 3], gone: true, same: { x: 1 } } }, kind: 'x' };
    const after = { tiers: { a: { list: [1, 9], same: { x: 1 } }, b: {} }, kind: { y: 1 } };
    expect(diffDocuments(before, after)).toEqual([
      { path: 'tiers.a.list[1]', kind: 'changed', before: 2, after: 9 },
      { path: 'tiers.a.list[2]', kind: 'removed', before: 3 },
      { path: 'tiers.a.gone', kind: 'removed', before: true },
      { path: 'tiers.b', kind: 'added', after: {} },
      { path: 'kind', kind: 'changed', before: 'x', after: { y: 1 } },
    ]);
    expect(diffDocuments(before, structuredClone(before))).toEqual([]);
  });

  it('ends on circular values', () => {
    const left: Record<string, unknown> = {};
    left['self'] = left;
    const right: Record<string, unknown> = {};
    right['self'] = right;
    expect(diffDocuments(left, right)).toHaveLength(1);
  });
});

describe('JSON Schema', () => {
  it('accepts what the validator accepts, knows every default and refuses unknown keys', () => {
    const schema = documentJsonSchema();
    const validate = new Ajv2020({ strict: false }).compile(schema);
    expect(validate(sampleDocument())).toBe(true);
    expect(validate(sampleDocument({ deadline: 3 }))).toBe(false);
    expect(validate(sampleDocument({ deadlin: '3s' }))).toBe(false);
    expect(JSON.stringify(schema)).toContain('"default":"decorrelated"');
  });
});
