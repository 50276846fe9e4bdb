import { describe, expect, it } from 'vitest';
import { effort } from '../support/effort.ts';
import { reportOf, reportsOf } from '../support/schedule-check.ts';
import { randomSchedule } from '../support/schedule-random.ts';
import { restManners } from '../support/schedule-rest.ts';
import type { Observation } from '../support/simulated-observation.ts';
import { simulate } from '../support/simulated-run.ts';

/** `TIERGATE_SEED=n` plays that one alone. */
const givenSeed = process.env['TIERGATE_SEED'];
const schedules = effort(1000, 2000);
const perTest = 100;
const starts = Array.from({ length: schedules / perTest }, (_, index) => index * perTest);
const timeoutMs = 120_000;

if (givenSeed === undefined) describe('random schedules in virtual time', manySchedules);
else it(`seed ${givenSeed} holds every invariant`, () => oneSchedule(givenSeed), timeoutMs);

async function oneSchedule(seed: string): Promise<void> {
  expect(await reportOf(Number(seed))).toBeNull();
}

function manySchedules(): void {
  it.each(starts)(
    `R20 R92 every invariant holds for seeds %i and the ${perTest - 1} after it`,
    async (from) => {
      expect((await reportsOf(from, perTest)).join('\n\n')).toBe('');
    },
    timeoutMs,
  );

  it('a seed replays byte for byte', async () => {
    // Of these, 43 and 53 hold continuations.
    for (const seed of [3, 14, 43, 53, 92]) {
      const [first, second] = [
        await simulate(randomSchedule(seed)),
        await simulate(randomSchedule(seed)),
      ];
      expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    }
  });

  it(
    'the schedules reach every fault, outcome, kind of attempt and class of error',
    async () => {
      const seen = new Set<string>();
      for (let seed = 0; seed < 400; seed += 1) {
        for (const word of wordsOf(await simulate(randomSchedule(seed)))) seen.add(word);
      }
      expect(expected.filter((word) => !seen.has(word))).toEqual([]);
    },
    timeoutMs,
  );
}

/** What the generator must reach, or the invariants hold of nothing. */
const expected = [
  ...['fault refuse', 'fault reset', 'fault stale', 'fault unreachable', 'fault silence'],
  ...['fault pings', 'fault slow', 'fault trickle', 'fault stall', 'fault cut', 'fault end_early'],
  ...['fault error_event', 'fault status', 'fault bad_events', 'fault no_reply', 'fault null'],
  ...['served', 'failed', 'rejected', 'client_gone'].map((word) => `outcome ${word}`),
  ...['first', 'retry', 'failover', 'hedge', 'probe'].map((word) => `kind ${word}`),
  ...['connection', 'transient_infra', 'malformed_response', 'timeout', 'overload', 'rate_limit'],
  ...['quota_exhausted', 'auth', 'permission', 'not_found', 'context_length', 'invalid_request'],
  ...['content_policy', 'stream_interrupted'],
  ...['deadline_exceeded', 'rate_limited', 'no_target_available', 'upstream_failed'],
  ...['upstream_auth', 'upstream_quota'],
  ...['skip open', 'skip cooling', 'skip parked', 'skip pinned'],
  ...['restarted', 'continued', 'failed_forward', 'several versions', 'half_open'],
  ...['kind continuation', 'fault prefill', 'uncertain joint', 'certain joint', 'thought anew'],
  ...restManners.map((manner) => `goes on ${manner}`),
  ...['asked with a prefill', 'asked in words'],
];

function wordsOf(observation: Observation): readonly string[] {
  const traces = observation.requests.flatMap(({ trace }) => trace ?? []);
  return [
    ...observation.calls.map(({ fault }) => `fault ${fault}`),
    ...observation.changes.map(({ breaker }) => breaker),
    ...observation.calls.flatMap(({ manner, partial }) => [
      `goes on ${manner}`,
      partial === undefined
        ? 'asked anew'
        : `asked ${partial.isPrefill ? 'with a prefill' : 'in words'}`,
    ]),
    observation.schedule.versions.length > 1 ? 'several versions' : 'one version',
    ...traces.flatMap(({ outcome, failure, recovery, skipped, seams, attempts }) => [
      `outcome ${outcome}`,
      failure?.failureClass ?? 'no failure',
      recovery,
      ...skipped.map(({ reason }) => `skip ${reason}`),
      ...seams
        .slice(1)
        .flatMap(({ start, uncertain }) => [
          `${uncertain ? 'uncertain' : 'certain'} joint`,
          start === 0 ? 'thought anew' : 'text',
        ]),
      ...attempts.flatMap((attempt) => [
        `kind ${attempt.kind}`,
        attempt.failure?.errorClass ?? 'no error',
      ]),
    ]),
  ];
}
