/** Whether a conversation asks the model to go on with an answer of its own. */
import type { PartialAnswer } from './prompt.ts';

/** One turn's words, neighbours of one role merged. */
export type SpokenTurn = { readonly isModels: boolean; readonly text: string };

/** Fewer units of an answer, repeated by the user, are a coincidence. */
const anchorLengthMin = 8;
/** As far back as an answer's end is looked for in the user's words. */
const anchorLengthMax = 400;

/** The last turn is the model's own, or the user's words after it quote how it ended; else null. */
export function partialAnswerIn(turns: readonly SpokenTurn[]): PartialAnswer | null {
  const last = turns.at(-1);
  if (last === undefined) return null;
  const own = last.isModels ? last : turns.at(-2);
  if (own === undefined || !own.isModels || own.text === '') return null;
  const asked = turns.slice(0, turns.indexOf(own)).findLast(({ isModels }) => !isModels);
  const partial = { text: own.text, askedText: asked?.text ?? '' };
  if (last.isModels) return { ...partial, isPrefill: true, anchor: '' };
  const anchor = quotedEnd(own.text, last.text);
  return anchor === '' ? null : { ...partial, isPrefill: false, anchor };
}

/** The longest end of `answer` that stands in `words`. */
function quotedEnd(answer: string, words: string): string {
  const tail = answer.slice(-anchorLengthMax);
  for (let at = 0; at <= tail.length - Math.min(anchorLengthMin, answer.length); at += 1) {
    if (/\S/.test(tail.charAt(at)) && words.includes(tail.slice(at))) return tail.slice(at);
  }
  return '';
}
