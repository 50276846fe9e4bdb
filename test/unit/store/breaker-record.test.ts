/** What comes back from Redis is believed only where it is what our scripts return, and within bounds. */
import { describe, expect, it } from 'vitest';
import {
  decodeClaimed,
  decodeRecord,
  decodeRecords,
  decodeWritten,
  encodeState,
} from '../../../src/store/redis/breaker-record.ts';

const day = 86_400_000;
const nothing = { generation: 0, state: null, probeElsewhereMs: null };

function open(over: { [index: number]: unknown } = {}): unknown[] {
  return Object.assign([7, 'open', 1_000, 5_000, 1, 4_000, 'it failed', '', 0], over);
}

describe('a record', () => {
  it('is read with its age taken off', () => {
    expect(decodeRecord(open(), 'me')).toEqual({
      generation: 7,
      state: { kind: 'open', leftMs: 4_000, level: 1, leaseMs: 4_000, reason: 'it failed' },
      probeElsewhereMs: null,
    });
    expect(decodeRecord(open({ 1: 'closed' }), 'me')).toMatchObject({
      state: { kind: 'closed', sinceMs: 6_000, level: 1 },
    });
    expect(decodeRecord(open({ 2: 9_000 }), 'me')).toMatchObject({ state: { leftMs: 0 } });
  });

  it('tells of a right to probe that another instance has', () => {
    expect(decodeRecord(open({ 7: 'you', 8: 300 }), 'me')?.probeElsewhereMs).toBe(300);
    expect(decodeRecord(open({ 7: 'me', 8: 300 }), 'me')?.probeElsewhereMs).toBeNull();
    expect(decodeRecord(open({ 7: 'you', 8: 0 }), 'me')?.probeElsewhereMs).toBeNull();
  });

  it('that is not there has no generation', () => {
    expect(decodeRecord([0, '', 0, 0, 0, 0, '', '', 0], 'me')).toEqual(nothing);
    expect(decodeRecord(open({ 1: 'ajar' }), 'me')).toEqual(nothing);
  });

  it('is bounded: no period of more than a day, no rung without end, one line of plain words', () => {
    const wild = { 2: 0, 3: 8e15, 4: 8e15, 5: 8e15, 6: `a\n\u0007b\u202e${'c'.repeat(900)}` };
    const state = decodeRecord(open({ ...wild, 7: 'you', 8: 8e15 }), 'me');
    expect(state).toMatchObject({
      state: { leftMs: day, level: 64, leaseMs: day },
      probeElsewhereMs: day,
    });
    const reason = state?.state?.kind === 'open' ? state.state.reason : '';
    expect(reason).toMatch(/^a b c+$/);
    expect(reason.length).toBeLessThanOrEqual(200);
    expect(decodeRecord(open({ 6: null }), 'me')).toMatchObject({
      state: { reason: 'no reason was told' },
    });
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['text', 'open'],
    ['too short', open().slice(1)],
    ['too long', [...open(), 0]],
    ['a generation that is no number', open({ 0: '7' })],
    ['a negative generation', open({ 0: -1 })],
    ['a broken number', open({ 3: 0.5 })],
    ['no number', open({ 4: Number.NaN })],
    ['a number beyond counting', open({ 5: 9e15 })],
    ['an instance that is no text', open({ 7: 4 })],
  ])('%s is none', (_name, value) => {
    expect(decodeRecord(value, 'me')).toBeNull();
    expect(decodeRecords([open(), value], 2, 'me')).toBeNull();
  });

  it('is one of as many as were asked for', () => {
    expect(decodeRecords([open(), open()], 2, 'me')).toHaveLength(2);
    for (const odd of [null, 'x', [], [open()]]) expect(decodeRecords(odd, 2, 'me')).toBeNull();
  });
});

describe('answers', () => {
  it('to a write and to a claim are read, and anything else is none', () => {
    expect(decodeWritten([1, 9], 'me')).toEqual({ kind: 'written', generation: 9 });
    expect(decodeWritten([0, open()], 'me')).toMatchObject({ kind: 'moved' });
    expect(decodeClaimed([1, 400], 'me')).toEqual({ kind: 'granted', forMs: 400 });
    expect(decodeClaimed([0, 8e15], 'me')).toEqual({ kind: 'elsewhere', forMs: day });
    expect(decodeClaimed([2, open()], 'me')).toMatchObject({ kind: 'moved' });
    for (const odd of [null, 1, 'OK', [], [1], [1, 'x'], [0], [2], [2, []], [1, -1]]) {
      expect(decodeWritten(odd, 'me')).toBeNull();
      expect(decodeClaimed(odd, 'me')).toBeNull();
    }
  });
});

it('a state is written in whole numbers and bounded words', () => {
  const reason = 'r'.repeat(500);
  expect(encodeState({ kind: 'open', leftMs: 0.2, level: 3, leaseMs: 4_000.7, reason })).toEqual([
    'open',
    '1',
    '3',
    '4001',
    'r'.repeat(200),
  ]);
  expect(encodeState({ kind: 'closed', sinceMs: -5, level: 0 })).toEqual([
    'closed',
    '0',
    '0',
    '0',
    '',
  ]);
});
