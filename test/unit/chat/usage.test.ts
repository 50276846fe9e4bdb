import { expect, it } from 'vitest';
import { tokenCount } from '../../../src/chat/usage.ts';

it.each([
  [0, 0],
  [12, 12],
  [203.9, 203],
  [-1, null],
  [1e308, null],
  [Number.NaN, null],
  [Number.POSITIVE_INFINITY, null],
  ['12', null],
  [null, null],
  [undefined, null],
])('a count of tokens told as %j is %j', (told, count) => {
  expect(tokenCount(told)).toBe(count);
});
