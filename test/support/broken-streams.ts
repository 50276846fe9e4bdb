/** A stream that breaks after its commit, and what goes on with it: what the tests of continuations share. */
import type { Variant } from '../../src/prompts/variant.ts';
import type { Target, Tier } from '../../src/routing/snapshot.ts';
import { type Asked, EngineHarness, plainTarget, plainTier, status } from './engine-harness.ts';
import type { BodyStep, ScriptedCall } from './scripted-transport.ts';

export const instructionOpening = 'GO ON AFTER: ';

/** Asks for the rest with the anchor alone, so that tests see what it is. */
export const instruction: Variant = {
  name: 'continue',
  identity: 'continue@00000000',
  source: '',
  config: {},
  toolDescriptions: {},
  variableFaults: () => [],
  render: ({ anchor }) => ({
    ok: true,
    value: { before: `${instructionOpening}${anchor}`, after: '' },
  }),
};

export const words =
  'one two three four five six seven eight nine ten eleven twelve thirteen fourteen';
export const sent = `${words} fifteen sixteen seventeen eighteen nineteen twenty twenty-one twenty-two`;
export const anchor = 'seventeen eighteen nineteen twenty twenty-one twenty-two';

export function target(name: string, over: Partial<Target> = {}): Target {
  return plainTarget(name, { instruction, ...over });
}

export function tierOf(targets: readonly Target[], stream: Partial<Tier['stream']> = {}): Tier {
  const plain = plainTier(targets);
  return {
    ...plain,
    hedge: null,
    stream: { ...plain.stream, onInterrupt: 'continue', holdTokens: 5, ...stream },
  };
}

export function says(...body: BodyStep[]): ScriptedCall {
  return { kind: 'answer', status: 200, body };
}

export const begins = says(`START:first\nT:${sent}\nUSE:10:20\n`, 100, { end: 'cut' });
export const goesOn = says(`START:second\nT:${anchor} and the rest.\nFIN:stop\nUSE:30:4\nEND\n`, {
  end: 'clean',
});

/** The attempts as `target kind outcome`. */
export function attemptsOf({ trace }: Asked): readonly string[] {
  return trace.attempts.map(({ target, kind, outcome }) => `${target} ${kind} ${outcome}`);
}

export function scripted(
  tier: Tier,
  scripts: { readonly [provider: string]: readonly ScriptedCall[] },
): EngineHarness {
  return new EngineHarness(tier, (name, call) => {
    const calls = scripts[name] ?? [];
    return calls[Math.min(call, calls.length - 1)] ?? status(500);
  });
}

export const breaksAgain = says(`START\nT:${anchor} and more\n`, 600, { end: 'cut' });
