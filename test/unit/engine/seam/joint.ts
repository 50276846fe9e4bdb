/** What a continuation adds to what was sent, as a row of a table, and the check of one. */
import { expect } from 'vitest';
import { Seam } from '../../../../src/engine/seam/seam.ts';

export type Row = {
  readonly name: string;
  readonly sent: string;
  readonly says: string;
  /** The whole text as the client has it in the end; null: it cannot be joined. */
  readonly whole: string | null;
  readonly isUncertain?: boolean;
};

export const story =
  'The old lighthouse keeper climbed the winding stairs every evening, counting each of them aloud. ' +
  'Below him the sea was quiet, and the gulls had gone';
export const storyAnchor = 'sea was quiet, and the gulls had gone';
export const lastSentence = 'Below him the sea was quiet, and the gulls had gone';
export const verse = 'We sing this song again and again by the sea.';
export const code =
  'Here you go:\n\n```python\ndef area(r):\n    import math\n    return math.pi * r';

/** However the continuation is cut. */
export function expectJoint(row: Row, isInstructed: boolean): void {
  const { sent, says, whole, isUncertain = false } = row;
  for (const cut of [1, 2, 3, 7, says.length + 1]) {
    const seam = new Seam({ sent, isInstructed });
    let text = sent;
    for (let at = 0; at < says.length; at += cut) text += seam.push(says.slice(at, at + cut));
    text += seam.end();
    expect(seam.isUnjoinable ? null : text, `in pieces of ${cut}`).toBe(whole);
    if (whole !== null) expect(seam.isUncertain, `in pieces of ${cut}`).toBe(isUncertain);
    expect(seam.end()).toBe('');
  }
}
