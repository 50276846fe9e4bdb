/** The retry budget against its bound and against a plain model of its rules. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../src/base/random.ts';
import {
  depositFirstAsk,
  openRetryBudget,
  type RetryBudget,
  type RetryBudgetPolicy,
  retryTokens,
  withdrawRetry,
} from '../../src/resilience/retry-budget.ts';
import { effort } from '../support/effort.ts';
import { type BudgetEvent, BudgetModel } from './budget-model.ts';

const policy = fc.record({
  ratio: fc.double({ min: 0, max: 1, noNaN: true }),
  minPerSecond: fc.integer({ min: 0, max: 10 }),
  max: fc.integer({ min: 0, max: 200 }),
});
const event = fc.record({
  kind: fc.constantFrom('ask' as const, 'retry' as const),
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 })),
});

describe('retry budget, for any traffic', () => {
  it('R92 upstream calls <= first asks x (1 + ratio) + max + floor x seconds, at every moment', () => {
    fc.assert(
      fc.property(policy, fc.array(event, { maxLength: 400 }), (given, events) => {
        let [budget, nowMs, asks, retries] = [openRetryBudget(given, 0), 0, 0, 0];
        for (const { kind, afterMs } of events) {
          nowMs += afterMs;
          if (kind === 'ask') {
            asks += 1;
            budget = depositFirstAsk(budget, given, nowMs);
          } else {
            const drawn = withdrawRetry(budget, given, nowMs);
            budget = drawn.budget;
            if (drawn.isAllowed) retries += 1;
          }
          const bound = asks * (1 + given.ratio) + given.max + (given.minPerSecond * nowMs) / 1_000;
          // Deposits are rounded to thousandths of a token.
          expect(asks + retries).toBeLessThanOrEqual(bound + asks * 0.0005 + 1e-9);
        }
      }),
    );
  });
});

const first: RetryBudgetPolicy = { ratio: 0.2, minPerSecond: 1, max: 20 };
const policies: readonly RetryBudgetPolicy[] = [
  first,
  { ratio: 0.5, minPerSecond: 5, max: 3 },
  { ratio: 0.1, minPerSecond: 0, max: 20 },
  { ratio: 0, minPerSecond: 2, max: 100 },
  { ratio: 2, minPerSecond: 4, max: 10 },
];

/** The budget and its model after the same events. */
type Pair = {
  readonly budget: RetryBudget;
  readonly model: BudgetModel;
  readonly policy: RetryBudgetPolicy;
  readonly nowMs: number;
};

function open(policy: RetryBudgetPolicy): Pair {
  return { budget: openRetryBudget(policy, 0), model: BudgetModel.open(policy), policy, nowMs: 0 };
}

/** The pair after `event`, or what differs. */
function step(pair: Pair, event: BudgetEvent): Pair | string {
  const { policy, nowMs } = pair;
  switch (event.kind) {
    case 'advance':
      return compared({
        ...pair,
        model: pair.model.pass(event.byMs),
        nowMs: nowMs + event.byMs,
      });
    case 'config':
      return compared({ ...pair, policy: event.policy });
    case 'ask': {
      const budget = depositFirstAsk(pair.budget, policy, nowMs);
      return compared({ ...pair, budget, model: pair.model.ask(policy) });
    }
    case 'retry': {
      const { isAllowed, budget } = withdrawRetry(pair.budget, policy, nowMs);
      const model = pair.model.retry(policy);
      if (isAllowed !== (model !== null)) return `allowed: ${isAllowed}`;
      return compared({ ...pair, budget, model: model ?? pair.model.seen(policy) });
    }
  }
}

function compared(pair: Pair): Pair | string {
  const { budget, model, policy, nowMs } = pair;
  const tokens = retryTokens(budget, policy, nowMs);
  const expected = model.seen(policy).balance / 1_000;
  return Math.abs(tokens - expected) < 1e-6 ? pair : `${tokens} tokens, not ${expected}`;
}

describe('retry budget against the model', () => {
  const events = effort(100_000, 1_000_000);

  it(`agrees over ${events} random events, changes of the config among them`, () => {
    const perTrace = 1_000;
    for (let seed = 1; seed <= events / perTrace; seed += 1) {
      const random = seededRandom(seed);
      let pair = open(pick(random, policies));
      for (let index = 0; index < perTrace; index += 1) {
        const event = randomEvent(random);
        const next = step(pair, event);
        if (typeof next === 'string') {
          expect.fail(`seed ${seed}, event ${index} ${JSON.stringify(event)}: ${next}`);
        }
        pair = next;
      }
    }
  });

  const length = effort(6, 8);
  const alphabet: readonly BudgetEvent[] = [
    { kind: 'ask' },
    { kind: 'retry' },
    { kind: 'advance', byMs: 250 },
    { kind: 'advance', byMs: 3_000 },
    { kind: 'config', policy: { ratio: 0.5, minPerSecond: 2, max: 2 } },
    { kind: 'config', policy: { ratio: 0.1, minPerSecond: 0, max: 5 } },
  ];

  it(`agrees over every trace of up to ${length} events`, () => {
    const tight = { ratio: 0.4, minPerSecond: 1, max: 2 };
    let traces = 0;
    const walk = (pair: Pair, trace: readonly BudgetEvent[]): void => {
      if (trace.length === length) {
        traces += 1;
        return;
      }
      for (const event of alphabet) {
        const next = step(pair, event);
        if (typeof next === 'string') expect.fail(`${JSON.stringify([...trace, event])}: ${next}`);
        walk(next, [...trace, event]);
      }
    };
    walk(open(tight), []);
    expect(traces).toBe(alphabet.length ** length);
  });
});

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random.next() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

function randomEvent(random: Random): BudgetEvent {
  const draw = random.next();
  if (draw < 0.35) return { kind: 'ask' };
  if (draw < 0.65) return { kind: 'retry' };
  if (draw < 0.98) {
    return { kind: 'advance', byMs: pick(random, [0, 1, 7, 50, 250, 1_000, 5_000]) };
  }
  return { kind: 'config', policy: pick(random, policies) };
}
