/** One stream of the cut fuzz: who tells what, how it breaks, who listens. The same seed gives the same plan. */
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { manners } from '../../../src/simulator/go-on.ts';
import { type CutForm, cutForms } from './cut-forms.ts';
import { type Break, breakages, type Telling } from './cut-providers.ts';
import { cutText, pick, repetitiveText, type TextKind, textKinds } from './cut-texts.ts';
import { type CutUpstream, cutUpstreams } from './cut-upstreams.ts';

export type CutPlan = {
  readonly seed: number;
  readonly form: CutForm;
  /** Of the two targets, in order. */
  readonly upstreams: readonly [CutUpstream, CutUpstream];
  readonly prefill: 'none' | 'taken' | 'refused';
  readonly textKind: TextKind;
  readonly telling: Telling;
  readonly holdTokens: number;
  readonly wantsMeta: boolean;
};

/** `isRepetitive`: the text repeats itself, so that not every joint can be told. */
export function cutPlan(seed: number, isRepetitive = false): CutPlan {
  const random = seededRandom(seed);
  // Every pair of dialects in turn, so that a short run too has them all.
  const pairs = cutForms.length * cutUpstreams.length;
  const at = seed % pairs;
  const form = cutForms[at % cutForms.length] ?? one(cutForms, random);
  const first = cutUpstreams[Math.floor(at / cutForms.length)] ?? one(cutUpstreams, random);
  const textKind = one(textKinds, random);
  const tell = isRepetitive ? repetitiveText : cutText;
  const story = tell(textKind, 200 + pick(random, 1200), random);
  const prefill = one(['none', 'taken', 'refused'] as const, random);
  const calls =
    pick(random, 4) === 0
      ? [{ id: 'call_0123456789abcdef01234567', name: 'look_up', arguments: '{"word":"anchor"}' }]
      : [];
  return {
    seed,
    form,
    upstreams: [first, one(cutUpstreams, random)],
    prefill,
    textKind,
    telling: {
      story,
      calls,
      manner: one(manners, random),
      takesPrefill: prefill !== 'refused',
      isRepetitive,
      breaks: Array.from({ length: 1 + pick(random, 3) }, () => breakOf(random)),
    },
    holdTokens: one([0, 5, 20, 20], random),
    wantsMeta: pick(random, 4) === 0,
  };
}

function breakOf(random: Random): Break {
  return { how: one(breakages, random), share: random.next() };
}

function one<Item>(items: readonly Item[], random: Random): Item {
  return items[pick(random, items.length)] as Item;
}
