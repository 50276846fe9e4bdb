/** How the providers of a schedule go on with an answer that broke off. */
import { goOn, manners } from '../../src/simulator/go-on.ts';
import type { PartialAnswer } from '../../src/simulator/prompt.ts';
import { shownManner } from './rude-manner.ts';

export const restManners = [
  ...manners,
  /** At once, without the words that it was asked to repeat. */
  'bare',
  /** Begins its answer anew, leads it elsewhere, and says nothing of the rest. */
  'anew',
] as const;
export type RestManner = (typeof restManners)[number];

/** What is said before the rest itself, and the manner where it shows. */
export type RestOpening = { readonly text: string; readonly manner: RestManner };

const anewLength = 40;

/** `rest`: what follows what was sent, with the white space before it. */
export function restOpening(partial: PartialAnswer, rest: string, manner: RestManner): RestOpening {
  const isInWords = !partial.isPrefill;
  if (manner === 'bare' && isInWords) return { text: '', manner };
  if (manner === 'anew' && isInWords && partial.text.length > anewLength + 10) {
    return { text: `${partial.text.slice(0, anewLength)} but no.`, manner };
  }
  const story = partial.text + rest;
  const plain = manner === 'bare' || manner === 'anew' ? 'faithful' : manner;
  const shown = shownManner(story, partial, plain);
  const said = goOn(story, partial, shown) ?? '';
  return { text: said.slice(0, said.length - rest.length), manner: shown };
}
