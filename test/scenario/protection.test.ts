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
import { plainRequest } from '../support/plain-dialect.ts';
import type { ScriptedCall } from '../support/scripted-transport.ts';

const p1 = plainTarget('p1');
const p2 = plainTarget('p2');
const both = plainTier([p1, p2]);

function slow(text: string, ms: number): ScriptedCall {
  return later(ok(text), ms);
}

function later(call: ScriptedCall, afterMs: number): ScriptedCall {
  return { ...call, afterMs } as ScriptedCall;
}

describe('protecting the next in line', () => {
  const narrow = (over: Partial<typeof p1.concurrency> = {}) =>
    plainTarget('p1', {
      concurrency: { minConcurrent: 1, maxConcurrent: 2, queueMax: 2, queueWaitMs: 2000, ...over },
    });

  it('requests beyond the limit wait in a short queue, and those beyond it go on to the next target', async () => {
    const harness = new EngineHarness(plainTier([narrow(), p2]), (provider) =>
      provider === 'p1' ? slow('p1', 1000) : ok('p2'),
    );
    const asked = Promise.all(Array.from({ length: 6 }, () => harness.ask()));
    await harness.clock.advance(3000);
    const ended = await asked;
    expect(ended.map(({ text }) => text).sort()).toEqual(['p1', 'p1', 'p1', 'p1', 'p2', 'p2']);
    const queued = ended
      .flatMap(({ trace }) => trace.attempts)
      .filter(({ delayReason }) => delayReason === 'queue');
    expect(queued.map(({ delayBeforeMs }) => delayBeforeMs)).toEqual([1000, 1000]);
    const skipped = ended.filter(({ text }) => text === 'p2').map(({ trace }) => trace.skipped);
    expect(skipped).toEqual([
      [{ target: 'p1/m', reason: 'full' }],
      [{ target: 'p1/m', reason: 'full' }],
    ]);
    expect(harness.clock.pending).toBe(0);
    expect(harness.health.all().map(({ inFlight }) => inFlight)).toEqual([0, 0]);
  });

  it('a wait in the queue ends, and the request goes on', async () => {
    const harness = new EngineHarness(plainTier([narrow({ maxConcurrent: 1 }), p2]), (provider) =>
      provider === 'p1' ? slow('p1', 9000) : ok('p2'),
    );
    const first = harness.ask();
    await harness.clock.advance(10);
    const second = await harness.askWithin(2100);
    expect(second.text).toBe('p2');
    await harness.clock.advance(9000);
    expect((await first).text).toBe('p1');
  });

  it('a lone full target is 503 with Retry-After, at once', async () => {
    const harness = new EngineHarness(plainTier([narrow({ maxConcurrent: 1, queueMax: 0 })]), () =>
      slow('p1', 20_000),
    );
    const first = harness.ask();
    await harness.clock.advance(10);
    const { answer } = await harness.askWithin(100);
    await harness.clock.advance(20_000);
    expect((await first).text).toBe('p1');
    expect(answer).toMatchObject({
      kind: 'failed',
      failure: { status: 503, retryAfterMs: expect.any(Number) },
    });
  });

  it('a stream holds its place until it has ended', async () => {
    const streaming: ScriptedCall = {
      kind: 'answer',
      status: 200,
      body: [`T:${'x'.repeat(200)}\n`, 1500, 'FIN:stop\nEND\n', { end: 'clean' }],
    };
    const harness = new EngineHarness(plainTier([narrow({ maxConcurrent: 1 }), p2]), (provider) =>
      provider === 'p1' ? streaming : ok('p2'),
    );
    const first = harness.ask();
    await harness.clock.advance(100);
    expect(harness.health.all()[0]?.inFlight).toBe(1);
    await harness.clock.advance(2000);
    await first;
    expect(harness.health.all()[0]?.inFlight).toBe(0);
  });

  it('a 529 in the middle of a stream lowers the limit like any other', async () => {
    const wide = plainTarget('p1', {
      concurrency: { minConcurrent: 1, maxConcurrent: 10, queueMax: 0, queueWaitMs: 0 },
    });
    const overloaded: ScriptedCall = {
      kind: 'answer',
      status: 200,
      body: ['START\n', 'T:word \n'.repeat(30), 100, 'ERR:529:overloaded\n', { end: 'clean' }],
    };
    const harness = new EngineHarness(plainTier([wide]), (_, call) =>
      call < 8 ? overloaded : later(ok('p1'), 1000),
    );
    const first = Promise.all(Array.from({ length: 8 }, () => harness.ask()));
    await harness.clock.advance(200);
    await first;
    const second = Promise.all(Array.from({ length: 10 }, () => harness.ask()));
    await harness.clock.advance(10);
    expect(harness.health.all()[0]?.inFlight).toBe(5);
    await harness.clock.advance(2000);
    await second;
  });

  it('429 and 529 lower the limit at once', async () => {
    const wide = plainTarget('p1', {
      concurrency: { minConcurrent: 4, maxConcurrent: 100, queueMax: 0, queueWaitMs: 0 },
    });
    const harness = new EngineHarness(
      plainTier([wide, p2], { retry: { ...retryPolicy, attempts: 1 } }),
      (provider) => (provider === 'p1' ? later(status(529), 50) : ok('p2')),
    );
    const first = Promise.all(Array.from({ length: 60 }, () => harness.ask()));
    await harness.clock.advance(200);
    await first;
    const before = harness.transport.calls('p1');
    const second = Promise.all(Array.from({ length: 60 }, () => harness.ask()));
    await harness.clock.advance(200);
    await second;
    expect(harness.transport.calls('p1') - before).toBeLessThan(60);
  });
});

describe('waiting for the first one back', () => {
  it('takes at most `failover.waiters` of a tier; the rest are told at once, with Retry-After', async () => {
    let isSick = true;
    const tier = plainTier([p1], { failover: { ...both.failover, waiters: 3 } });
    const harness = new EngineHarness(tier, () => (isSick ? status(500) : ok('back')));
    await harness.askWithin(60_000);
    expect(harness.health.all()[0]?.breakerState()).toBe('open');
    isSick = false;
    const asked = Promise.all(Array.from({ length: 10 }, () => harness.ask()));
    await harness.clock.advance(1);
    const atOnce = harness.transport.calls('p1');
    await harness.clock.advance(20_000);
    const ended = await asked;
    expect(ended.filter(({ text }) => text === 'back')).toHaveLength(3);
    const refused = ended.filter(({ answer }) => answer.kind === 'failed');
    expect(refused).toHaveLength(7);
    for (const { answer } of refused) {
      expect(answer).toMatchObject({ failure: { status: 503, retryAfterMs: expect.any(Number) } });
    }
    expect(harness.transport.calls('p1') - atOnce).toBe(3);
  });
});

describe('a request that cannot have its turn', () => {
  const narrow = { minConcurrent: 1, maxConcurrent: 1, queueMax: 4, queueWaitMs: 2000 };
  const target = plainTarget('p1', { concurrency: narrow });

  it('R72 leaves the queue in the moment that the breaker opens', async () => {
    const tier = plainTier([target, p2], {
      retry: { ...retryPolicy, attempts: 1 },
      breaker: { ...both.breaker, failures: 1, minSpanMs: 0 },
    });
    const harness = new EngineHarness(tier, (provider) =>
      provider === 'p1' ? later(status(500), 500) : ok('p2'),
    );
    const asked = Promise.all([1, 2, 3].map(() => harness.ask()));
    await harness.clock.advance(600);
    for (const { text, trace } of await asked) {
      expect(text).toBe('p2');
      expect(trace.latencyMs).toBeLessThanOrEqual(500);
    }
    expect(harness.transport.calls('p1')).toBe(1);
  });

  it('R06 sleeps out its hint, also where its target is found full in between', async () => {
    const full = plainTarget('p1', { concurrency: { ...narrow, queueMax: 0 } });
    const keys = [{ alias: 'one', resolve: () => 'one' }];
    const busy = plainTarget('p1', { ...full, provider: plainProvider('p1', { keys }) });
    const harness = new EngineHarness(plainTier([busy]), (_, call) => {
      if (call === 0) return status(529, { headers: { 'retry-after': '10' } });
      return call === 1 ? later(status(429), 3000) : ok('in time');
    });
    const first = harness.ask();
    await harness.clock.advance(100);
    const second = harness.ask();
    await harness.clock.advance(2000);
    harness.overrides.set('p9/m', 'drained', { untilMs: null, note: null });
    await harness.clock.advance(20_000);
    const { trace } = await first;
    await second;
    expect(trace.attempts[1]?.startedAfterMs).toBeGreaterThanOrEqual(10_000);
  });
});

describe('affinity', () => {
  const user = plainRequest().messages;
  const inToolLoop = [
    ...user,
    {
      role: 'tool',
      toolCallId: 'a',
      content: [{ type: 'text', text: '1' }],
      isError: false,
    } as const,
  ];

  const spoken = { role: 'assistant', content: [{ type: 'text', text: 'done' }] } as const;

  it('stays with the target that answered last, until a new turn finds the preferred one closed', async () => {
    let isSick = true;
    const harness = new EngineHarness(both, (provider) =>
      provider === 'p1' && isSick ? { kind: 'refused' } : ok(provider),
    );
    const ask = (messages = user, session: string | null = 's') =>
      harness.askWithin(1000, { session, chat: { messages } });
    expect((await ask()).text).toBe('p2');
    isSick = false;
    expect((await ask(inToolLoop)).text).toBe('p2');
    expect((await ask(inToolLoop, 'another')).text).toBe('p1');
    expect((await ask(inToolLoop, null)).text).toBe('p1');
    expect((await ask([...inToolLoop, ...user])).text).toBe('p2');
    expect((await ask([...inToolLoop, spoken, ...user])).text).toBe('p1');
    expect((await ask(inToolLoop)).text).toBe('p1');
  });

  it.each([
    ['drained', 'p2'],
    ['forced', 'p1'],
  ] as const)(
    'by an operator’s word the preferred one counts as it is: %s',
    async (state, text) => {
      let isSick = true;
      const harness = new EngineHarness(both, (provider) =>
        provider === 'p1' && isSick ? { kind: 'refused' } : ok(provider),
      );
      for (let turn = 0; turn < 4; turn += 1) {
        await harness.askWithin(1000, { session: 's' });
        await harness.clock.advance(700);
      }
      expect(harness.health.all()[0]?.breakerState()).toBe('open');
      isSick = false;
      harness.overrides.set('p1/m', state, { untilMs: null, note: null });
      expect((await harness.askWithin(1000, { session: 's' })).text).toBe(text);
    },
  );

  it('fails over from the remembered target as from any other', async () => {
    const sick = new Set(['p1']);
    const harness = new EngineHarness(both, (provider) =>
      sick.has(provider) ? { kind: 'refused' } : ok(provider),
    );
    const ask = () => harness.askWithin(1000, { session: 's', chat: { messages: inToolLoop } });
    expect((await ask()).text).toBe('p2');
    sick.clear();
    sick.add('p2');
    const { text, trace } = await ask();
    expect(text).toBe('p1');
    expect(trace).toMatchObject({ failoverCount: 1, isFailedOver: false });
  });
});

describe('poisoned requests', () => {
  const bad = Buffer.from('{"bad":true}');
  const badChat = { original: { dialect: 'plain', bytes: bad, json: {} } };

  it('R14 an input that reproduces a fault is told apart from an outage, and marks no breaker', async () => {
    let isBad = false;
    const harness = new EngineHarness(both, (provider) => (isBad ? status(500) : ok(provider)));
    for (let turn = 0; turn < 20; turn += 1) {
      await harness.askWithin(1000, { pin: turn % 2 === 0 ? 'p1/m' : 'p2/m' });
    }
    for (let turn = 0; turn < 20; turn += 1) await harness.askWithin(1000);
    isBad = true;
    const { answer, trace } = await harness.askWithin(60_000, { chat: badChat });
    expect(answer).toMatchObject({ kind: 'failed', failure: { status: 502 } });
    const told = trace.attempts.map(({ target, failure }) => [target, failure?.errorClass]);
    expect(told).toEqual([
      ['p1/m', 'transient_infra'],
      ['p1/m', 'transient_infra'],
      ['p1/m', 'poisoned'],
      ['p2/m', 'poisoned'],
    ]);
    const again = await harness.askWithin(60_000, { chat: badChat });
    expect(again.trace.attempts.map(({ failure }) => failure?.errorClass)).toEqual([
      'poisoned',
      'poisoned',
    ]);
    for (let turn = 0; turn < 5; turn += 1) await harness.askWithin(60_000, { chat: badChat });
    expect(harness.health.all().map((health) => health.breakerState())).toEqual([
      'closed',
      'closed',
    ]);
  });

  it('R14 the beginning of an outage looks like poison to one target; the next one still answers', async () => {
    let isSick = false;
    const harness = new EngineHarness(both, (provider) =>
      isSick && provider === 'p1' ? status(500) : ok(provider),
    );
    for (let turn = 0; turn < 20; turn += 1) await harness.askWithin(1000);
    isSick = true;
    const { text, trace } = await harness.askWithin(60_000, { chat: badChat });
    expect(text).toBe('p2');
    expect(trace.attempts.at(-1)).toMatchObject({ target: 'p2/m', outcome: 'served' });
  });

  it('R14 an outage is no poison where everybody sends the same body: the breaker opens', async () => {
    let isSick = false;
    const harness = new EngineHarness(both, (provider) =>
      later(isSick && provider === 'p1' ? status(500) : ok(provider), 20),
    );
    for (let turn = 0; turn < 30; turn += 1) await harness.askWithin(1000, { chat: badChat });
    isSick = true;
    const asked = Array.from({ length: 10 }, async (_, turn) => {
      await new Promise<void>((resolve) => harness.clock.schedule(300 * turn, resolve));
      return harness.ask({ chat: badChat });
    });
    await harness.clock.advance(20_000);
    for (const ended of asked) expect((await ended).text).toBe('p2');
    expect(harness.health.all()[0]?.breakerState()).not.toBe('closed');
  });

  it.each([
    ['a success', ok('p1')],
    ['an overload', status(529)],
    ['silence', { kind: 'reset' } satisfies ScriptedCall],
  ])('R14 %s in between ends the agreement: the fault is not the input’s', async (_, between) => {
    const once = plainTier([p1, p2], { retry: { ...retryPolicy, attempts: 1 } });
    const harness = new EngineHarness(once, (provider, call) => {
      if (provider === 'p2' || call < 20) return ok(provider);
      return call === 21 ? between : status(500);
    });
    for (let turn = 0; turn < 20; turn += 1) await harness.askWithin(1000);
    const classes = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const { trace } = await harness.askWithin(1000, { chat: badChat });
      classes.push(trace.attempts[0]?.failure?.errorClass);
    }
    expect(classes).not.toContain('poisoned');
  });

  it('R14 an outage is no poison: other requests fail too', async () => {
    const harness = new EngineHarness(both, () => status(500));
    const traces = [];
    for (let turn = 0; turn < 4; turn += 1) {
      traces.push((await harness.askWithin(200_000, { chat: badChat })).trace);
    }
    const classes = traces.flatMap(({ attempts }) =>
      attempts.map(({ failure }) => failure?.errorClass),
    );
    expect(classes).not.toContain('poisoned');
  });
});
