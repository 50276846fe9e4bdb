/** A broken stream is gone on with: by whom, and in what time (R41), in virtual time. */
import { describe, expect, it } from 'vitest';
import {
  anchor,
  attemptsOf,
  begins,
  breaksAgain,
  goesOn,
  says,
  scripted,
  sent,
  target,
  tierOf,
} from '../support/broken-streams.ts';
import { EngineHarness, status } from '../support/engine-harness.ts';
import type { BodyStep, ScriptedCall } from '../support/scripted-transport.ts';

describe('R41 a stream that breaks after its commit', () => {
  it('is gone on with by the same target when its connection broke', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const harness = new EngineHarness(tier, (_, call) => (call === 0 ? begins : goesOn));
    const { text, trace, failure } = await harness.askWithin(10_000);
    expect(failure).toBeNull();
    expect(text).toBe(`${sent} and the rest.`);
    expect(trace.attempts.map(({ target, kind, outcome }) => [target, kind, outcome])).toEqual([
      ['p1/m', 'first', 'failed'],
      ['p1/m', 'continuation', 'served'],
    ]);
    expect(trace).toMatchObject({
      outcome: 'served',
      recovery: 'continued',
      failoverCount: 0,
      reportedModel: 'second',
      usage: { inputTokens: 40, outputTokens: 24 },
      seams: [
        { attempt: 1, target: 'p1/m', start: 0, end: sent.length, uncertain: false },
        {
          attempt: 2,
          target: 'p1/m',
          start: sent.length,
          end: sent.length + ' and the rest.'.length,
          uncertain: false,
        },
      ],
    });
    expect(harness.transport.open).toBe(0);
    expect(harness.clock.pending).toBe(0);
  });

  it('is gone on with by the next target when it fell silent', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const stalls = says(`START:first\nT:${sent}\n`);
    const harness = new EngineHarness(tier, (name) => (name === 'p1' ? stalls : goesOn));
    const { text, trace } = await harness.askWithin(60_000);
    expect(text).toBe(`${sent} and the rest.`);
    expect(trace).toMatchObject({ recovery: 'continued', failoverCount: 1 });
    expect(trace.serving?.target).toBe('p2/m');
  });

  it('is asked of a target that takes no prefill in words, with the last words as the anchor', async () => {
    const tier = tierOf([target('p1')]);
    const harness = new EngineHarness(tier, (_, call) => (call === 0 ? begins : goesOn));
    await harness.askWithin(10_000);
    const { messages } = JSON.parse(harness.transport.requests[1]?.body ?? '');
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: sent }] },
      {
        role: 'user',
        content: [{ type: 'text', text: `GO ON AFTER: ${anchor}` }],
        name: null,
      },
    ]);
  });

  it('is asked again in words where the prefill is refused, which counts for nothing', async () => {
    const tier = tierOf([target('p1', { acceptsPrefill: true })], { maxContinuations: 1 });
    const refusal = status(400, {
      body: '{"error":{"message":"This model does not support assistant message prefill."}}',
    });
    const script = [begins, refusal, goesOn];
    const harness = new EngineHarness(tier, (_, call) => script[call] ?? status(500));
    const { text, trace, failure } = await harness.askWithin(10_000);
    expect(failure).toBeNull();
    expect(text).toBe(`${sent} and the rest.`);
    expect(trace.attempts.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ['first', 'failed'],
      ['continuation', 'failed'],
      ['continuation', 'served'],
    ]);
    const [, prefilled, instructed] = harness.transport.requests;
    expect(JSON.parse(prefilled?.body ?? '').messages).toHaveLength(2);
    expect(JSON.parse(instructed?.body ?? '').messages).toHaveLength(3);
  });
});

describe('R41 who is asked for the rest', () => {
  it('after two breaks of one target the next one, and nobody once max_continuations are used up', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const harness = scripted(tier, { p1: [begins, breaksAgain], p2: [breaksAgain] });
    const asked = await harness.askWithin(30_000);
    expect(attemptsOf(asked)).toEqual([
      'p1/m first failed',
      'p1/m continuation failed',
      'p2/m continuation failed',
    ]);
    expect(asked.failure).toMatchObject({ failureClass: 'stream_interrupted', regenerate: true });
    expect(asked.trace).toMatchObject({
      outcome: 'failed',
      recovery: 'failed_forward',
      status: 200,
    });
    expect(harness.transport.open).toBe(0);
  });

  it('the next one when the breaker of this one is open', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const harness = scripted(
      { ...tier, breaker: { ...tier.breaker, failures: 1, minSpanMs: 0 } },
      { p1: [begins], p2: [goesOn] },
    );
    const asked = await harness.askWithin(30_000);
    expect(asked.text).toBe(`${sent} and the rest.`);
    expect(attemptsOf(asked)).toEqual(['p1/m first failed', 'p2/m continuation served']);
  });

  it('this one alone where the caller wants no other, and it is waited for while it is open', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const options = [{ isFailoverOff: true }, { pin: 'p1/m' }] as const;
    for (const over of options) {
      const harness = scripted(tier, { p1: [begins, goesOn], p2: [goesOn] });
      const asked = await harness.askWithin(30_000, over);
      expect(attemptsOf(asked)).toEqual(['p1/m first failed', 'p1/m continuation served']);
    }
    const touchy = { ...tier, breaker: { ...tier.breaker, failures: 1, minSpanMs: 0 } };
    const harness = scripted(touchy, { p1: [begins, goesOn], p2: [goesOn] });
    const asked = await harness.askWithin(30_000, { isFailoverOff: true });
    expect(attemptsOf(asked)).toEqual(['p1/m first failed', 'p1/m continuation served']);
    expect(asked.trace.backoffMs).toBeGreaterThan(1000);
  });

  it('another one at once when the one that was asked cannot answer', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const stalls = says(`START:first\nT:${sent}\n`);
    const harness = scripted(tier, { p1: [stalls, goesOn], p2: [{ kind: 'refused' }] });
    const asked = await harness.askWithin(90_000);
    expect(attemptsOf(asked)).toEqual([
      'p1/m first failed',
      'p2/m continuation failed',
      'p1/m continuation served',
    ]);
    expect(asked.text).toBe(`${sent} and the rest.`);
  });

  it('apart from attempts_total, and the retry budget is not drawn', async () => {
    const plain = tierOf([target('p1')]);
    const tier = { ...plain, retry: { ...plain.retry, attemptsTotal: 1, attempts: 1 } };
    const harness = scripted(tier, { p1: [begins, goesOn] });
    const before = harness.health.of(tier.targets[0] ?? target('p1'), tier).retryTokens(tier);
    const asked = await harness.askWithin(30_000);
    expect(asked.trace.outcome).toBe('served');
    const after = harness.health.of(tier.targets[0] ?? target('p1'), tier).retryTokens(tier);
    expect(after).toBeGreaterThanOrEqual(before);
  });

  it('the break is a failure mark of its target, at the time of the break', async () => {
    const tier = tierOf([target('p1')]);
    const harness = scripted(tier, { p1: [begins, goesOn] });
    for (let request = 0; request < 3; request += 1) {
      await harness.askWithin(30_000, { isStrict: true });
      await harness.clock.advance(600);
      harness.transport.reset();
    }
    const health = harness.health.of(tier.targets[0] ?? target('p1'), tier);
    expect(health.breakerState()).toBe('open');
  });
});

describe('the time that a stream has', () => {
  it('is not bounded by the deadline once its first content was sent', async () => {
    const tier = tierOf([target('p1')]);
    const harness = scripted(tier, {
      p1: [says(`START\nT:${sent}\n`, 3000, { end: 'cut' }), goesOn],
    });
    const asked = await harness.askWithin(30_000, { deadlineMs: 2000 });
    expect(asked.text).toBe(`${sent} and the rest.`);
  });

  it('is bounded by max_duration, continuations included', async () => {
    const drips = (text: string): ScriptedCall => says(`START\nT:${text}\n`, ...drops(40));
    const tier = tierOf([target('p1')], { maxDurationMs: 10_000 });
    const harness = scripted(tier, {
      p1: [says(`START\nT:${sent}\n`, 4000, { end: 'cut' }), drips(anchor)],
    });
    const asked = await harness.askWithin(60_000);
    expect(asked.failure?.failureClass).toBe('stream_interrupted');
    expect(asked.trace.latencyMs).toBeGreaterThan(9_900);
    expect(asked.trace.latencyMs).toBeLessThan(10_600);
  });
});

/** A word a second. */
function drops(count: number): BodyStep[] {
  return Array.from({ length: count }, () => [1000, 'T: drip\n'] as const).flat();
}

describe('a client that leaves while the rest is asked for', () => {
  it.each([
    ['the target is silent', [{ kind: 'silent' }] as const],
    ['the request waits', [status(503), status(503), status(503)]],
  ])('%s: nothing is asked any more and nothing is left open', async (_, calls) => {
    const tier = tierOf([target('p1')], { maxContinuations: 10 });
    const harness = scripted(tier, { p1: [begins, ...calls] });
    const leave = new AbortController();
    const run = harness.engine.start(harness.request({ signal: leave.signal }));
    const seen: boolean[] = [];
    const ended = run.answer.then(async (answer) => {
      if (answer.kind !== 'stream') throw new Error(answer.kind);
      for await (const batch of answer.batches) seen.push(batch.isLast);
    });
    await harness.clock.advance(2500);
    leave.abort('client_gone');
    await harness.clock.advance(0);
    await ended;
    const calls0 = harness.transport.requests.length;
    await harness.clock.advance(60_000);
    expect(harness.transport.requests).toHaveLength(calls0);
    expect(seen).not.toContain(true);
    expect(run.trace()).toMatchObject({ outcome: 'client_gone', status: 499 });
    expect(harness.transport.open).toBe(0);
    expect(harness.clock.pending).toBe(0);
  });
});

describe('the rest', () => {
  it('may come in one piece', async () => {
    const whole: ScriptedCall = {
      kind: 'answer',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: [`START:whole\nT:${anchor} and the rest.\nFIN:stop\nUSE:1:1\nEND\n`, { end: 'clean' }],
    };
    const harness = scripted(tierOf([target('p1')]), { p1: [begins, whole] });
    const asked = await harness.askWithin(30_000);
    expect(asked.text).toBe(`${sent} and the rest.`);
    expect(asked.trace).toMatchObject({
      outcome: 'served',
      recovery: 'continued',
      usage: { inputTokens: 11, outputTokens: 21 },
    });
  });

  it('may be broken off itself, and be gone on with by a third', async () => {
    const tier = tierOf([target('p1'), target('p2'), target('p3')]);
    const stalls = (text: string): ScriptedCall => says(`START\nT:${text}\nUSE:5:5\n`);
    const second = `${anchor} and more words than the hold keeps back, so that they are sent on`;
    const whole = sent + second.slice(anchor.length);
    const tail = 'back, so that they are sent on';
    const harness = scripted(tier, {
      p1: [stalls(sent)],
      p2: [stalls(second)],
      p3: [says(`START\nT:${tail}.\nFIN:stop\nUSE:5:5\nEND\n`, { end: 'clean' })],
    });
    const asked = await harness.askWithin(120_000);
    expect(asked.text).toBe(`${whole}.`);
    expect(asked.trace.usage).toMatchObject({ inputTokens: 15, outputTokens: 15 });
    expect(asked.trace.seams.map(({ target, start, end }) => [target, start, end])).toEqual([
      ['p1/m', 0, sent.length],
      ['p2/m', sent.length, whole.length],
      ['p3/m', whole.length, whole.length + 1],
    ]);
  });

  it('is marked where the joint is doubtful', async () => {
    const bare = says('START\nT: and the rest.\nFIN:stop\nEND\n', { end: 'clean' });
    const harness = scripted(tierOf([target('p1')]), { p1: [begins, bare] });
    const asked = await harness.askWithin(30_000);
    expect(asked.trace.seams.map(({ uncertain }) => uncertain)).toEqual([false, true]);
  });

  it('tells the client the usage of both, in one event', async () => {
    const harness = scripted(tierOf([target('p1')]), { p1: [begins, goesOn] });
    const run = harness.engine.start(harness.request());
    const usage: unknown[] = [];
    const ended = run.answer.then(async (answer) => {
      if (answer.kind !== 'stream') throw new Error(answer.kind);
      for await (const { parts } of answer.batches) {
        for (const event of parts.flatMap(({ events }) => events)) {
          if (event.type === 'usage') usage.push(event.usage.outputTokens);
        }
      }
    });
    await harness.clock.advance(10_000);
    await ended;
    expect(usage).toEqual([20, 24]);
  });
});
