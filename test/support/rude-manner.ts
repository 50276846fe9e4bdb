/** How a model goes on so that what it does besides can be told from the text. */
import { goOn, type Manner } from '../../src/simulator/go-on.ts';
import type { PartialAnswer } from '../../src/simulator/prompt.ts';

/**
 * `manner` where it shows, else faithfully: after a prefill fewer than 24 repeated characters are taken for
 * the text's own, and one letter always.
 */
export function shownManner(story: string, partial: PartialAnswer, manner: Manner): Manner {
  const rest = story.slice(partial.text.length);
  if (manner === 'repeat_sentence' || manner === 'start_over') {
    const said = goOn(story, partial, manner) ?? '';
    const repeated = folded(said.slice(0, said.length - rest.length)).length;
    return repeated < (partial.isPrefill ? 24 : 2) ? 'faithful' : manner;
  }
  if (!partial.isPrefill || manner === 'faithful') return manner;
  // Where a paragraph may begin nobody can tell whose it is.
  const isCode = story.includes('```');
  const isInSentence = /[\p{L}\p{N},]$/u.test(partial.text) && /^ ?[\p{Ll}\p{Lo}]/u.test(rest);
  return isInSentence && !isCode ? manner : 'faithful';
}

/** As the seam counts: white space of any length is one blank. */
function folded(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
