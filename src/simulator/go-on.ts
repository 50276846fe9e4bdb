/** How a simulated model goes on with an answer that broke off: as it was asked to, or rudely. */
import type { PartialAnswer } from './prompt.ts';

export const manners = [
  /** The very next words; after an instruction, the words that it asks to repeat first. */
  'faithful',
  /** Its last sentence again, then the rest. */
  'repeat_sentence',
  /** "Sure, continuing:" first. */
  'announce',
  /** A blank line first. */
  'new_paragraph',
  /** The whole answer again. */
  'start_over',
] as const;
export type Manner = (typeof manners)[number];

/** `whole`: the answer that `partial` is the beginning of; null when it is not. */
export function goOn(whole: string, partial: PartialAnswer, manner: Manner): string | null {
  if (!whole.startsWith(partial.text)) return null;
  const rest = whole.slice(partial.text.length);
  const asked = partial.anchor + rest;
  switch (manner) {
    case 'faithful':
      return asked;
    case 'repeat_sentence':
      return lastSentence(partial.text) + rest;
    case 'announce':
      return `Sure, continuing:\n\n${asked}`;
    case 'new_paragraph':
      return `\n\n${asked}`;
    case 'start_over':
      return whole;
  }
}

/** With the white space at its end, which was said too. */
function lastSentence(text: string): string {
  const end = text
    .trimEnd()
    .slice(0, -1)
    .search(/[.!?。！？][^.!?。！？]*$/u);
  return text.slice(end + 1).trimStart();
}
