/** Whether a text of Markdown stops inside a block of code. */

const fence = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm;

export function isInCode(text: string): boolean {
  let open: string | null = null;
  for (const [, marks = '', rest = ''] of text.matchAll(fence)) {
    if (open === null) {
      // A line of code between two marks opens nothing.
      if (!(marks.startsWith('`') && rest.includes('`'))) open = marks;
    } else if (marks.startsWith(open) && rest.trim() === '') open = null;
  }
  return open !== null;
}

/** A line that opens a block of code, at the beginning of `text`; null = there is none, or it is too long to be one. */
export function openingLine(
  text: string,
): { readonly length: number; readonly isNamed: boolean } | null {
  const found = /^ {0,3}(?:`{3,}|~{3,})([^\n`]{0,40})\r?\n/.exec(text);
  if (found === null) return null;
  return { length: found[0].length, isNamed: (found[1] ?? '').trim() !== '' };
}

/** Whether `text` may yet become such a line. */
export function mayOpen(text: string): boolean {
  return /^ {0,3}(?:`{0,2}|~{0,2}|(?:`{3,}|~{3,})[^\n`]{0,40}\r?)$/.test(text);
}
