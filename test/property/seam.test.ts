/** R41: the joint of a continuation with what was sent, for any text, however it is cut and whatever its model says. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { anchorOf } from '../../src/engine/seam/anchor.ts';
import { foldText } from '../../src/engine/seam/fold.ts';
import { Seam } from '../../src/engine/seam/seam.ts';
import { textToContinue } from '../../src/engine/seam/text-to-continue.ts';
import { cutText, textKinds } from '../support/cuts/cut-texts.ts';

type Joined = {
  /** What is shown after what was sent; null = it cannot be joined. */
  readonly added: string | null;
  readonly isUncertain: boolean;
};

function join(sent: string, says: string, isInstructed: boolean, cuts: readonly number[]): Joined {
  const seam = new Seam({ sent, isInstructed });
  let added = '';
  let from = 0;
  for (const at of [...cuts.toSorted((one, other) => one - other), says.length]) {
    added += seam.push(says.slice(from, at));
    from = Math.max(from, at);
  }
  added += seam.end();
  return { added: seam.isUnjoinable ? null : added, isUncertain: seam.isUncertain };
}

/** Words, marks and white space that mean something at a joint, and some that mean nothing. */
const piece = fc.constantFrom(
  ...[
    'the',
    'cat',
    'sat',
    ' ',
    ' ',
    ' ',
    '\n',
    '\n\n',
    '. ',
    ', ',
    '.',
    '- ',
    '2. ',
    '"',
    '“',
    '’',
  ],
  ...[
    '```',
    '```js\n',
    '    ',
    'كان',
    'حارس',
    '好的',
    '，',
    '海',
    'é',
    'e\u0301',
    '😀',
    '\ud83d',
    '𠮷',
    '𝐀',
    '1',
  ],
  ...['Sure', 'Sure, continuing:', 'Here is the rest:\n\n', '---\n', '...', 'Of course! '],
);
/** Longer than anything is waited for. */
const longPiece = fc.constantFrom(
  ' '.repeat(130),
  '-'.repeat(13),
  `\`\`\`${'x'.repeat(41)}\n`,
  'word '.repeat(40),
  `Sure, ${'here '.repeat(30)}continuing: `,
);
const text = fc
  .array(fc.oneof({ arbitrary: piece, weight: 12 }, longPiece), { maxLength: 60 })
  .map((pieces) => pieces.join(''));

/** What models say when they go on with `sent`: all of what was seen, and more. */
function saysAfter(sent: string): fc.Arbitrary<string> {
  const tail = fc.nat({ max: sent.length }).map((at) => sent.slice(at));
  const head = fc.nat({ max: sent.length }).map((at) => sent.slice(0, at));
  const anchor = fc.constant(anchorOf(textToContinue(sent).text));
  const said = fc.oneof(text, tail, head, anchor, fc.constant(sent), piece);
  return fc.array(said, { maxLength: 4 }).map((parts) => parts.join(''));
}

const exchange = text.chain((sent) =>
  fc.record({ sent: fc.constant(sent), says: saysAfter(sent), isInstructed: fc.boolean() }),
);

/** A text of that kind, which says no 24 characters twice, and where it breaks off. */
const story = fc
  .record({
    kind: fc.constantFrom(...textKinds),
    seed: fc.nat(),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ kind, seed, share }) => {
    const whole = cutText(kind, 300, seededRandom(seed));
    return { kind, whole, sent: whole.slice(0, Math.floor(share * whole.length)) };
  });

describe('R41 the seam', () => {
  it('comes out the same however the continuation is cut', () => {
    fc.assert(
      fc.property(exchange, fc.array(fc.nat({ max: 400 }), { maxLength: 12 }), (given, cuts) => {
        const { sent, says, isInstructed } = given;
        const whole = join(sent, says, isInstructed, []);
        const singly = Array.from({ length: says.length }, (_, at) => at);
        expect(join(sent, says, isInstructed, cuts)).toEqual(whole);
        expect(join(sent, says, isInstructed, singly)).toEqual(whole);
      }),
    );
  });

  it('shows the end of what was said, with white space before it, and nothing else', () => {
    fc.assert(
      fc.property(exchange, ({ sent, says, isInstructed }) => {
        const { added } = join(sent, says, isInstructed, []);
        if (added === null) return;
        expect(says.endsWith(added.trimStart())).toBe(true);
      }),
    );
  });

  it('after a prefill takes away nothing but white space, or is marked', () => {
    fc.assert(
      fc.property(exchange, ({ sent, says }) => {
        const { added, isUncertain } = join(sent, says, false, []);
        expect(added).not.toBeNull();
        if (added === null || isUncertain) return;
        const { half } = textToContinue(sent);
        const shown = half === '' ? added.trimStart() : half + added;
        expect(shown).toBe(says.trimStart());
      }),
    );
  });

  it('in words takes away what was asked for, and white space, or is marked', () => {
    fc.assert(
      fc.property(exchange, ({ sent, says }) => {
        const { added, isUncertain } = join(sent, says, true, []);
        const { text, half } = textToContinue(sent);
        if (added === null || isUncertain || text === '') return;
        const removed = foldText(says.slice(0, says.length - added.length - half.length)).trimEnd();
        expect(removed.endsWith(foldText(anchorOf(text)))).toBe(true);
      }),
    );
  });

  it.each(['in words', 'with a prefill'])(
    '%s: who goes on faithfully is joined exactly, and not doubted',
    (way) => {
      fc.assert(
        fc.property(story, ({ whole, sent }) => {
          const { text } = textToContinue(sent);
          const isInstructed = way === 'in words' && text !== '';
          const says = (isInstructed ? anchorOf(text) : '') + whole.slice(text.length);
          expect(join(sent, says, isInstructed, [])).toEqual({
            added: whole.slice(sent.length),
            isUncertain: false,
          });
        }),
      );
    },
  );

  it('takes fewer than 24 repeated characters after a prefill for the text’s own', () => {
    fc.assert(
      fc.property(story, fc.integer({ min: 1, max: 23 }), ({ kind, whole, sent }, length) => {
        // What opens code, or announces it, is taken for that.
        fc.pre(kind !== 'code');
        const { text } = textToContinue(sent);
        const again = text.slice(-length).trim();
        const says = `${again}${whole.slice(text.length)}`;
        expect(join(text, says, false, [])).toEqual({ added: says, isUncertain: false });
      }),
    );
  });

  it('of any text whatever a faithful continuation is exact, or marked', () => {
    fc.assert(
      fc.property(text, text, fc.boolean(), (sent, rest, isInstructed) => {
        const { text: kept, space, half } = textToContinue(sent);
        const anchor = isInstructed ? anchorOf(kept) : '';
        const says = anchor + space + half + rest;
        const { added, isUncertain } = join(sent, says, isInstructed && kept !== '', []);
        if (!isUncertain) expect(added).toBe(rest);
      }),
    );
  });
});
