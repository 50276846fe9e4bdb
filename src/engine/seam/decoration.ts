/** Quotes, dots and rulers around the words that were asked for. Read mark by mark: a pattern of all of them takes time without bound. */

const mark = /-{3,12}\s*\n|\.{3}|["'“‘«„「『…]/gy;
/** What may yet become one. */
const begun = /^(?:-{0,12}|\.{0,2})\s*$/;

/** `length`: with the white space behind it; 0 = `text` begins with none. */
export type Decoration = { readonly length: number; readonly isOpen: boolean };

export function decorationOf(text: string): Decoration {
  let at = 0;
  for (const [found] of text.matchAll(mark)) at += found.length;
  const behind = text.slice(at);
  const space = at === 0 ? 0 : behind.length - behind.trimStart().length;
  return { length: at + space, isOpen: begun.test(behind) };
}
