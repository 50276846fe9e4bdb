import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  ConcurrencyLimit,
  type ConcurrencyPolicy,
  type Slot,
  type SlotRefusal,
} from '../../../src/resilience/concurrency-limit.ts';
import { settle, VirtualClock } from '../../support/virtual-clock.ts';

const small = { minConcurrent: 1, maxConcurrent: 2, queueMax: 3, queueWaitMs: 2_000 };

function given(policy: Partial<ConcurrencyPolicy> = {}) {
  const clock = new VirtualClock();
  return { clock, limit: new ConcurrencyLimit(clock, { ...small, ...policy }) };
}

function taken(limit: ConcurrencyLimit): Slot {
  const slot = limit.tryAcquire();
  if (slot === null) throw new Error('expected a free slot');
  return slot;
}

/** Asks for a slot and keeps what came of it. */
function ask(limit: ConcurrencyLimit, signal: AbortSignal = new AbortController().signal) {
  const asked: { result: Slot | SlotRefusal | 'waits' } = { result: 'waits' };
  void limit.acquire(signal).then((result) => {
    asked.result = result;
  });
  return asked;
}

function slotOf(asked: { readonly result: Slot | SlotRefusal | 'waits' }): Slot {
  if (typeof asked.result === 'string') throw new Error(`expected a slot, got ${asked.result}`);
  return asked.result;
}

describe('concurrency limit', () => {
  it('gives as many slots as the limit, and one more for each released', () => {
    const { limit } = given();
    const first = taken(limit);
    taken(limit);
    expect(limit.tryAcquire()).toBeNull();
    first.release('neutral');
    expect(limit.inFlight).toBe(1);
    expect(limit.tryAcquire()).not.toBeNull();
  });

  it('a second release of the same slot changes nothing', () => {
    const { limit } = given();
    const first = taken(limit);
    taken(limit);
    first.release('neutral');
    first.release('overloaded');
    expect([limit.inFlight, limit.limit]).toEqual([1, 2]);
  });

  it('those who wait are served in order of arrival, and nobody overtakes them', async () => {
    const { limit } = given({ maxConcurrent: 1 });
    const first = taken(limit);
    const waiting = [ask(limit), ask(limit)];
    first.release('neutral');
    expect(limit.tryAcquire()).toBeNull();
    await settle();
    expect(waiting[1]?.result).toBe('waits');
    for (const asked of waiting) {
      slotOf(asked).release('neutral');
      await settle();
    }
    expect([limit.inFlight, limit.queued]).toEqual([0, 0]);
  });

  it('a full queue refuses at once', async () => {
    const { clock, limit } = given({ queueMax: 1 });
    taken(limit);
    taken(limit);
    expect(limit.isFull()).toBe(false);
    ask(limit);
    expect(limit.isFull()).toBe(true);
    const refused = ask(limit);
    await settle();
    expect(refused.result).toBe('full');
    expect(clock.pending).toBe(1);
  });

  it('waits at most queue_wait', async () => {
    const { clock, limit } = given();
    taken(limit);
    taken(limit);
    const asked = ask(limit);
    await clock.advance(1_999);
    expect(asked.result).toBe('waits');
    await clock.advance(1);
    expect(asked.result).toBe('timeout');
    expect([limit.inFlight, limit.queued, clock.pending]).toEqual([2, 0, 0]);
  });

  it.each([{ queueMax: 0 }, { queueWaitMs: 0 }])('with %o nobody waits', async (policy) => {
    const { limit } = given(policy);
    taken(limit);
    expect(limit.isFull()).toBe(false);
    taken(limit);
    expect(limit.isFull()).toBe(true);
    const asked = ask(limit);
    await settle();
    expect(asked.result).toBe('full');
  });

  it('an abort leaves the queue at once and makes room in it', async () => {
    const { clock, limit } = given({ queueMax: 1 });
    const first = taken(limit);
    taken(limit);
    const leaving = new AbortController();
    const left = ask(limit, leaving.signal);
    leaving.abort();
    const next = ask(limit);
    first.release('neutral');
    await settle();
    expect(left.result).toBe('aborted');
    slotOf(next).release('neutral');
    expect(limit.inFlight).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('an aborted signal gets no slot, though one is free', async () => {
    const { limit } = given();
    expect(await limit.acquire(AbortSignal.abort())).toBe('aborted');
    expect(limit.inFlight).toBe(0);
  });

  it('an abort after the slot was given leaves it to its owner', async () => {
    const { limit } = given({ maxConcurrent: 1 });
    const first = taken(limit);
    const owner = new AbortController();
    const asked = ask(limit, owner.signal);
    first.release('neutral');
    owner.abort();
    await settle();
    expect(limit.inFlight).toBe(1);
    slotOf(asked).release('neutral');
    expect(limit.inFlight).toBe(0);
  });

  it('leaves no timer and no listener behind, however the wait ended', async () => {
    const { clock, limit } = given({ maxConcurrent: 1, queueMax: 10 });
    const aborters = [0, 1, 2].map(() => new AbortController());
    const first = taken(limit);
    const asked = aborters.map((aborter) => ask(limit, aborter.signal));
    aborters[1]?.abort();
    first.release('neutral');
    await clock.advance(2_000);
    expect(asked.map(({ result }) => typeof result === 'string' || 'slot')).toEqual([
      'slot',
      true,
      true,
    ]);
    expect(aborters.flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('after a lowering nobody is admitted until enough slots are back', async () => {
    const { limit } = given({ maxConcurrent: 10 });
    const slots = Array.from({ length: 10 }, () => taken(limit));
    const asked = ask(limit);
    slots[0]?.release('overloaded');
    await settle();
    expect([limit.limit, limit.inFlight, asked.result]).toEqual([7, 9, 'waits']);
    for (const slot of slots.slice(1, 3)) slot.release('neutral');
    await settle();
    expect([limit.inFlight, asked.result]).toEqual([7, 'waits']);
    slots[3]?.release('neutral');
    await settle();
    slotOf(asked);
    expect(limit.inFlight).toBe(7);
  });

  it('a refusal that comes last is measured by what was in flight when it began', () => {
    const { limit } = given({ maxConcurrent: 1_000 });
    const slots = Array.from({ length: 100 }, () => taken(limit));
    const last = slots.pop();
    for (const slot of slots) slot.release('neutral');
    last?.release('overloaded');
    expect(limit.limit).toBe(70);
  });

  it('successes raise it again', async () => {
    const { clock, limit } = given({ maxConcurrent: 10 });
    const slots = Array.from({ length: 10 }, () => taken(limit));
    for (const slot of slots) slot.release('overloaded');
    expect(limit.limit).toBe(7);
    await clock.advance(1);
    for (let count = 0; count < 7; count += 1) taken(limit).release('success');
    expect(limit.limit).toBe(8);
  });

  it('a higher limit set at run time admits those who wait; a shorter queue turns nobody out', async () => {
    const { limit } = given({ maxConcurrent: 1 });
    taken(limit);
    const waiting = [ask(limit), ask(limit), ask(limit)];
    limit.configure({ ...small, maxConcurrent: 1, queueMax: 1 });
    expect(limit.queued).toBe(3);
    limit.configure({ ...small, maxConcurrent: 3, queueMax: 1 });
    await settle();
    expect(waiting.map(({ result }) => typeof result)).toEqual(['object', 'object', 'string']);
    expect([limit.limit, limit.inFlight, limit.queued]).toEqual([3, 3, 1]);
  });

  it('a burst of 2,000 requests never holds more than 1,024 slots and 64 places', async () => {
    const { clock, limit } = given({ maxConcurrent: 1_024, minConcurrent: 4, queueMax: 64 });
    const asked = Array.from({ length: 2_000 }, () => ask(limit));
    await settle();
    expect([limit.inFlight, limit.queued]).toEqual([1_024, 64]);
    expect(asked.filter(({ result }) => result === 'full')).toHaveLength(2_000 - 1_024 - 64);
    await clock.advance(2_000);
    expect(asked.filter(({ result }) => result === 'timeout')).toHaveLength(64);
  });
});
