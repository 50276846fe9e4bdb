/** Where in a continuation the text itself may begin: behind what models put before it. */
import { mayOpen, openingLine } from './code-fence.ts';
import { decorationOf } from './decoration.ts';
import { type Announcement, readAnnouncement } from './preambles.ts';

export type Opening = {
  /** Units of the continuation that stand before it, and before the white space that leads to it. */
  readonly at: number;
  readonly spaceAt: number;
  readonly kind: 'text' | 'sentence' | 'code' | 'marks';
  /** What stands before it is passed over even where nothing after it proves that this is right. */
  readonly isPlain: boolean;
};

export type Openings = {
  /** In the order of their places. The first has only white space before it. */
  readonly found: readonly Opening[];
  /** More may be found when more has come. */
  readonly isOpen: boolean;
};

const sentencesMax = 3;

/**
 * `firstLine`: how the text that was sent begins, where that is a line of its own; '' = it is none.
 * `isWhole`: nothing comes after `held`.
 */
export function openingsIn(
  held: string,
  sent: { readonly isInCode: boolean; readonly firstLine: string; readonly isWhole: boolean },
): Openings {
  const found: Opening[] = [];
  let opening: Opening = { at: spaceIn(held), spaceAt: 0, kind: 'text', isPlain: true };
  for (let sentences = 0; opening.at < held.length; sentences += 1) {
    found.push(opening);
    const rest = held.slice(opening.at);
    const behind = behindMarks(rest, opening.at, sent.isInCode);
    if (behind === 'open') return { found, isOpen: true };
    if (behind !== null) found.push(behind);
    if (sentences === sentencesMax) return { found, isOpen: false };
    const read = readOpeningSentence(rest, sent.firstLine);
    if (read.kind !== 'read') return { found, isOpen: read.kind === 'open' };
    const spaceAt = opening.at + read.length;
    const at = spaceAt + spaceIn(held.slice(spaceAt));
    opening = { at, spaceAt, kind: 'sentence', isPlain: read.isPlain };
  }
  // What may be an announcement, and nothing that it announced.
  if (sent.isWhole && opening.kind === 'sentence') found.push(opening);
  return { found, isOpen: true };
}

function spaceIn(text: string): number {
  return text.length - text.trimStart().length;
}

/** The opening behind a line that opens code anew, or behind decoration; 'open': one may yet come. */
function behindMarks(rest: string, from: number, isInCode: boolean): Opening | 'open' | null {
  const decoration = decorationOf(rest);
  if ((isInCode && mayOpen(rest)) || decoration.isOpen) return 'open';
  const line = isInCode ? openingLine(rest) : null;
  const length = line?.length ?? decoration.length;
  if (length === 0) return null;
  const at = length + spaceIn(rest.slice(length));
  if (at === rest.length) return 'open';
  const kind = line === null ? 'marks' : 'code';
  return { at: from + at, spaceAt: from + length, kind, isPlain: line?.isNamed === true };
}

/** How the sent text begins is said again as readily as an announcement. */
function readOpeningSentence(rest: string, firstLine: string): Announcement {
  if (firstLine !== '') {
    if (rest.startsWith(`${firstLine}\n`)) {
      return { kind: 'read', length: firstLine.length, isPlain: true };
    }
    if (`${firstLine}\n`.startsWith(rest)) return { kind: 'open' };
  }
  return readAnnouncement(rest);
}
