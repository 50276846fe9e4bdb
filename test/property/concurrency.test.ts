import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ConcurrencyLimit,
  type ConcurrencyPolicy,
  type Slot,
  type SlotRefusal,
} from '../../src/resilience/concurrency-limit.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { ConcurrencyModel, type ModelResult } from './concurrency-model.ts';

const policy: fc.Arbitrary<ConcurrencyPolicy> = fc
  .record({
    minConcurrent: fc.integer({ min: 1, max: 4 }),
    above: fc.integer({ min: 0, max: 8 }),
    queueMax: fc.integer({ min: 0, max: 5 }),
    queueWaitMs: fc.constantFrom(0, 1, 500, 2_000),
  })
  .map(({ above, ...rest }) => ({ ...rest, maxConcurrent: rest.minConcurrent + above }));

const index = fc.nat({ max: 200 });
const outcome = fc.constantFrom('success' as const, 'overloaded' as const, 'neutral' as const);
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('acquire' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), index, outcome }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), index }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      byMs: fc.constantFrom(1, 499, 500, 1_000, 2_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('configure' as const), policy }) },
);
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

type Ask = { readonly aborter: AbortController; result: Slot | SlotRefusal | 'waits' };

/** The limit under test, with a record of each ask in order. */
class Subject {
  readonly clock = new VirtualClock();
  readonly limit: ConcurrencyLimit;
  readonly asks: Ask[] = [];
  /** Which asks got a slot after waiting, in the order in which they got it. */
  readonly admitted: number[] = [];

  constructor(given: ConcurrencyPolicy) {
    this.limit = new ConcurrencyLimit(this.clock, given);
  }

  get results(): ModelResult[] {
    return this.asks.map(({ result }) => (typeof result === 'string' ? result : 'slot'));
  }

  acquire(): void {
    const ask: Ask = { aborter: new AbortController(), result: 'waits' };
    const id = this.asks.push(ask) - 1;
    void this.limit.acquire(ask.aborter.signal).then((result) => {
      ask.result = result;
      if (typeof result !== 'string') this.admitted.push(id);
    });
  }

  release(id: number, how: 'success' | 'overloaded' | 'neutral'): void {
    const result = this.asks[id]?.result;
    if (result !== undefined && typeof result !== 'string') result.release(how);
  }
}

async function run(subject: Subject, model: ConcurrencyModel, given: Command): Promise<void> {
  const inFlightBefore = subject.limit.inFlight;
  switch (given.do) {
    case 'acquire':
      model.acquire();
      subject.acquire();
      break;
    case 'release':
      model.release(given.index % Math.max(1, subject.asks.length), given.outcome);
      subject.release(given.index % Math.max(1, subject.asks.length), given.outcome);
      break;
    case 'abort':
      model.abort(given.index % Math.max(1, subject.asks.length));
      subject.asks[given.index % Math.max(1, subject.asks.length)]?.aborter.abort();
      break;
    case 'advance':
      model.advance(given.byMs);
      await subject.clock.advance(given.byMs);
      break;
    case 'configure':
      model.configure(given.policy);
      subject.limit.configure(given.policy);
      break;
  }
  await Promise.resolve();
  const { limit } = subject;
  expect(limit.inFlight).toBeLessThanOrEqual(Math.max(limit.limit, inFlightBefore));
  expect([limit.limit, limit.inFlight, limit.queued, limit.isFull()]).toEqual([
    model.limit,
    model.held.length,
    model.queue.length,
    model.isFull,
  ]);
  expect(subject.results).toEqual(model.results);
  expect(subject.clock.pending).toBe(model.queue.length);
}

describe('concurrency limit, for any traffic', () => {
  it('agrees with plain lists: never more than the limit, first come first served, no lost wake-up', async () => {
    await fc.assert(
      fc.asyncProperty(policy, fc.array(command, { maxLength: 80 }), async (given, commands) => {
        const [subject, model] = [new Subject(given), new ConcurrencyModel(given)];
        for (const each of commands) await run(subject, model, each);
        expect(subject.admitted).toEqual([...subject.admitted].sort((left, right) => left - right));
      }),
    );
  });

  it('every wait ends, and leaves no slot, place, timer or listener behind', async () => {
    await fc.assert(
      fc.asyncProperty(policy, fc.array(command, { maxLength: 80 }), async (given, commands) => {
        const [subject, model] = [new Subject(given), new ConcurrencyModel(given)];
        for (const each of commands) await run(subject, model, each);
        for (let held = model.held.at(0); held !== undefined; held = model.held.at(0)) {
          await run(subject, model, { do: 'release', index: held.id, outcome: 'neutral' });
        }
        expect(subject.results).not.toContain('waits');
        expect([subject.limit.inFlight, subject.limit.queued, subject.clock.pending]).toEqual([
          0, 0, 0,
        ]);
        for (const { aborter } of subject.asks) {
          expect(getEventListeners(aborter.signal, 'abort')).toEqual([]);
        }
      }),
    );
  });
});
