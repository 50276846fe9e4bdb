import { describe, expect, it } from 'vitest';
import { AffinityTable } from '../../../src/resilience/affinity-table.ts';

const session = { keyId: 'key-1', tier: 'reasoning', session: 'chat 7' };
const hourMs = 3_600_000;

describe('affinity table', () => {
  it('remembers the target that answered last', () => {
    const table = new AffinityTable();
    expect(table.lookup(session, 0)).toBeNull();
    table.remember(session, 'p1/m', 0);
    table.remember(session, 'p2/m', 1);
    expect(table.lookup(session, 2)).toBe('p2/m');
    expect(table.size(2)).toBe(1);
  });

  it.each([
    ['tier', { tier: 'fast' }],
    ['client', { keyId: 'key-2' }],
    ['client without a key', { keyId: null }],
    ['session', { session: 'chat 8' }],
  ])('another %s is another session', (_, changes) => {
    const table = new AffinityTable();
    table.remember(session, 'p1/m', 0);
    expect(table.lookup({ ...session, ...changes }, 0)).toBeNull();
  });

  it('forgets after an hour without an answer', () => {
    const table = new AffinityTable();
    table.remember(session, 'p1/m', 0);
    table.remember(session, 'p1/m', hourMs - 1);
    expect(table.lookup(session, 2 * hourMs - 2)).toBe('p1/m');
    expect(table.lookup(session, 2 * hourMs - 1)).toBeNull();
    expect(table.size(2 * hourMs - 1)).toBe(0);
  });

  it('forgets a session that is back at its preferred target', () => {
    const table = new AffinityTable();
    table.remember(session, 'p2/m', 0);
    table.forget(session);
    expect([table.lookup(session, 0), table.size(0)]).toEqual([null, 0]);
  });

  it('holds 10,000 sessions, the one that was idle longest out', () => {
    const table = new AffinityTable();
    const numbered = (number: number) => ({ ...session, session: `${number}` });
    for (let number = 0; number < 10_000; number += 1)
      table.remember(numbered(number), 'p', number);
    table.remember(numbered(0), 'p', 10_000);
    table.remember(session, 'p', 10_001);
    expect(table.size(10_001)).toBe(10_000);
    expect(table.lookup(numbered(0), 10_001)).toBe('p');
    expect(table.lookup(numbered(1), 10_001)).toBeNull();
  });
});
