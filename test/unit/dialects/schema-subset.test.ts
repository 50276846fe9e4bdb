/** Which schemas the service compiles, and what becomes of the others; decided in time that grows with the schema, not with its square. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { fitSchema, isWithinSubset } from '../../../src/dialects/schema-subset.ts';

const refers = (...names: readonly string[]) => ({
  anyOf: names.map((name) => ({ $ref: `#/$defs/${name}` })),
});

it.each([
  ['a definition of itself', { a: refers('a') }, true],
  ['two of each other', { a: refers('b'), b: refers('a') }, true],
  ['a ring that another leads into', { a: refers('b'), b: refers('c'), c: refers('b') }, true],
  ['the whole schema', { a: { anyOf: [{ $ref: '#' }] } }, true],
  ['two ways to one', { a: refers('b', 'c'), b: refers('c'), c: { type: 'string' } }, false],
  ['a name that is not defined', { a: refers('nowhere') }, false],
  ['names of the prototype', { a: refers('__proto__', 'constructor') }, false],
])('%s is a recursion or none', (_name, $defs, isRecursive) => {
  expect(fitSchema({ $ref: '#/$defs/a', $defs }) === null).toBe(isRecursive);
});

it('a chain of very many definitions takes no longer than as many that stand alone', () => {
  const names = Array.from({ length: 8000 }, (_, nth) => `d${nth}`);
  const timeOf = (next: (nth: number) => string): number => {
    const $defs = Object.fromEntries(names.map((name, nth) => [name, refers(next(nth))]));
    const startedMs = performance.now();
    expect(fitSchema({ $ref: '#/$defs/d0', $defs })).not.toBe(null);
    return performance.now() - startedMs;
  };
  const aloneMs = timeOf(() => 'nowhere');
  // Each chain followed anew from each of its links took some fifty times as long.
  expect(timeOf((nth) => `d${nth + 1}`)).toBeLessThan(20 * aloneMs);
});

const text = { type: 'string' };
const closed = { type: 'object', properties: { a: text }, additionalProperties: false };
const holding = (a: JsonObject): JsonObject => ({ ...closed, properties: { a } });

it.each([
  ['an object that may hold anything', { type: 'object' }],
  ['one of no named properties', { type: ['object', 'null'], properties: {} }],
  ['an object that a choice tells more of', { type: 'object', anyOf: [closed] }],
  ['values that are objects', { enum: [{ deep: 1 }] }],
  ['a value that is a list', { const: [1] }],
  ['a schema that lies elsewhere', { $ref: 'https://schemas.test/a.json' }],
  ['a reference among what holds at once', { allOf: [{ $ref: '#/$defs/A' }, { title: 'A' }] }],
  ['a list whose places differ', { type: 'array', items: [text, text] }],
])('%s has no place in it', (_name, schema) => {
  expect(fitSchema(holding(schema))).toBe(null);
  expect(isWithinSubset(holding(schema))).toBe(false);
});

it('a format that it does not know, and that more may stand in an object, are told', () => {
  const schema = { ...holding({ type: 'string', format: 'byte' }), additionalProperties: true };
  expect(fitSchema(schema)).toEqual({
    schema: holding({ type: 'string', description: '(format: "byte")' }),
    told: ['format', 'additionalProperties'],
  });
  expect(isWithinSubset(schema)).toBe(false);
  const known = holding({ type: 'string', format: 'uuid', enum: ['a', null] });
  expect(fitSchema(known)).toEqual({ schema: known, told: [] });
});

it('an object of which is said that it holds nothing stays', () => {
  const nothing = { type: 'object', additionalProperties: false };
  expect(fitSchema(nothing)).toEqual({ schema: nothing, told: [] });
});
