/**
 * Joins the text of a continuation to what was sent: pure, incremental, and holding back no more than
 * it needs to decide. What a model writes before it goes on is taken away: an announcement, a line
 * that opens code anew, the words that it was asked to repeat, its last sentence, all of it.
 */
import { anchorOf } from './anchor.ts';
import { isInCode } from './code-fence.ts';
import { jointSpace } from './joint-space.ts';
import { type Opening, openingsIn } from './openings.ts';
import { Overlap, overlapMin, type Repeatable, repeatable } from './overlap.ts';
import { type TextToContinue, textToContinue } from './text-to-continue.ts';

/** Held at most while it is not yet clear where the text begins. */
const openingLengthMax = 600;
/** Beyond what was sent. */
const spaceLengthMax = 256;
const firstLineLengthMax = 160;

type Reading = { readonly opening: Opening; readonly overlap: Overlap };

/** Where the text may begin, and how far it then repeats what was sent. */
type OpeningState = {
  readonly kind: 'opening';
  readonly sent: Repeatable;
  readonly readings: Map<number, Reading>;
};

type State =
  | OpeningState
  /** What was sent before is taken away; the white space at the joint is still coming. */
  | { readonly kind: 'joint'; readonly isTrusted: boolean }
  | { readonly kind: 'open' }
  | { readonly kind: 'unjoinable' };

export class Seam {
  readonly #sent: TextToContinue;
  readonly #isInstructed: boolean;
  readonly #isInCode: boolean;
  readonly #firstLine: string;
  #state: State;
  #held = '';
  #isLookingOn = true;
  isUncertain = false;

  /** `isInstructed`: the model was asked in words, and to repeat the last of them first. */
  constructor(input: { readonly sent: string; readonly isInstructed: boolean }) {
    this.#sent = textToContinue(input.sent);
    const { text } = this.#sent;
    this.#isInstructed = input.isInstructed;
    this.#isInCode = isInCode(input.sent);
    const line = text.indexOf('\n');
    this.#firstLine = line > 0 && line <= firstLineLengthMax ? text.slice(0, line) : '';
    const sent = repeatable(text, input.isInstructed ? anchorOf(text) : null);
    this.#state =
      text === ''
        ? { kind: 'joint', isTrusted: true }
        : { kind: 'opening', sent, readings: new Map() };
  }

  /** The model began anew: nothing of what it says can be shown. */
  get isUnjoinable(): boolean {
    return this.#state.kind === 'unjoinable';
  }

  /** It is decided where the text begins: what is pushed comes out as it is. */
  get isOpen(): boolean {
    return this.#state.kind === 'open';
  }

  /** What `text` adds to what was sent. */
  push(text: string): string {
    return this.#state.kind === 'open' ? text : this.#advance(text, false);
  }

  /** What was held back and belongs to the text after all: nothing more comes. */
  end(): string {
    return this.#state.kind === 'open' ? '' : this.#advance('', true);
  }

  #advance(text: string, isEnd: boolean): string {
    this.#held += text;
    if (this.#state.kind === 'opening') this.#open(this.#state, text, isEnd);
    if (this.#state.kind === 'joint') return this.#join(this.#state.isTrusted, isEnd);
    if (this.#state.kind === 'unjoinable') this.#held = '';
    return '';
  }

  #open(begun: OpeningState, text: string, isEnd: boolean): void {
    // What is held may be long by now: only the new text is gone through.
    for (const { overlap } of begun.readings.values()) overlap.push(text);
    if (this.#isLookingOn) this.#look(begun, isEnd);
    const readings = [...begun.readings.values()];
    if (isEnd) for (const { overlap } of readings) overlap.end();
    const verdicts = readings.map(({ overlap }) => overlap.verdict);
    const sure = verdicts.findIndex((verdict) => verdict.kind === 'found' && verdict.isStrong);
    const isWaiting = this.#isLookingOn || verdicts.some(({ kind }) => kind === 'waiting');
    if (sure !== -1) this.#takeAway(readings[sure]);
    else if (isEnd || !isWaiting) this.#settle(readings);
  }

  #look({ sent, readings }: OpeningState, isEnd: boolean): void {
    const { found, isOpen } = openingsIn(this.#held.slice(0, openingLengthMax), {
      isInCode: this.#isInCode,
      firstLine: this.#firstLine,
      isWhole: isEnd,
    });
    this.#isLookingOn = isOpen && this.#held.length < openingLengthMax;
    for (const opening of found) {
      if (readings.has(opening.at)) continue;
      const overlap = new Overlap(sent);
      overlap.push(this.#held.slice(opening.at));
      readings.set(opening.at, { opening, overlap });
    }
  }

  #takeAway(reading: Reading | undefined): void {
    const verdict = reading?.overlap.verdict;
    if (reading === undefined || verdict?.kind !== 'found') return;
    this.#held = this.#held.slice(reading.opening.at + verdict.length);
    this.isUncertain = !verdict.isCertain;
    this.#state = { kind: 'joint', isTrusted: true };
  }

  /** Nothing was surely repeated. */
  #settle(readings: readonly Reading[]): void {
    const weak = readings.find(({ overlap }) => overlap.verdict.kind === 'found');
    if (weak === undefined) this.#begin(readings);
    else this.#takeAway(weak);
  }

  #begin(readings: readonly Reading[]): void {
    const { length } = this.#held;
    // What nothing follows is the end of the text sooner than an announcement of nothing.
    const isAnnounced = readings.some(({ opening }) => opening.at > 0 && opening.at === length);
    const begun = readings.findLast(
      ({ opening }) => opening.isPlain && opening.at < length,
    )?.opening;
    const behind = begun?.at ?? 0;
    const repeated = Math.max(0, ...readings.map((reading) => repeatedBehind(reading, behind)));
    const isAll = readings.some(
      ({ overlap: { verdict } }) => verdict.kind === 'none' && verdict.isAll,
    );
    if (this.#isInstructed && (isAll || repeated >= overlapMin)) {
      this.#state = { kind: 'unjoinable' };
      return;
    }
    const isBare = begun === undefined || begun.kind === 'text';
    // Nothing but words that stand in the text: a refrain, or a repetition that broke off.
    const isRepetition = isAll && length >= overlapMin;
    const isDoubtful = isAnnounced || isRepetition || repeated >= overlapMin;
    this.isUncertain = this.#isInstructed || !isBare || isDoubtful;
    if (!isBare) this.#held = heldBehind(this.#held, begun);
    this.#state = { kind: 'joint', isTrusted: !isBare };
  }

  #join(isTrusted: boolean, isEnd: boolean): string {
    const { text, space: sent, half } = this.#sent;
    const spaceLength = this.#held.length - this.#held.trimStart().length;
    const given = this.#held.slice(0, Math.min(spaceLength, sent.length + spaceLengthMax));
    const rest = this.#held.slice(given.length);
    const isLong = given.length === sent.length + spaceLengthMax;
    if (!isEnd && !isLong && /^[\ud800-\udbff]?$/.test(rest)) return '';
    const isInCode = this.#isInCode;
    const isInstructed = this.#isInstructed;
    // What comes after so much white space is not waited for.
    const next = isLong ? '' : rest;
    const joint = jointSpace({ text, sent, given, rest: next, isTrusted, isInstructed, isInCode });
    this.isUncertain ||= joint.isUncertain;
    this.#held = '';
    this.#state = { kind: 'open' };
    if (half === '') return joint.space + rest;
    // Half of a character was sent: its other half alone is missing.
    const isWhole = joint.space === '' && next.startsWith(half);
    this.isUncertain ||= !isWhole;
    return isWhole ? rest.slice(half.length) : joint.space + rest;
  }
}

/** How much of the text's beginning a reading repeated behind that place. */
function repeatedBehind({ opening, overlap: { verdict } }: Reading, place: number): number {
  const { at } = opening;
  if (verdict.kind !== 'none') return 0;
  return at >= place ? verdict.repeated : at + verdict.repeated - place;
}

/** Blank lines between an announcement and the text belong to the former. */
function heldBehind(held: string, { at, spaceAt, kind }: Opening): string {
  const space = held.slice(spaceAt, at);
  const kept = kind === 'sentence' ? space.slice(space.search(/[^\r\n]*$/)) : space;
  return kept + held.slice(at);
}
