import { expect, it } from 'vitest';
import type { AttemptTrace } from '../../../src/engine/trace.ts';
import { SuccessRates } from '../../../src/telemetry/success-rates.ts';
import { attemptFailure, attemptTrace, requestTrace } from '../../support/traces.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const target = { provider: 'p1', model: 'large' };
const served = attemptTrace();
const failed = attemptTrace({ outcome: 'failed', failure: attemptFailure() });

function ratesOf(clock = new VirtualClock()) {
  const rates = new SuccessRates(clock);
  const note = (...attempts: readonly AttemptTrace[]): void =>
    rates.note(requestTrace({ attempts }));
  return { clock, rates, note };
}

it('is the share of attempts that served, null before the first', () => {
  const { rates, note } = ratesOf();
  expect(rates.rate(target)).toBeNull();
  note(failed, served);
  note(served);
  note(served);
  expect(rates.rate(target)).toBe(0.75);
  expect(rates.rate({ provider: 'p1', model: 'small' })).toBeNull();
});

it.each<[string, Partial<AttemptTrace>]>([
  ['a client that left', { outcome: 'client_gone' }],
  ['a loser of a race', { outcome: 'cancelled' }],
  [
    'a request at fault',
    { outcome: 'failed', failure: attemptFailure({ errorClass: 'invalid_request' }) },
  ],
  ['a rate limit', { outcome: 'failed', failure: attemptFailure({ errorClass: 'rate_limit' }) }],
])('%s says nothing of the target', (_name, parts) => {
  const { rates, note } = ratesOf();
  note(attemptTrace(parts));
  expect(rates.rate(target)).toBeNull();
});

it('knows the last hundred marks', () => {
  const { rates, note } = ratesOf();
  for (let index = 0; index < 100; index += 1) note(failed);
  for (let index = 0; index < 100; index += 1) note(served);
  expect(rates.rate(target)).toBe(1);
});

it('forgets after ten minutes', async () => {
  const { clock, rates, note } = ratesOf();
  note(failed);
  await clock.advance(60_000);
  note(served);
  await clock.advance(9 * 60_000);
  expect(rates.rate(target)).toBe(0.5);
  await clock.advance(1);
  expect(rates.rate(target)).toBe(1);
  await clock.advance(600_000);
  expect(rates.rate(target)).toBeNull();
});

it('keeps the thousand targets asked last', () => {
  const { rates, note } = ratesOf();
  note(served);
  for (let index = 0; index < 999; index += 1) note(attemptTrace({ model: `m${index}` }));
  expect(rates.rate(target)).toBe(1);
  note(served, attemptTrace({ model: 'one more' }));
  expect(rates.rate({ provider: 'p1', model: 'm0' })).toBeNull();
  expect(rates.rate(target)).toBe(1);
});
