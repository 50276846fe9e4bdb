/** How the rest of a broken stream is asked for (R41). */
import { describe, expect, it } from 'vitest';
import { type ChatParameters, noParameters } from '../../src/chat/request.ts';
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
import { type AskOptions, type EngineHarness, status } from '../support/engine-harness.ts';

describe('R41 how the rest is asked for', () => {
  const messagesOf = (harness: EngineHarness, call: number): readonly { role: string }[] =>
    JSON.parse(harness.transport.requests[call]?.body ?? '{}').messages;

  it('as a prefill where the target takes one, without white space at its end', async () => {
    const tier = tierOf([target('p1', { acceptsPrefill: true })]);
    const harness = scripted(tier, {
      p1: [
        says(`START\nT:${sent} \n`, { end: 'cut' }),
        says('START\nT: and the rest.\nFIN:stop\nEND\n', { end: 'clean' }),
      ],
    });
    const asked = await harness.askWithin(30_000);
    expect(asked.text).toBe(`${sent} and the rest.`);
    expect(messagesOf(harness, 1).at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: sent }],
    });
    expect(asked.trace.seams[1]?.uncertain).toBe(false);
  });

  it.each([
    ['a model that thinks', { isThinking: true }, {}],
    [
      'a request that wants thinking',
      {},
      { chat: { parameters: { ...noParameters, reasoning_effort: 'low' } } },
    ],
    [
      'a conversation that the client ended with a turn of the assistant',
      {},
      {
        chat: {
          messages: [
            { role: 'user', content: [{ type: 'text', text: 'hi' }], name: null },
            { role: 'assistant', content: [{ type: 'text', text: 'one' }] },
          ],
        },
      },
    ],
  ] as const)('in words for %s, although its target takes a prefill', async (_, over, options) => {
    const tier = tierOf([target('p1', { acceptsPrefill: true, ...over })]);
    const harness = scripted(tier, { p1: [begins, goesOn] });
    const asked = await harness.askWithin(30_000, options as AskOptions);
    expect(asked.text).toBe(`${sent} and the rest.`);
    expect(messagesOf(harness, 1).at(-1)?.role).toBe('user');
  });

  it('a refusal that does not name the prefill counts, and the next target is asked', async () => {
    const tier = tierOf([target('p1', { acceptsPrefill: true }), target('p2')]);
    const harness = scripted(tier, { p1: [begins, status(400)], p2: [goesOn] });
    const asked = await harness.askWithin(30_000);
    expect(attemptsOf(asked)).toEqual([
      'p1/m first failed',
      'p1/m continuation failed',
      'p2/m continuation served',
    ]);
  });

  it('with what is left of the limit on the answer', async () => {
    const tier = tierOf([target('p1')]);
    const harness = scripted(tier, { p1: [begins, goesOn] });
    const parameters: ChatParameters = { ...noParameters, max_tokens: 200 };
    await harness.askWithin(30_000, { chat: { parameters } });
    const used = Math.floor(sent.length / 4);
    expect(JSON.parse(harness.transport.requests[1]?.body ?? '').max_tokens).toBe(
      200 - used + Math.ceil(anchor.length / 2),
    );
  });

  it('the refusal of a prefill is not among the attempts that the client is told of', async () => {
    const tier = tierOf([target('p1', { acceptsPrefill: true })]);
    const refusal = status(400, { body: '{"error":{"message":"prefill is not supported"}}' });
    const harness = scripted(tier, { p1: [begins, refusal, breaksAgain, breaksAgain] });
    const asked = await harness.askWithin(60_000);
    expect(asked.trace.attempts).toHaveLength(4);
    expect(asked.failure?.attempts.map((attempt) => attempt.class)).toEqual([
      'stream_interrupted',
      'stream_interrupted',
      'stream_interrupted',
    ]);
  });
});
