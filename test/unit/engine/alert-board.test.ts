import { describe, expect, it } from 'vitest';
import {
  AlertBoard,
  type AlertCause,
  type AlertKind,
  alertKinds,
} from '../../../src/engine/alert-board.ts';

const hourMs = 3_600_000;
const wallStartMs = Date.UTC(2026, 0, 1);

function at(ms: number) {
  return { monotonicMs: ms, wallMs: wallStartMs + ms };
}

function cause(over: Partial<AlertCause> = {}): AlertCause {
  return {
    kind: 'auth_rejected',
    subject: 'P1_KEY',
    lastError: 'refused',
    requestId: 'r1',
    target: 'p1/m',
    ...over,
  };
}

describe('an alert', () => {
  it('is told when it opens, then counted for an interval, then told again with its count', () => {
    const board = new AlertBoard();
    expect(board.raise(cause(), at(0), hourMs)).toMatchObject({
      count: 1,
      sinceMs: wallStartMs,
      isResolved: false,
    });
    expect(board.raise(cause({ requestId: 'r2' }), at(1), hourMs)).toBeNull();
    expect(board.raise(cause({ requestId: 'r3' }), at(hourMs - 1), hourMs)).toBeNull();
    expect(board.raise(cause({ requestId: 'r4' }), at(hourMs), hourMs)).toMatchObject({
      count: 4,
      requestId: 'r4',
      sinceMs: wallStartMs,
    });
  });

  it('is told again when it ends, once', () => {
    const board = new AlertBoard();
    board.raise(cause(), at(0), hourMs);
    board.raise(cause({ lastError: 'still refused' }), at(1), hourMs);
    expect(board.resolve(cause())).toMatchObject({
      isResolved: true,
      count: 2,
      lastError: 'still refused',
    });
    expect(board.resolve(cause())).toBeNull();
    expect(board.open()).toEqual([]);
  });

  it('of another kind or subject is another alert', () => {
    const board = new AlertBoard();
    board.raise(cause(), at(0), hourMs);
    expect(board.raise(cause({ subject: 'P2_KEY' }), at(0), hourMs)).not.toBeNull();
    expect(board.raise(cause({ kind: 'quota_exhausted' }), at(0), hourMs)).not.toBeNull();
    expect(board.open()).toHaveLength(3);
  });

  it('that comes and goes is told once an interval, and its second end not at all', () => {
    const board = new AlertBoard();
    const told = [board.raise(cause(), at(0), hourMs), board.resolve(cause())];
    for (let turn = 1; turn < 50; turn += 1) {
      told.push(board.raise(cause(), at(turn * 1000), hourMs), board.resolve(cause()));
    }
    expect(told.filter((notice) => notice !== null)).toHaveLength(2);
  });

  it('that comes back within the interval and stays is told when the interval is over', () => {
    const board = new AlertBoard();
    board.raise(cause(), at(0), hourMs);
    board.resolve(cause());
    expect(board.raise(cause(), at(1000), hourMs)).toBeNull();
    expect(board.due(at(hourMs - 1), hourMs)).toEqual([]);
    expect(board.due(at(hourMs), hourMs)).toMatchObject([{ count: 1, isResolved: false }]);
    expect(board.due(at(hourMs), hourMs)).toEqual([]);
    expect(board.resolve(cause())).toMatchObject({ isResolved: true });
  });

  it('with an interval of 0 is told each time', () => {
    const board = new AlertBoard();
    expect(board.raise(cause(), at(0), 0)).not.toBeNull();
    expect(board.raise(cause(), at(0), 0)).not.toBeNull();
  });
});

it('row_lost, config_rejected and internal_error are quiet an hour after their last; others never', () => {
  const board = new AlertBoard();
  for (const kind of alertKinds) board.raise(cause({ kind }), at(0), hourMs);
  board.raise(cause({ kind: 'row_lost' }), at(1000), hourMs);
  const quietAt = (ms: number): readonly AlertKind[] => board.quiet(at(ms)).map(({ kind }) => kind);
  expect(quietAt(hourMs - 1)).toEqual([]);
  expect(quietAt(hourMs)).toEqual(['config_rejected', 'internal_error']);
  expect(quietAt(hourMs + 1000)).toEqual(['config_rejected', 'internal_error', 'row_lost']);
  expect(quietAt(24 * hourMs)).toHaveLength(3);
});

describe('a thousand alerts', () => {
  it('are the most: what is over goes first, then the longest unseen', () => {
    const board = new AlertBoard();
    for (let index = 0; index < 1000; index += 1) {
      board.raise(cause({ subject: `key ${index}` }), at(index), hourMs);
    }
    board.resolve(cause({ subject: 'key 500' }));
    board.raise(cause({ subject: 'one more' }), at(2000), hourMs);
    expect(board.open()).toHaveLength(1000);
    expect(board.open()[0]?.subject).toBe('key 0');
    board.raise(cause({ subject: 'two more' }), at(2001), hourMs);
    expect(board.open()).toHaveLength(1000);
    expect(board.open()[0]?.subject).toBe('key 1');
  });

  it('that are over and long told are forgotten', () => {
    const board = new AlertBoard();
    board.raise(cause(), at(0), hourMs);
    board.resolve(cause());
    board.due(at(hourMs), hourMs);
    expect(board.raise(cause(), at(hourMs), hourMs)).not.toBeNull();
  });
});
