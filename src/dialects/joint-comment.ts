/** The comment that discloses a joint in an event stream: parsers pass over it. */
import type { Joint } from './dialect.ts';

export function jointComment({ from, to }: Joint): string {
  return `: continued by ${inLine(to)} after ${inLine(from)} broke off\n\n`;
}

/** A target's id is the operator's own text: it must not end the comment's line. */
function inLine(id: string): string {
  return id.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ');
}
