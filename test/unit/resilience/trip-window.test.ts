/** The window of marks: its bounds, and the ring beneath it. */
import { describe, expect, it } from 'vitest';
import { MarkRing, marksMax } from '../../../src/resilience/breaker/mark-ring.ts';
import { TripWindow } from '../../../src/resilience/breaker/trip-window.ts';
import { shippedPolicy } from '../../conformance/breaker/subjects.ts';

describe('trip window', () => {
  it('forgets what lies before the longest window asked for', () => {
    const window = new TripWindow();
    for (let atMs = 0; atMs < 100_000; atMs += 100) window.addSuccess(atMs, shippedPolicy);
    expect(window.size).toBe(301);
  });

  it('keeps marks for an idle window, also those of another tier', () => {
    const window = new TripWindow();
    window.addFailure(0, { ...shippedPolicy, idleWindowMs: 600_000 });
    window.addFailure(500_000, shippedPolicy);
    expect(window.size).toBe(2);
  });

  it('a success that left the window can still break', () => {
    const window = new TripWindow();
    const mark = window.addSuccess(0, shippedPolicy);
    window.addSuccess(100_000, shippedPolicy);
    window.breakSuccess(mark, 100_000, shippedPolicy);
    expect(window.size).toBe(2);
  });

  it('holds a bounded number of marks, the newest ones', () => {
    const ring = new MarkRing();
    for (let order = 0; order < marksMax + 10; order += 1) ring.push(order, order);
    expect(ring.size).toBe(marksMax);
    expect(ring.timeAt(0)).toBe(10);
    expect(ring.timeAt(ring.size - 1)).toBe(marksMax + 9);
    expect(ring.countSince(marksMax)).toBe(10);
  });

  it('takes a mark out of the middle and keeps the others in order', () => {
    const ring = new MarkRing();
    for (let order = 0; order < 150; order += 1) ring.push(order * 2, order);
    ring.dropBefore(20);
    ring.remove(12);
    ring.remove(12);
    ring.remove(3);
    const orders = Array.from({ length: ring.size }, (_none, index) => ring.orderAt(index));
    expect(orders).toEqual(
      Array.from({ length: 140 }, (_none, index) => index + 10).filter((order) => order !== 12),
    );
  });
});
