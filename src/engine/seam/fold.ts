/** The form in which texts are compared: models repeat words faithfully, white space and quotes less so. */

export function foldUnit(unit: string): string {
  if (isSpace(unit)) return ' ';
  if ('“”„‟'.includes(unit)) return '"';
  return '‘’‚‛'.includes(unit) ? "'" : unit;
}

export function isSpace(unit: string): boolean {
  return /\s/.test(unit);
}

/** Runs of white space become one; `text` begins and ends without any. */
export function foldText(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[“”„‟]/g, '"')
    .replace(/[‘’‚‛]/g, "'");
}
