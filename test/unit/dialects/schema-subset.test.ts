/** Which schemas the service compiles: decided in time that grows with the schema, not with its square. */
import { expect, it } from 'vitest';
import { fitSchema } from '../../../src/dialects/schema-subset.ts';

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
