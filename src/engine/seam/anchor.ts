/** The last words of a text: what the model that goes on is asked to repeat first. */

const wordsWanted = 8;
/** Longer than eight words of any language; text without a single word ends here too. */
const lengthMax = 240;
/** Parts of a word ("twenty-one") lie no further apart. */
const wordLengthMax = 24;

const words = new Intl.Segmenter('und', { granularity: 'word' });

/** Begins at a word; without white space at its end. '' when `text` is blank. */
export function anchorOf(text: string): string {
  const end = text.trimEnd();
  const tail = end.slice(wholeFrom(end, Math.max(0, end.length - lengthMax)));
  const starts: number[] = [];
  for (const { index, isWordLike } of words.segment(tail)) {
    if (isWordLike === true) starts.push(index);
  }
  const start = starts.at(-wordsWanted) ?? 0;
  const opening =
    /\S*$/.exec(tail.slice(Math.max(0, start - wordLengthMax), start))?.[0].length ?? 0;
  return tail.slice(opening < wordLengthMax ? start - opening : start).trimStart();
}

/** `at`, moved on until it cuts neither a surrogate pair nor a combining sequence. */
function wholeFrom(text: string, at: number): number {
  let start = at;
  while (start > 0 && start < text.length && isInside(text, start)) start += 1;
  return start;
}

function isInside(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code >= 0xdc00 && code <= 0xdfff) return true;
  return /^[\p{M}\u200d]/u.test(text.slice(at, at + 2)) || text[at - 1] === '\u200d';
}
