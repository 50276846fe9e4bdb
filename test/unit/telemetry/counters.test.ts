import { expect, it } from 'vitest';
import { silentLog } from '../../../src/base/log-port.ts';
import { Counters } from '../../../src/telemetry/counters.ts';
import {
  EngineHarness,
  ok,
  plainTarget,
  plainTier,
  retryPolicy,
  status,
} from '../../support/engine-harness.ts';
import { attemptFailure, attemptTrace, requestTrace } from '../../support/traces.ts';

it('R81 retries by class, attempts, final outcomes, skips and the time asleep are counted', async () => {
  const harness = new EngineHarness(
    plainTier([plainTarget('p1'), plainTarget('p2')]),
    (provider, call) => {
      if (provider === 'p2') return ok('p2');
      return call === 0 ? status(529) : call === 1 ? ok('p1') : status(401);
    },
  );
  const counters = new Counters();
  const traces = [];
  for (let turn = 0; turn < 3; turn += 1) traces.push((await harness.askWithin(60_000)).trace);
  for (const trace of traces) counters.note(trace);
  expect(counters.totals()).toEqual({
    requests_by_outcome: { served: 3 },
    requests_by_failure: {},
    attempts_by_outcome_and_class: { 'failed/overload': 1, 'served/none': 3, 'failed/auth': 1 },
    retries_by_class: { overload: 1 },
    skips_by_reason: { parked: 1 },
    backoff_ms: Math.round(traces[0]?.backoffMs ?? 0),
    hedges: 0,
    retries_refused_by_budget: 0,
    client_repeats: 0,
    odd_hints: 0,
    unknown_events: {},
  });
});

it('ST-07 unknown events are counted by target and type, and told once', () => {
  const lines: unknown[] = [];
  const counters = new Counters({
    ...silentLog,
    debug: (_message, fields) => void lines.push(fields),
  });
  const attempt = (target: string, types: Record<string, number>) =>
    attemptTrace({ target, unknownEvents: new Map(Object.entries(types)) });
  counters.note(
    requestTrace({ attempts: [attempt('p1/m', { odd: 2 }), attempt('p2/m', { odd: 1 })] }),
  );
  counters.note(
    requestTrace({ attempts: [attempt('p1/m', { odd: 1, new: 1 }), attemptTrace({})] }),
  );
  expect(counters.totals()).toMatchObject({
    unknown_events: { 'p1/m odd': 3, 'p2/m odd': 1, 'p1/m new': 1 },
  });
  expect(lines).toEqual([
    { target: 'p1/m', event: 'odd' },
    { target: 'p2/m', event: 'odd' },
    { target: 'p1/m', event: 'new' },
  ]);
});

it('R06 hints that nobody can read, or can mean, are counted; those that are read are not', async () => {
  const hints = ['soon', '-5', String(48 * 3600), '1', undefined];
  const tier = plainTier([plainTarget('p1'), plainTarget('p2')], {
    retry: { ...retryPolicy, attempts: 1 },
  });
  const harness = new EngineHarness(tier, (provider, call) => {
    const hint = hints[call];
    const headers = hint === undefined ? {} : { 'retry-after': hint };
    return provider === 'p1' ? status(503, { headers }) : ok(provider);
  });
  const counters = new Counters();
  for (const _ of hints) counters.note((await harness.askWithin(60_000)).trace);
  expect(counters.totals()).toMatchObject({ odd_hints: 3 });
});

it('R81 a retry counts under the last failure of its own target, also when a hedge failed in between', () => {
  const failed = (n: number, target: string, errorClass: 'overload' | 'auth') =>
    attemptTrace({ n, target, outcome: 'failed', failure: attemptFailure({ errorClass }) });
  const counters = new Counters();
  counters.note(
    requestTrace({
      attempts: [
        failed(1, 'p1/m', 'overload'),
        { ...failed(2, 'p2/m', 'auth'), kind: 'hedge' },
        attemptTrace({ n: 3, target: 'p1/m', kind: 'retry' }),
      ],
    }),
  );
  expect(counters.totals()).toMatchObject({ retries_by_class: { overload: 1 }, hedges: 1 });
});
