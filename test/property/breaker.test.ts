/** Every breaker agrees with a plain model of its rules: over random traces, and over all short ones. */
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../src/base/random.ts';
import type { BreakerPolicy } from '../../src/resilience/breaker/breaker.ts';
import { shippedPolicy, subjects } from '../conformance/breaker/subjects.ts';
import { effort } from '../support/effort.ts';
import { type BreakerEvent, BreakerTrace } from './breaker-trace.ts';

const traces = effort(100, 1_000);
const eventsPerTrace = 1_000;
const shortTraceLength = effort(6, 8);
/** Of length 8 there are 1,679,616 for each alphabet and breaker. */
const timeoutMs = effort(60_000, 3_600_000);

/** What several tiers that share a target may be set to. */
const policies: readonly BreakerPolicy[] = [
  shippedPolicy,
  { ...shippedPolicy, failures: 5, windowMs: 10_000, failureRate: 0.8, minSpanMs: 0 },
  { ...shippedPolicy, idleWindowMs: 600_000, openForMs: 1_000, openForMaxMs: 60_000 },
  { ...shippedPolicy, failures: 1, minSpanMs: 0, failureRate: 0.01, openForMaxMs: 5_000 },
];

const advancesMs = [0, 1, 5, 20, 100, 400, 1_000, 3_000, 10_000, 30_000, 30_001];

function pick<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random.next() * items.length)] ?? items[0];
}

/** Phases of health and of outage, since a fair coin hardly ever reaches a trip by rate. */
function randomEvent(random: Random, failureShare: number): BreakerEvent {
  const mark = (): 'success' | 'failure' | 'none' => {
    if (random.next() < 0.05) return 'none';
    return random.next() < failureShare ? 'failure' : 'success';
  };
  const draw = random.next();
  if (draw < 0.25) return { kind: 'attempt', mark: mark() };
  if (draw < 0.45) return { kind: 'begin' };
  if (draw < 0.65) return { kind: 'settle', which: random.next(), mark: mark() };
  if (draw < 0.7) return { kind: 'break', which: random.next() };
  if (draw < 0.75) return { kind: 'advance_to_probe' };
  const byMs =
    random.next() < 0.8 ? pick(random, [0, 1, 5, 20, 100]) : pick(random, [0, ...advancesMs]);
  return { kind: 'advance', byMs };
}

describe.each(subjects)('breaker against the model: $name', (subject) => {
  it(`agrees over ${traces * eventsPerTrace} random events`, () => {
    const visits = new Map<string, number>();
    for (let seed = 1; seed <= traces; seed += 1) {
      const random = seededRandom(seed);
      const trace = new BreakerTrace(subject, seed);
      let [policy, failureShare] = [pick(random, [shippedPolicy, ...policies]), 0.5];
      for (let index = 0; index < eventsPerTrace; index += 1) {
        if (index % 50 === 0) failureShare = pick(random, [0.02, 0.3, 0.6, 0.95]);
        if (random.next() < 0.02) policy = pick(random, [shippedPolicy, ...policies]);
        const event = randomEvent(random, failureShare);
        const difference = trace.step(event, policy);
        if (difference !== null) {
          expect.fail(`seed ${seed}, event ${index} ${JSON.stringify(event)}: ${difference}`);
        }
        visits.set(trace.state, (visits.get(trace.state) ?? 0) + 1);
      }
      trace.close();
    }
    // The traces are worth something only where every state is lived in.
    for (const state of ['closed', 'open', 'half_open']) {
      expect(visits.get(state) ?? 0).toBeGreaterThan(traces * eventsPerTrace * 0.03);
    }
  });

  const alphabets: readonly (readonly [string, readonly BreakerEvent[]])[] = [
    [
      'attempts one after the other',
      [
        { kind: 'attempt', mark: 'success' },
        { kind: 'attempt', mark: 'failure' },
        { kind: 'attempt', mark: 'none' },
        { kind: 'advance_to_probe' },
        { kind: 'advance', byMs: 1_000 },
        { kind: 'break', which: 0 },
      ],
    ],
    [
      'attempts side by side',
      [
        { kind: 'begin' },
        { kind: 'settle', which: 0, mark: 'success' },
        { kind: 'settle', which: 0, mark: 'failure' },
        { kind: 'settle', which: 0.999, mark: 'none' },
        { kind: 'advance_to_probe' },
        { kind: 'break', which: 0 },
      ],
    ],
  ];

  it.each(alphabets)(
    `agrees over every trace of up to ${shortTraceLength} events: %s`,
    (_name, alphabet) => {
      const quick: BreakerPolicy = { ...shippedPolicy, failures: 1, minSpanMs: 0 };
      const total = alphabet.length ** shortTraceLength;
      // A trace of full length holds all its beginnings.
      for (let number = 0; number < total; number += 1) {
        const trace = new BreakerTrace(subject, 1);
        let rest = number;
        const steps: BreakerEvent[] = [];
        for (let index = 0; index < shortTraceLength; index += 1) {
          const event = alphabet[rest % alphabet.length];
          rest = Math.floor(rest / alphabet.length);
          if (event === undefined) continue;
          steps.push(event);
          const difference = trace.step(event, quick);
          if (difference !== null) expect.fail(`${JSON.stringify(steps)}: ${difference}`);
        }
        trace.close();
      }
    },
    timeoutMs,
  );
});
