/** A broken stream is gone on with: by whom, how often, and when it is not (R41 to R44), in virtual time. */
import { describe, expect, it } from 'vitest';
import type { Variant } from '../../src/prompts/variant.ts';
import type { Target, Tier } from '../../src/routing/snapshot.ts';
import { EngineHarness, plainTarget, plainTier, status } from '../support/engine-harness.ts';
import type { BodyStep, ScriptedCall } from '../support/scripted-transport.ts';

/** Asks for the rest with the anchor alone, so that tests see what it is. */
const instruction: Variant = {
  name: 'continue',
  identity: 'continue@00000000',
  source: '',
  config: {},
  toolDescriptions: {},
  variableFaults: () => [],
  render: ({ anchor }) => ({ ok: true, value: { before: `GO ON AFTER: ${anchor}`, after: '' } }),
};

const words = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen';
const sent = `${words} fifteen sixteen seventeen eighteen nineteen twenty twenty-one twenty-two`;
const anchor = 'seventeen eighteen nineteen twenty twenty-one twenty-two';

function target(name: string, over: Partial<Target> = {}): Target {
  return plainTarget(name, { instruction, ...over });
}

function tierOf(targets: readonly Target[], stream: Partial<Tier['stream']> = {}): Tier {
  const plain = plainTier(targets);
  return {
    ...plain,
    hedge: null,
    stream: { ...plain.stream, onInterrupt: 'continue', holdTokens: 5, ...stream },
  };
}

function says(...body: BodyStep[]): ScriptedCall {
  return { kind: 'answer', status: 200, body };
}

const begins = says(`START:first\nT:${sent}\nUSE:10:20\n`, 100, { end: 'cut' });
const goesOn = says(`START:second\nT:${anchor} and the rest.\nFIN:stop\nUSE:30:4\nEND\n`, {
  end: 'clean',
});

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
