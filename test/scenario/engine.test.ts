import { describe, expect, it } from 'vitest';
import {
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
const p3 = plainTarget('p3');
const both = plainTier([p1, p2]);
const solo = plainTier([p1]);

/** Providers that always answer the same. */
function always(scripts: { readonly [provider: string]: ScriptedCall }) {
  return (provider: string): ScriptedCall => scripts[provider] ?? ok(provider);
}

/** p1 answers in order, the last for ever; the others answer well. */
function first(...calls: readonly ScriptedCall[]) {
  return (provider: string, call: number): ScriptedCall =>
    provider === 'p1' ? (calls[Math.min(call, calls.length - 1)] ?? ok()) : ok(provider);
}

function servedBy(trace: {
  readonly serving: { readonly target: string } | null;
}): string | undefined {
  return trace.serving?.target;
}

describe('one failure', () => {
  it('R72 one 529 then fine: the primary answers after one retry, no failover, breaker closed', async () => {
    const harness = new EngineHarness(both, first(status(529), ok('hi')));
    const { trace, text } = await harness.askWithin(60_000);
    expect(text).toBe('hi');
    expect(trace).toMatchObject({ outcome: 'served', failoverCount: 0, isFailedOver: false });
    expect(trace.attempts.map(({ kind, failure }) => [kind, failure?.errorClass ?? null])).toEqual([
      ['first', 'overload'],
      ['retry', null],
    ]);
    expect(trace.serving?.breakerAfter).toBe('closed');
    expect(trace.backoffMs).toBeGreaterThanOrEqual(500);
  });

  it('R10 R91 a 400 is never retried and never routed around', async () => {
    const harness = new EngineHarness(both, always({ p1: status(400) }));
    const { answer, trace } = await harness.askWithin(1000);
    expect(answer).toMatchObject({
      kind: 'failed',
      failure: { status: 400, failureClass: 'invalid_request' },
    });
    expect(trace.attempts).toHaveLength(1);
  });

  it('R13 a 401 fails over at once and wakes someone', async () => {
    const harness = new EngineHarness(both, always({ p1: status(401) }));
    const { trace } = await harness.askWithin(1000);
    expect(servedBy(trace)).toBe('p2/m');
    expect(trace).toMatchObject({ backoffMs: 0, failoverCount: 1, isFailedOver: true });
    expect(harness.alerts).toMatchObject([{ kind: 'auth_rejected', subject: 'p1' }]);
    await harness.askWithin(1000);
    expect(harness.alerts).toHaveLength(1);
    expect(harness.transport.calls('p1')).toBe(1);
  });

  it('R12 RH-06 insufficient_quota fails over at once and parks the key, the breaker stays closed', async () => {
    const body = JSON.stringify({ error: { code: 'insufficient_quota', message: 'x' } });
    const harness = new EngineHarness(both, always({ p1: status(429, { body }) }));
    const { trace } = await harness.askWithin(1000);
    expect(servedBy(trace)).toBe('p2/m');
    expect(trace.attempts[0]).toMatchObject({
      failure: { errorClass: 'quota_exhausted' },
      breakerAfter: 'closed',
    });
    const again = await harness.askWithin(1000);
    expect(again.trace.skipped).toEqual([{ target: 'p1/m', reason: 'parked' }]);
    expect(harness.transport.calls('p1')).toBe(1);
  });

  it('R06 Retry-After: 2 is waited for, not less, and the primary answers', async () => {
    const limited = status(429, { headers: { 'retry-after': '2' } });
    const harness = new EngineHarness(both, first(limited, ok('hi')));
    const { trace } = await harness.askWithin(10_000);
    expect(servedBy(trace)).toBe('p1/m');
    expect(trace.attempts[1]).toMatchObject({ kind: 'retry', delayReason: 'hint' });
    const [firstCall, secondCall] = harness.transport.requests;
    expect((secondCall?.atMs ?? 0) - (firstCall?.atMs ?? 0)).toBeGreaterThanOrEqual(2000);
  });

  it('R07 Retry-After: 3600 does not hold the request: it fails over at once', async () => {
    const limited = status(429, { headers: { 'retry-after': '3600' } });
    const harness = new EngineHarness(both, always({ p1: limited }));
    const { trace } = await harness.askWithin(100);
    expect(servedBy(trace)).toBe('p2/m');
    expect(trace.attempts[0]?.failure?.hint?.waitMs).toBe(3_600_000);
  });

  it('R07 a lone target with Retry-After: 3600 answers 429 with the hint, at once', async () => {
    const limited = status(429, { headers: { 'retry-after': '3600' } });
    const harness = new EngineHarness(solo, always({ p1: limited }));
    const { answer } = await harness.askWithin(100);
    expect(answer).toMatchObject({
      kind: 'failed',
      failure: { status: 429, retryAfterMs: 3_600_000 },
    });
  });

  it('BR-06 a rate limit with a hint rests the target for everyone and trips nothing', async () => {
    const limited = status(429, { headers: { 'retry-after': '2' } });
    const harness = new EngineHarness(both, first(limited, ok('back')));
    const waiting = harness.ask();
    await harness.clock.advance(10);
    for (let turn = 0; turn < 4; turn += 1) {
      const { trace } = await harness.askWithin(100);
      expect(servedBy(trace)).toBe('p2/m');
      expect(trace.skipped).toEqual([{ target: 'p1/m', reason: 'cooling' }]);
    }
    expect(harness.transport.calls('p1')).toBe(1);
    await harness.clock.advance(3000);
    expect(servedBy((await waiting).trace)).toBe('p1/m');
    expect(servedBy((await harness.askWithin(100)).trace)).toBe('p1/m');
  });

  it('R10 a reset on a reused socket is sent again once, at once, uncounted', async () => {
    const harness = new EngineHarness(both, first({ kind: 'stale' }, ok('hi')));
    const { trace } = await harness.askWithin(100);
    expect(trace.attempts).toHaveLength(1);
    expect(servedBy(trace)).toBe('p1/m');
  });

  it('a refused connection goes to the next target without a sleep', async () => {
    const harness = new EngineHarness(both, always({ p1: { kind: 'refused' } }));
    const { trace } = await harness.askWithin(10);
    expect(servedBy(trace)).toBe('p2/m');
    expect(trace.backoffMs).toBe(0);
  });

  it('RH-05 CF-04 the client may lower the retries, never raise them', async () => {
    const calls: number[] = [];
    for (const maxRetries of [1, 0, 9]) {
      const harness = new EngineHarness(
        plainTier([p1], { breaker: { ...solo.breaker, failures: 100 } }),
        always({ p1: status(500) }),
      );
      await harness.askWithin(120_000, { maxRetries });
      calls.push(harness.transport.calls('p1'));
    }
    expect(calls).toEqual([2, 1, 4]);
  });
});

describe('streams before the client has seen anything', () => {
  const stream = (...body: (string | number | { end: 'clean' | 'cut' })[]): ScriptedCall => ({
    kind: 'answer',
    status: 200,
    body,
  });
  const few = plainTier([p1, p2], { retry: { ...retryPolicy, attempts: 1 } });

  it('ST-11 a stream that closes without its finish is a failure, and the next one answers', async () => {
    const harness = new EngineHarness(
      few,
      always({ p1: stream('START\nT:half\n', { end: 'clean' }) }),
    );
    const { trace, text } = await harness.askWithin(1000);
    expect(text).toBe('p2');
    expect(trace).toMatchObject({ recovery: 'restarted' });
    expect(trace.attempts[0]?.failure?.errorClass).toBe('stream_interrupted');
  });

  it('ST-11 allow_missing_finish takes a clean end for the end', async () => {
    const lax = plainTarget('p1', { provider: plainProvider('p1', { allowMissingFinish: true }) });
    const harness = new EngineHarness(
      plainTier([lax, p2]),
      always({ p1: stream('START\nT:half\n', { end: 'clean' }) }),
    );
    const { trace, text } = await harness.askWithin(1000);
    expect(text).toBe('half');
    expect(trace).toMatchObject({ outcome: 'served', finishReason: 'stop', rawFinishReason: null });
  });

  it('ST-12 a finish without the terminal marker is complete, also when the connection then breaks', async () => {
    for (const end of ['clean', 'cut'] as const) {
      const harness = new EngineHarness(
        both,
        always({ p1: stream('START\nT:hi\nFIN:stop\n', { end }) }),
      );
      const { trace, text } = await harness.askWithin(1000);
      expect(text).toBe('hi');
      expect(trace).toMatchObject({ outcome: 'served', failoverCount: 0 });
    }
  });

  it('a finish after which nothing comes ends the answer within two seconds', async () => {
    const harness = new EngineHarness(both, always({ p1: stream('START\nT:hi\nFIN:stop\n') }));
    const { trace } = await harness.askWithin(2100);
    expect(trace.outcome).toBe('served');
    expect(harness.transport.open).toBe(0);
  });

  it('ST-01 ST-06 an error event before the first content is a failed attempt', async () => {
    const harness = new EngineHarness(few, always({ p1: stream('START\nERR:529:overloaded\n') }));
    const { trace, text } = await harness.askWithin(1000);
    expect(text).toBe('p2');
    expect(trace.attempts[0]).toMatchObject({
      outcome: 'failed',
      failure: { errorClass: 'overload' },
    });
  });

  it('one malformed event is skipped and counted, a second one fails the attempt', async () => {
    const once = new EngineHarness(few, always({ p1: stream('T:a\nBAD\nT:b\nFIN:stop\nEND\n') }));
    const one = await once.askWithin(1000);
    expect(one).toMatchObject({ text: 'ab', trace: { malformedEvents: 1, outcome: 'served' } });
    const twice = new EngineHarness(few, always({ p1: stream('T:a\nBAD\nBAD\nT:b\nFIN:stop\n') }));
    const two = await twice.askWithin(1000);
    expect(two.trace.attempts[0]?.failure?.errorClass).toBe('malformed_response');
    expect(two.text).toBe('p2');
  });

  it('ST-21 silence inside the hold is a timeout, and the next one answers', async () => {
    const harness = new EngineHarness(
      plainTier([p1, p2], { stream: { ...both.stream, holdMaxMs: 100_000 } }),
      always({ p1: stream('START\nT:a\n') }),
    );
    const { trace, text } = await harness.askWithin(31_000);
    expect(text).toBe('p2');
    expect(trace).toMatchObject({ recovery: 'restarted' });
    expect(harness.transport.open).toBe(0);
  });

  it('ST-24 what is no content does not stop the first-content clock', async () => {
    const harness = new EngineHarness(
      plainTier([p1, p2], { hedge: null }),
      always({ p1: stream('START\n', 20_000, 'PING\n', 20_000, 'PING\n') }),
    );
    const { trace } = await harness.askWithin(61_000);
    expect(servedBy(trace)).toBe('p2/m');
    expect(trace.attempts[0]?.failure).toMatchObject({
      errorClass: 'timeout',
      rule: 'clock:first_content',
    });
  });
});

describe('streams after the client has seen something', () => {
  const long = `START\n${'T:word \n'.repeat(30)}`;

  it('ST-02 LG-05 a cut is told as an error, never as a finish, and nothing is sent twice', async () => {
    const harness = new EngineHarness(
      both,
      always({ p1: { kind: 'answer', status: 200, body: [long, { end: 'cut' }] } }),
    );
    const { trace, text, failure } = await harness.askWithin(1000);
    expect(text).toBe('word '.repeat(30));
    expect(failure).toMatchObject({ failureClass: 'stream_interrupted', regenerate: true });
    expect(trace).toMatchObject({ outcome: 'failed', recovery: 'failed_forward' });
    expect(harness.transport.calls('p2')).toBe(0);
    expect(trace.attempts[0]?.failure?.errorClass).toBe('stream_interrupted');
  });

  it('a stream that breaks after its success counts as a failure of its target', async () => {
    const cut: ScriptedCall = { kind: 'answer', status: 200, body: [long, 600, { end: 'cut' }] };
    const harness = new EngineHarness(both, always({ p1: cut }));
    for (let turn = 0; turn < 4; turn += 1) await harness.askWithin(2000);
    expect(harness.transport.calls('p1')).toBe(3);
  });

  it('BR-04 clients that leave are charged to nobody', async () => {
    const harness = new EngineHarness(
      solo,
      always({ p1: { kind: 'answer', status: 200, body: ['START\nT:a\n'] } }),
    );
    for (let turn = 0; turn < 20; turn += 1) {
      const client = new AbortController();
      const run = harness.engine.start(harness.request({ signal: client.signal }));
      await harness.clock.advance(100);
      client.abort(turn % 2 === 0 ? 'gone' : undefined);
      expect(await run.answer).toEqual({ kind: 'gone' });
      expect(run.trace()).toMatchObject({ outcome: 'client_gone', status: 499 });
    }
    expect(harness.health.all()[0]?.breakerState()).toBe('closed');
    expect(harness.transport.open).toBe(0);
    expect(harness.clock.pending).toBe(0);
  });
});

describe('deadlines', () => {
  it('FO-09 R20 a silent primary leaves the fallback its share of the deadline', async () => {
    const harness = new EngineHarness(both, always({ p1: { kind: 'silent' } }));
    const { trace } = await harness.askWithin(2000, { deadlineMs: 2000 });
    expect(servedBy(trace)).toBe('p2/m');
    expect(trace.latencyMs).toBeLessThanOrEqual(1100);
  });

  it.each([true, false])(
    'R21 R22 every target silent: 504 at the deadline, not later (stream %s)',
    async (isStream) => {
      const harness = new EngineHarness(both, () => ({ kind: 'silent' }));
      const { answer, trace } = await harness.askWithin(2100, {
        deadlineMs: 2000,
        chat: { isStream },
      });
      expect(answer).toMatchObject({ kind: 'failed', failure: { status: 504 } });
      expect(trace.latencyMs).toBeGreaterThanOrEqual(1999);
      expect(trace.latencyMs).toBeLessThanOrEqual(2001);
      expect(harness.transport.open).toBe(0);
      expect(harness.clock.pending).toBe(0);
    },
  );

  it('ST-05 silence before the first content counts for the breaker', async () => {
    const quick = plainTarget('p1', { clocks: { ...p1.clocks, firstContentMs: 500 } });
    const harness = new EngineHarness(plainTier([quick, p2]), always({ p1: { kind: 'silent' } }));
    for (let turn = 0; turn < 4; turn += 1) {
      const { text, trace } = await harness.askWithin(2000);
      expect(text).toBe('p2');
      expect(trace.latencyMs).toBeLessThan(600);
    }
    expect(harness.transport.calls('p1')).toBe(3);
    expect(harness.health.all()[0]?.breakerState()).toBe('open');
  });
});

it('BR-08 decides the same when the wall clock jumps an hour either way', async () => {
  const run = async (jumpMs: readonly number[]) => {
    const limited = status(429, { headers: { 'retry-after': '3' } });
    const answers = [status(529), limited, status(500), status(500), status(500), status(401)];
    const harness = new EngineHarness(
      both,
      (provider, call) =>
        provider === 'p1'
          ? (answers[call] ?? { kind: 'silent' })
          : call % 5 === 0
            ? status(502)
            : ok(provider),
      7,
    );
    const seen = [];
    for (let turn = 0; turn < 12; turn += 1) {
      const pending = harness.ask({ deadlineMs: 8000 });
      await harness.clock.advance(100);
      harness.clock.stepWall(jumpMs[turn % jumpMs.length] ?? 0);
      await harness.clock.advance(9000);
      const { attempts, skipped, outcome, backoffMs, latencyMs } = (await pending).trace;
      const told = attempts.map(({ target, kind, startedAfterMs, breakerAfter, retryBudget }) => ({
        target,
        kind,
        startedAfterMs,
        breakerAfter,
        retryBudget,
      }));
      seen.push({ told, skipped, outcome, backoffMs, latencyMs });
    }
    return seen;
  };
  const steady = await run([0]);
  expect(new Set(steady.flatMap(({ told }) => told.map(({ kind }) => kind))).size).toBeGreaterThan(
    3,
  );
  expect(await run([-3_600_000, 3_600_000, 0])).toEqual(steady);
});

describe('outages', () => {
  /** Keeps `concurrency` requests running until `count` have ended. */
  async function flood(harness: EngineHarness, count: number, concurrency: number) {
    const ended: Awaited<ReturnType<EngineHarness['ask']>>[] = [];
    let started = 0;
    const worker = async (): Promise<void> => {
      while (started < count) {
        started += 1;
        ended.push(await harness.ask());
      }
    };
    const workers = Array.from({ length: concurrency }, worker);
    let isDone = false;
    const done = Promise.all(workers).then(() => {
      isDone = true;
    });
    while (!isDone) await harness.clock.advance(100);
    await done;
    return ended;
  }

  const slowly = (call: ScriptedCall): ScriptedCall => ({ ...call, afterMs: 50 }) as ScriptedCall;

  it('R72 R73 primary answering 529 throughout: 200 answers, all of the second once the breaker is open', async () => {
    const harness = new EngineHarness(both, (provider) =>
      slowly(provider === 'p1' ? status(529) : ok('p2')),
    );
    const ended = await flood(harness, 200, 20);
    expect(ended.every(({ trace }) => trace.outcome === 'served')).toBe(true);
    expect(ended.every(({ trace }) => servedBy(trace) === 'p2/m')).toBe(true);
    const opened = ended.findIndex(({ trace }) => trace.attempts[0]?.target === 'p2/m');
    expect(opened).toBeGreaterThan(0);
    const before = harness.transport.calls('p1');
    const startMs = harness.clock.monotonicMs();
    await flood(harness, 400, 1);
    const periods = Math.ceil((harness.clock.monotonicMs() - startMs) / 4000) + 1;
    expect(harness.transport.calls('p1') - before).toBeLessThanOrEqual(periods);
    for (const { trace } of ended) {
      const told = trace.attempts.every(
        ({ failure, outcome }) => (failure === null) === (outcome === 'served'),
      );
      expect(told).toBe(true);
    }
  });

  it('R92 everything fails: at concurrency 200 the calls stay within the budget', async () => {
    const harness = new EngineHarness(both, () => slowly(status(500)));
    const startMs = harness.clock.monotonicMs();
    const ended = await flood(harness, 200, 200);
    const seconds = (harness.clock.monotonicMs() - startMs) / 1000;
    expect(ended.every(({ trace }) => trace.outcome === 'failed')).toBe(true);
    const { ratio, max, minPerSecond } = retryPolicy.budget;
    for (const provider of ['p1', 'p2']) {
      const bound = 200 * (1 + ratio) + max + minPerSecond * seconds;
      expect(harness.transport.calls(provider)).toBeLessThanOrEqual(bound);
    }
  });

  it('BR-11 a lone target whose breaker is open is waited for, and the answer comes', async () => {
    const harness = new EngineHarness(
      plainTier([p1], { retry: { ...retryPolicy, attempts: 3 } }),
      first(status(500), status(500), status(500), ok('hello')),
    );
    const answers = [];
    for (let turn = 0; turn < 4; turn += 1) {
      answers.push(await harness.askWithin(60_000));
      await harness.clock.advance(200);
    }
    expect(answers.at(-1)?.text).toBe('hello');
  });

  it('BR-12 attempts of a failover count for the breaker of their own target', async () => {
    const tier = plainTier([p1, p2, p3], { retry: { ...retryPolicy, attempts: 1 } });
    const harness = new EngineHarness(tier, (provider) =>
      provider === 'p3' ? ok('hello') : status(500),
    );
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await harness.askWithin(60_000)).text).toBe('hello');
      await harness.clock.advance(600);
    }
    expect(harness.transport.calls('p2')).toBe(3);
  });

  it('FO-03 providers that hang are learnt: later requests do not pay', async () => {
    const quick = { ...p1.clocks, firstContentMs: 300 };
    const tier = plainTier([
      plainTarget('p1', { clocks: quick }),
      plainTarget('p2', { clocks: quick }),
      p3,
    ]);
    const harness = new EngineHarness(tier, (provider) =>
      provider === 'p3' ? ok() : { kind: 'silent' },
    );
    for (let turn = 1; turn <= 10; turn += 1) {
      const { trace } = await harness.askWithin(60_000);
      if (turn > 3) expect(trace.latencyMs).toBeLessThan(150);
    }
  });

  it('R80 R82 every attempt tells its class, status and waits; the client request id goes with each', async () => {
    const harness = new EngineHarness(
      both,
      first(status(529, { headers: { 'retry-after': '1' } }), ok()),
    );
    const { trace } = await harness.askWithin(10_000, { clientRequestId: 'same-over-retries' });
    expect(trace.attempts[0]).toMatchObject({
      n: 1,
      provider: 'p1',
      model: 'm',
      status: 529,
      outcome: 'failed',
      failure: { errorClass: 'overload', hint: { waitMs: 1000 } },
    });
    expect(harness.transport.requests.map(({ headers }) => headers['x-client-request-id'])).toEqual(
      ['same-over-retries', 'same-over-retries'],
    );
  });
});
