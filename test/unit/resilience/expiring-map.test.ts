import { describe, expect, it } from 'vitest';
import { ExpiringMap } from '../../../src/resilience/expiring-map.ts';

function given(entriesMax = 3) {
  const dropped: string[] = [];
  const bounds = { entriesMax, keptMs: 1_000 };
  const map = new ExpiringMap<string>(bounds, (value) => {
    dropped.push(value);
  });
  return { map, dropped };
}

describe('expiring map', () => {
  it('keeps an entry until keptMs after it was last set', () => {
    const { map } = given();
    map.set('a', 'one', 0);
    map.set('a', 'one', 500);
    expect(map.get('a', 1_499)).toBe('one');
    expect(map.get('a', 1_500)).toBeUndefined();
    expect(map.size(1_500)).toBe(0);
  });

  it('reading renews nothing', () => {
    const { map } = given();
    map.set('a', 'one', 0);
    map.get('a', 900);
    expect(map.get('a', 1_000)).toBeUndefined();
  });

  it('pushes out the one set longest ago when there are too many', () => {
    const { map, dropped } = given();
    for (const key of ['a', 'b', 'c', 'a', 'd']) map.set(key, key, 0);
    expect(map.entries(0)).toEqual([
      ['c', 'c'],
      ['a', 'a'],
      ['d', 'd'],
    ]);
    expect(dropped).toEqual(['b']);
  });

  it('tells each value that leaves, once', () => {
    const { map, dropped } = given();
    map.set('a', 'one', 0);
    map.set('a', 'two', 0);
    map.set('b', 'three', 10);
    map.delete('b');
    map.delete('b');
    map.size(1_000);
    expect(dropped).toEqual(['one', 'three', 'two']);
  });

  it('holds no more than its bound however many are set', () => {
    const { map, dropped } = given(100);
    for (let count = 0; count < 1_000; count += 1) map.set(`${count}`, `${count}`, count);
    expect([map.size(999), dropped.length]).toEqual([100, 900]);
  });
});
