/** The engine and a client that repeats: one ask of each target, and what providers said is handed on. */
import { describe, expect, it } from 'vitest';
import {
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  status,
} from '../support/engine-harness.ts';

const repeat = { clientRetryCount: 1, maxRetries: 0 };
const p1 = plainTarget('p1');
const p2 = plainTarget('p2');
/** As every provider beyond a laptop is: one key, or several. */
function keyed(...aliases: readonly string[]) {
  const keys = aliases.map((alias) => ({ alias, resolve: () => alias }));
  return plainTarget('p1', { provider: plainProvider('p1', { keys }) });
}

const busy = status(529, { headers: { 'retry-after': '5' } });
const limited = status(429, { headers: { 'retry-after': '5' } });

describe('a repeat of the client', () => {
  it('R32 asks each target once, without a wait', async () => {
    const harness = new EngineHarness(plainTier([p1, p2]), () => status(500));
    const { trace } = await harness.askWithin(1_000, repeat);
    expect(trace.attempts.map(({ target, kind }) => [target, kind])).toEqual([
      ['p1/m', 'first'],
      ['p2/m', 'failover'],
    ]);
    expect(trace).toMatchObject({ status: 502, backoffMs: 0, clientRetryCount: 1 });
  });

  it.each([
    ['overloaded', p1, busy, 503, 'no_target_available'],
    ['overloaded and keyed', keyed('one'), busy, 503, 'no_target_available'],
    ['rate-limited', p1, limited, 429, 'rate_limited'],
    ['rate-limited and keyed', keyed('one'), limited, 429, 'rate_limited'],
  ])(
    'R32 tells when a lone target that is %s may be asked again',
    async (_name, target, answer, code, failureClass) => {
      const harness = new EngineHarness(plainTier([target]), () => answer);
      const { trace } = await harness.askWithin(1_000, repeat);
      expect(trace.attempts).toHaveLength(1);
      expect(trace).toMatchObject({ status: code, failure: { failureClass } });
      const waitMs = trace.failure?.retryAfterMs ?? 0;
      expect(waitMs).toBeGreaterThan(4_900);
      expect(waitMs).toBeLessThanOrEqual(6_000);
    },
  );

  it('R32 is not sent away from a target that has another key', async () => {
    const harness = new EngineHarness(plainTier([keyed('one', 'two')]), (_, call) =>
      call === 0 ? limited : ok(),
    );
    const first = await harness.askWithin(1_000, repeat);
    expect(first.trace.failure?.retryAfterMs ?? null).toBeNull();
    const second = await harness.askWithin(1_000, repeat);
    expect(second.text).toBe('hello');
  });

  it('R32 R12 is told of an empty account as ever, whatever wait its provider names', async () => {
    const empty = status(402, { headers: { 'retry-after': '5' } });
    const harness = new EngineHarness(plainTier([keyed('one')]), () => empty);
    const { trace } = await harness.askWithin(1_000, repeat);
    expect(trace).toMatchObject({ status: 502, failure: { failureClass: 'upstream_quota' } });
  });

  it('is asked of the next target at once, and served there', async () => {
    const harness = new EngineHarness(plainTier([p1, p2]), (provider) =>
      provider === 'p1' ? busy : ok(),
    );
    const { text, trace } = await harness.askWithin(1_000, repeat);
    expect([text, trace.attempts.length]).toEqual(['hello', 2]);
  });
});

it('a request whose attempts are used up is told the wait that stands behind them', async () => {
  const harness = new EngineHarness(plainTier([p1]), () => limited);
  const { trace } = await harness.askWithin(60_000);
  expect(trace.attempts).toHaveLength(4);
  expect(trace).toMatchObject({ status: 429, failure: { failureClass: 'rate_limited' } });
  expect(harness.transport.calls('p1')).toBe(4);
});
