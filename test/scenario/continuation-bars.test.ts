/** When a broken stream fails forward instead (R42, R44), and what is never shown (R43). */
import { describe, expect, it } from 'vitest';
import { noParameters } from '../../src/chat/request.ts';
import type { StreamPart } from '../../src/chat/stream-event.ts';
import type { Tier } from '../../src/routing/snapshot.ts';
import {
  anchor,
  attemptsOf,
  begins,
  goesOn,
  says,
  scripted,
  sent,
  target,
  tierOf,
  words,
} from '../support/broken-streams.ts';
import { type AskOptions, type EngineHarness, plainTarget } from '../support/engine-harness.ts';
import type { BodyStep, ScriptedCall } from '../support/scripted-transport.ts';

describe('R42 R44 not gone on with, but failed forward', () => {
  const json = { type: 'json_object' } as const;
  const rows: readonly (readonly [string, string, AskOptions, Partial<Tier['stream']>])[] = [
    ['where the tier says so', sent, {}, { onInterrupt: 'fail_forward' }],
    ['with max_continuations 0', sent, {}, { maxContinuations: 0 }],
    ['in a strict eval', sent, { isStrict: true }, {}],
    ['with more than one choice', sent, { chat: { parameters: { ...noParameters, n: 2 } } }, {}],
    [
      'where probabilities are wanted',
      sent,
      { chat: { parameters: { ...noParameters, logprobs: true } } },
      {},
    ],
    [
      'in structured output',
      sent,
      { chat: { parameters: { ...noParameters, response_format: json } } },
      {},
    ],
    ['once a tool call was sent', `${sent}\nCALL`, {}, {}],
    ['once a refusal was sent', `${sent}\nREFUSE:I cannot`, {}, {}],
    ['while a tool of the provider is at work', `${sent}\nWORK`, {}, {}],
    ['beyond 1 MB of text', 'x'.repeat(1024 * 1024 + 1), {}, {}],
  ];

  it.each(rows)('%s', async (_, said, options, stream) => {
    const broken = says(`START\nT:${said}\n`, { end: 'cut' });
    const tier = tierOf([target('p1'), target('p2')], stream);
    const harness = scripted(tier, { p1: [broken], p2: [goesOn] });
    const asked = await harness.askWithin(30_000, options);
    expect(attemptsOf(asked)).toEqual(['p1/m first failed']);
    expect(asked.failure).toMatchObject({ failureClass: 'stream_interrupted', regenerate: true });
    expect(asked.failure?.maybeExecuted).toBeUndefined();
    expect(asked.trace).toMatchObject({ recovery: 'failed_forward', outcome: 'failed', seams: [] });
  });

  it('where nobody has words that ask for the rest', async () => {
    const harness = scripted(tierOf([plainTarget('p1'), plainTarget('p2')]), {
      p1: [begins],
      p2: [goesOn],
    });
    expect(attemptsOf(await harness.askWithin(30_000))).toEqual(['p1/m first failed']);
  });

  it('where a tool of the provider may have written: the client is told', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const harness = scripted(tier, { p1: [begins], p2: [goesOn] });
    const providerTools = [{ dialect: 'plain', kind: 'writes', raw: {} }];
    const asked = await harness.askWithin(30_000, { chat: { providerTools } });
    expect(attemptsOf(asked)).toEqual(['p1/m first failed']);
    expect(asked.failure).toMatchObject({ maybeExecuted: true, regenerate: true });
  });

  it('keeps what the broken part is known to have taken', async () => {
    const harness = scripted(tierOf([target('p1')], { maxContinuations: 0 }), { p1: [begins] });
    const asked = await harness.askWithin(30_000);
    expect(asked.trace.usage).toMatchObject({ inputTokens: 10, outputTokens: 20 });
  });
});

describe('R43 an answer that is begun anew', () => {
  const anew = says(`START\nT:${words.slice(0, 40)}. But no.\nFIN:stop\nEND\n`, { end: 'clean' });

  it('is never shown: the next target is asked, and the breaker is left alone', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const touchy = { ...tier, breaker: { ...tier.breaker, failures: 2, minSpanMs: 0 } };
    const harness = scripted(touchy, { p1: [begins, anew], p2: [goesOn] });
    const asked = await harness.askWithin(30_000);
    expect(asked.text).toBe(`${sent} and the rest.`);
    expect(attemptsOf(asked)).toEqual([
      'p1/m first failed',
      'p1/m continuation failed',
      'p2/m continuation served',
    ]);
    const [first] = touchy.targets;
    expect(first && harness.health.of(first, touchy).breakerState()).toBe('closed');
    expect(asked.trace.seams.map(({ attempt, end }) => [attempt, end])).toEqual([
      [1, sent.length],
      [2, sent.length],
      [3, sent.length + ' and the rest.'.length],
    ]);
  });

  it('is never shown: the stream fails forward when nobody is left', async () => {
    const harness = scripted(tierOf([target('p1')]), { p1: [begins, anew] });
    const asked = await harness.askWithin(30_000);
    expect(asked.text).toBe(sent);
    expect(asked.failure?.failureClass).toBe('stream_interrupted');
  });
});

describe('thinking', () => {
  const think = (text: string, ...rest: BodyStep[]): ScriptedCall =>
    says(`START\nTHINK:${text}\n`, 600, ...rest);
  const thoughts = 'I should think about this for quite a while before I say anything at all';
  const eventsOf = async (harness: EngineHarness): Promise<readonly string[]> => {
    const seen: StreamPart[] = [];
    const run = harness.engine.start(harness.request());
    const ended = run.answer.then(async (answer) => {
      if (answer.kind !== 'stream') throw new Error(answer.kind);
      for await (const batch of answer.batches) seen.push(...batch.parts);
    });
    await harness.clock.advance(30_000);
    await ended;
    return seen.flatMap(({ events }) => events.map(({ type }) => type));
  };

  it('that was all is begun anew by the same provider, as a block of its own', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const answer = think('Quick.', 'T:Done.\nFIN:stop\nEND\n', { end: 'clean' });
    const harness = scripted(tier, { p1: [think(thoughts, { end: 'cut' }), answer], p2: [goesOn] });
    expect(await eventsOf(harness)).toEqual([
      'start',
      'reasoning',
      'start',
      'reasoning_end',
      'start',
      'reasoning',
      'text',
      'finish',
      'end',
    ]);
    expect(harness.transport.calls('p2')).toBe(0);
    expect(JSON.parse(harness.transport.requests[1]?.body ?? '').messages).toHaveLength(1);
  });

  it('that was all fails forward across providers', async () => {
    const tier = tierOf([target('p1'), target('p2')]);
    const touchy = { ...tier, breaker: { ...tier.breaker, failures: 1, minSpanMs: 0 } };
    const harness = scripted(touchy, { p1: [think(thoughts, { end: 'cut' })], p2: [goesOn] });
    const asked = await harness.askWithin(60_000);
    expect(asked.failure?.failureClass).toBe('stream_interrupted');
    expect(harness.transport.calls('p2')).toBe(0);
  });

  it('of whoever goes on with a text is not shown', async () => {
    const answer = says(`START\nTHINK:${thoughts}\nT:${anchor} and the rest.\nFIN:stop\nEND\n`, {
      end: 'clean',
    });
    const harness = scripted(tierOf([target('p1')]), { p1: [begins, answer] });
    const events = await eventsOf(harness);
    expect(events).not.toContain('reasoning');
  });
});
