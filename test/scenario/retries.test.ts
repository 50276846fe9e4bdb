import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Tier } from '../../src/routing/snapshot.ts';
import {
  type Asked,
  type AskOptions,
  EngineHarness,
  ok,
  plainProvider,
  plainTarget,
  plainTier,
  retryPolicy,
  status,
} from '../support/engine-harness.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

const p1 = plainTarget('p1');
const p2 = plainTarget('p2');

/** A target whose provider has a pool of keys. */
function keyed(name: string, ...aliases: readonly string[]) {
  const keys = aliases.map((alias) => ({ alias, resolve: () => alias }));
  return plainTarget(name, { provider: plainProvider(name, { keys }) });
}

function limited(waitMs: number): ScriptedCall {
  return status(429, { headers: { 'retry-after-ms': String(waitMs) } });
}

function later(call: ScriptedCall, afterMs: number): ScriptedCall {
  return { ...call, afterMs } as ScriptedCall;
}

/** The gap before each call of the provider, ms. */
function gaps({ transport }: EngineHarness, provider: string): readonly number[] {
  const instants = transport.requests.filter((seen) => seen.provider === provider);
  return instants.slice(1).map(({ atMs }, index) => atMs - (instants[index]?.atMs ?? 0));
}

describe('hints', () => {
  it('R06 a target is not asked again before its hint ends, also when the others have failed meanwhile', async () => {
    const busy = status(529, { headers: { 'retry-after': '30' } });
    const harness = new EngineHarness(plainTier([p1, p2]), () => later(busy, 100));
    const { answer, trace } = await harness.askWithin(60_000, { deadlineMs: 20_000 });
    expect(trace.attempts.map(({ target }) => target)).toEqual(['p1/m', 'p2/m']);
    expect(answer).toMatchObject({ kind: 'failed', failure: { status: 503 } });
  });

  it('R06 the request comes back to the first one whose hint is over', async () => {
    const busy = (seconds: string) => status(529, { headers: { 'retry-after': seconds } });
    const harness = new EngineHarness(plainTier([p1, p2]), (provider, call) =>
      call > 0 ? ok(provider) : busy(provider === 'p1' ? '20' : '50'),
    );
    const { text } = await harness.askWithin(60_000, { deadlineMs: 40_000 });
    expect(text).toBe('p1');
    expect(gaps(harness, 'p1')[0]).toBeGreaterThanOrEqual(20_000);
  });
});

describe('when all rest', () => {
  /** p1 is rate-limited for so long; p2 is open, and well again. */
  async function ask(seconds: string) {
    let isSick = true;
    const harness = new EngineHarness(plainTier([p1, p2], { hedge: null }), (provider) => {
      if (provider === 'p1') return status(429, { headers: { 'retry-after': seconds } });
      return provider === 'p2' && isSick ? status(500) : ok(provider);
    });
    const tier = plainTier([p2, plainTarget('p3')]);
    while (harness.health.all()[0]?.breakerState() !== 'open') {
      await harness.askWithin(60_000, { tier });
    }
    isSick = false;
    const asked = await harness.askWithin(60_000, { deadlineMs: 55_000 });
    return { ...asked, calls: harness.transport.calls('p1') };
  }

  it('a hint of half a minute does not hold a request from a target that is back sooner', async () => {
    const { text, trace } = await ask('30');
    expect(text).toBe('p2');
    expect(trace.attempts.map(({ target, kind }) => [target, kind])).toEqual([
      ['p1/m', 'first'],
      ['p2/m', 'probe'],
    ]);
    expect(trace.latencyMs).toBeLessThanOrEqual(15_000);
  });

  it('a hint of seconds is waited for all the same', async () => {
    const { trace, calls } = await ask('3');
    expect(trace.attempts[1]).toMatchObject({ target: 'p1/m', delayReason: 'hint' });
    expect(calls).toBeGreaterThan(1);
  });
});

describe('the retry budget', () => {
  it('R80 each attempt tells what was left of it when it began', async () => {
    const { tier, answers } = failsTwice();
    const harness = new EngineHarness(tier, answers);
    const { trace } = await harness.askWithin(60_000);
    const left = trace.attempts.map(({ target, retryBudget }) => [target, retryBudget]);
    expect(left).toEqual([
      ['p1/m', 5.2],
      ['p1/m', 4.2],
      ['p2/m', 5.2],
    ]);
  });
});

/** Two attempts at the first target, then the second one; time adds nothing to the budgets. */
function failsTwice() {
  const budget = { ratio: 0.2, minPerSecond: 0, max: 5.2 };
  const tier = plainTier([p1, p2], { retry: { ...retryPolicy, attempts: 2, budget } });
  const answers = (provider: string) => (provider === 'p1' ? status(500) : ok());
  return { tier, answers };
}

describe('keys', () => {
  it('R06 a key that may come back at once is no other key: the retry is spread and draws from the budget', async () => {
    const tier = plainTier([keyed('p1', 'one')], {
      retry: { ...retryPolicy, budget: { ratio: 0, minPerSecond: 0, max: 1 } },
    });
    const harness = new EngineHarness(tier, () => limited(0));
    const { trace } = await harness.askWithin(60_000);
    expect(trace.attempts).toHaveLength(2);
    expect(trace.attempts[1]).toMatchObject({ kind: 'retry', delayReason: 'hint' });
  });

  it('no call is made without a key while every key of the pool rests', async () => {
    const tier = plainTier([keyed('p1', 'one')]);
    const harness = new EngineHarness(tier, (_, call) =>
      call < 4 ? limited(1000 + 700 * call) : ok('hello'),
    );
    const asked: Promise<Asked>[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      asked.push(harness.ask());
      await harness.clock.advance(600);
    }
    await harness.clock.advance(60_000);
    for (const { text } of await Promise.all(asked)) expect(text).toBe('hello');
    const sent = harness.transport.requests.map(({ headers }) => headers['authorization']);
    expect(sent.every((secret) => secret === 'one')).toBe(true);
  });

  it('R20 another key is not tried once the deadline has passed', async () => {
    const endless: ScriptedCall = {
      kind: 'answer',
      status: 429,
      body: ['{"error":{"code":"insufficient_quota"}}'],
    };
    const harness = new EngineHarness(plainTier([keyed('p1', 'one', 'two')]), () => endless);
    const { answer, trace } = await harness.askWithin(2000, { deadlineMs: 1000 });
    expect(answer).toMatchObject({ kind: 'failed', failure: { status: 504 } });
    expect(trace.attempts).toHaveLength(1);
  });

  it('a rate limit told in the middle of a stream rests the key like any other', async () => {
    const long = `START\n${'T:word \n'.repeat(30)}`;
    const harness = new EngineHarness(
      plainTier([keyed('p1', 'one', 'two')]),
      (): ScriptedCall => ({
        kind: 'answer',
        status: 200,
        body: [long, 'ERR:429:rate_limit\n', { end: 'clean' }],
      }),
    );
    expect((await harness.askWithin(100)).trace.outcome).toBe('failed');
    await harness.askWithin(100);
    const sent = harness.transport.requests.map(({ headers }) => headers['authorization']);
    expect(sent).toEqual(['one', 'two']);
  });

  it('R12 an empty account told in the middle of a stream parks the key and wakes someone', async () => {
    const long = `START\n${'T:word \n'.repeat(30)}`;
    const harness = new EngineHarness(
      plainTier([keyed('p1', 'one')]),
      (): ScriptedCall => ({
        kind: 'answer',
        status: 200,
        body: [long, 'ERR:429:insufficient_quota\n', { end: 'clean' }],
      }),
    );
    await harness.askWithin(100);
    expect(harness.alerts).toMatchObject([{ kind: 'quota_exhausted', subject: 'one' }]);
    expect((await harness.askWithin(100)).trace.attempts).toHaveLength(0);
  });
});

describe('bounds', () => {
  it('R20 an error whose words never end leaves the next candidate its share of the deadline', async () => {
    const endless: ScriptedCall = { kind: 'answer', status: 402, body: ['{"error":{'] };
    const harness = new EngineHarness(plainTier([p1, p2], { hedge: null }), (provider) =>
      provider === 'p1' ? endless : later(ok('p2'), 300),
    );
    const { text, trace } = await harness.askWithin(2000, { deadlineMs: 2000 });
    expect(text).toBe('p2');
    expect(trace.attempts[0]?.failure?.errorClass).toBe('quota_exhausted');
  });

  it('attempts_total bounds the returns to targets whose breakers open and close', async () => {
    const quick = { ...plainTier([]).breaker, openForMs: 500, openForMaxMs: 500, minSpanMs: 0 };
    const tier = plainTier([p1, p2], { breaker: quick, retry: { ...retryPolicy, attempts: 8 } });
    const harness = new EngineHarness(tier, () => later(status(500), 20));
    const { trace } = await harness.askWithin(200_000);
    expect(trace.attempts.length).toBeLessThanOrEqual(8);
  });

  it('silence in the middle of an answer counts for the breaker, however long the whole might take', async () => {
    const clocks = { ...p1.clocks, idleMs: 500 };
    const stuck: ScriptedCall = { kind: 'answer', status: 200, body: ['START\n'] };
    const harness = new EngineHarness(plainTier([plainTarget('p1', { clocks }), p2]), (provider) =>
      provider === 'p1' ? stuck : ok(provider),
    );
    for (let turn = 0; turn < 4; turn += 1) {
      const { trace } = await harness.askWithin(60_000, { chat: { isStream: false } });
      expect(trace.serving?.target).toBe('p2/m');
    }
    expect(harness.transport.calls('p1')).toBe(3);
  });
});

describe('what stays behind', () => {
  /** Runs one request, and counts the listeners on its client's signal when all is over. */
  async function listenersAfter(tier: Tier, call: ScriptedCall, options: AskOptions = {}) {
    const harness = new EngineHarness(tier, () => call);
    const client = new AbortController();
    await harness.askWithin(120_000, { ...options, signal: client.signal });
    await harness.clock.advance(2000);
    return getEventListeners(client.signal, 'abort').length;
  }

  it.each([
    ['a stream', ok(), {}],
    ['a whole reply', ok(), { chat: { isStream: false } }],
    ['failures', status(500), {}],
    ['a hedge', { kind: 'silent' } satisfies ScriptedCall, {}],
  ] as const)('%s leaves no listener on the client’s signal', async (_, call, options) => {
    expect(await listenersAfter(plainTier([p1, p2]), call, options)).toBe(0);
  });

  it('a client that leaves before the first batch is pulled is a client that left', async () => {
    const flowing: ScriptedCall = { kind: 'answer', status: 200, body: ['T:a\n'.repeat(40)] };
    const harness = new EngineHarness(plainTier([p1]), () => flowing);
    const client = new AbortController();
    const run = harness.engine.start(harness.request({ signal: client.signal }));
    await harness.clock.advance(0);
    const answer = await run.answer;
    client.abort();
    if (answer.kind === 'stream') await answer.batches.return();
    expect(run.trace()).toMatchObject({ outcome: 'client_gone', status: 499 });
    expect(run.trace().attempts).toMatchObject([{ outcome: 'client_gone', failure: null }]);
    expect(harness.transport.open).toBe(0);
    expect(harness.clock.pending).toBe(0);
  });

  it('a retry of the first target after a failed hedge is a retry, not a failover', async () => {
    const tier = plainTier([p1, keyed('p2', 'dud')]);
    const harness = new EngineHarness(tier, (provider, call) => {
      if (provider === 'p2') return status(401);
      return call === 0 ? later({ kind: 'reset' }, 12_000) : ok('again');
    });
    const { text, trace } = await harness.askWithin(60_000);
    expect(text).toBe('again');
    expect(trace.attempts.map(({ kind }) => kind)).toEqual(['first', 'hedge', 'retry']);
    expect(trace.failoverCount).toBe(0);
  });
});
