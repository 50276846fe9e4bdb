import { describe, expect, it } from 'vitest';
import { errorClasses } from '../../../src/failure/attempt-failure.ts';
import { fingerprintOf } from '../../../src/resilience/fingerprint.ts';
import { PoisonTable } from '../../../src/resilience/poison-table.ts';

type Note = Parameters<PoisonTable['note']>[0];

const fault: Note = {
  fingerprint: 'input',
  bytes: 5,
  target: 'p1/m',
  errorClass: 'transient_infra',
  status: 500,
  code: 'server_error',
  isTargetHealthy: true,
  nowMs: 0,
};

function verdictAfter(notes: readonly Partial<Note>[]): string {
  const table = new PoisonTable();
  for (const note of notes) table.note({ ...fault, ...note });
  return table.verdict('input', 0);
}

const here = {};
const there = { target: 'p2/m' };

describe('poison table', () => {
  it.each([
    ['once', [here], 'clean'],
    ['twice at one target', [here, here], 'clean'],
    ['three times at one target', [here, here, here], 'poisoned'],
    ['twice at one and once at another', [here, here, there], 'poisoned'],
    ['the other way round', [there, here, here], 'poisoned'],
    ['once at each of three', [here, there, { target: 'p3/m' }], 'clean'],
    ['with another status at the other', [here, here, { ...there, status: 502 }], 'clean'],
    ['with another code at the other', [here, here, { ...there, code: null }], 'clean'],
    ['with no code at all', [1, 2, 3].map(() => ({ code: null })), 'poisoned'],
    ['another status in between', [here, { status: 502 }, here, here], 'clean'],
    ['another code in between', [here, { code: 'x' }, here, here], 'clean'],
    [
      'a refusal in between',
      [here, { errorClass: 'rate_limit', status: 429 }, here, here],
      'clean',
    ],
    ['a timeout in between', [here, { errorClass: 'timeout', status: null }, here, here], 'clean'],
    [
      'a client that left in between',
      [here, { errorClass: 'client_gone' }, here, here],
      'poisoned',
    ],
    ['a fault of ours in between', [here, { errorClass: 'internal' }, here, here], 'poisoned'],
  ] as const)('R14 the same fault %s: %s', (_, notes, verdict) => {
    expect(verdictAfter(notes as readonly Partial<Note>[])).toBe(verdict);
  });

  it('R14 at a target that is ill with all its requests nothing is the fault of an input', () => {
    const ill = { isTargetHealthy: false };
    expect(verdictAfter([ill, ill, ill, ill])).toBe('clean');
    expect(verdictAfter([ill, ill, there])).toBe('clean');
    expect(verdictAfter([here, here, { ...there, ...ill }])).toBe('poisoned');
  });

  it('R14 the latest word on the health counts: an outage clears its suspects', () => {
    expect(verdictAfter([here, here, here, { isTargetHealthy: false }])).toBe('clean');
    expect(verdictAfter([{ isTargetHealthy: false }, here, here])).toBe('poisoned');
  });

  it('R14 an input that its target answered once does not fail on every attempt', () => {
    const table = new PoisonTable();
    table.note(fault);
    table.noteSuccess({ fingerprint: 'input', target: 'p1/m', nowMs: 0 });
    for (let count = 0; count < 5; count += 1) table.note(fault);
    expect(table.verdict('input', 0)).toBe('clean');
  });

  it('a success of an input that never failed is not remembered', () => {
    const table = new PoisonTable();
    table.noteSuccess({ fingerprint: 'input', target: 'p1/m', nowMs: 0 });
    expect(table.size(0)).toBe(0);
  });

  it('knows the lengths of what it holds, so that nothing else need be hashed', () => {
    const table = new PoisonTable();
    expect(table.mayHold(5, 0)).toBe(false);
    for (const fingerprint of ['a', 'b', 'a']) table.note({ ...fault, fingerprint });
    table.note({ ...fault, fingerprint: 'longer', bytes: 6, nowMs: 1000 });
    expect([5, 6, 7].map((bytes) => table.mayHold(bytes, 1000))).toEqual([true, true, false]);
    expect([5, 6].map((bytes) => table.mayHold(bytes, 600_000))).toEqual([false, true]);
    table.note({ ...fault, fingerprint: 'a', nowMs: 601_000 });
    expect([5, 6].map((bytes) => table.mayHold(bytes, 601_000))).toEqual([true, false]);
    expect(table.mayHold(5, 1_201_000)).toBe(false);
  });

  it('only faults that the input can cause make it a suspect', () => {
    const suspects = errorClasses.filter(
      (errorClass) => verdictAfter([1, 2, 3].map(() => ({ errorClass }))) === 'poisoned',
    );
    expect(suspects).toEqual(['transient_infra', 'malformed_response', 'poisoned']);
  });

  it('faults without a status are no proof', () => {
    expect(verdictAfter([1, 2, 3].map(() => ({ status: null })))).toBe('clean');
  });

  it('inputs are kept apart', () => {
    const table = new PoisonTable();
    for (const fingerprint of ['a', 'b', 'a', 'b', 'a']) table.note({ ...fault, fingerprint });
    expect([table.verdict('a', 0), table.verdict('b', 0)]).toEqual(['poisoned', 'clean']);
  });

  it('R14 remembers for 10 minutes after the last attempt', () => {
    const table = new PoisonTable();
    for (const nowMs of [0, 1_000, 2_000]) table.note({ ...fault, nowMs });
    expect(table.verdict('input', 601_999)).toBe('poisoned');
    expect(table.verdict('input', 602_000)).toBe('clean');
    table.note({ ...fault, nowMs: 602_000 });
    expect(table.verdict('input', 602_000)).toBe('clean');
  });

  it('holds 10,000 inputs, the oldest out', () => {
    const table = new PoisonTable();
    for (let count = 0; count < 3; count += 1) table.note({ ...fault, fingerprint: 'first' });
    for (let count = 0; count < 9_999; count += 1)
      table.note({ ...fault, fingerprint: `${count}` });
    expect(table.verdict('first', 0)).toBe('poisoned');
    table.note({ ...fault, fingerprint: 'one more' });
    expect([table.verdict('first', 0), table.size(0)]).toEqual(['clean', 10_000]);
  });

  it('holds 16 targets and 8 kinds of fault an input', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ target: `p${index}/m` }));
    expect(verdictAfter([here, here, ...many, there])).toBe('clean');
    const kinds = Array.from({ length: 40 }, (_, index) => ({ ...there, status: 500 + index }));
    expect(verdictAfter([here, ...kinds, here])).toBe('poisoned');
    expect(verdictAfter([{ status: 530 }, ...kinds, { status: 530 }])).toBe('clean');
  });
});

describe('fingerprint', () => {
  it('R14 is the SHA-256 of the bytes', () => {
    expect(fingerprintOf('')).toBe('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU');
    expect(fingerprintOf(Buffer.from('grüße'))).toBe(fingerprintOf('grüße'));
    expect(fingerprintOf('a')).not.toBe(fingerprintOf('b'));
  });
});
