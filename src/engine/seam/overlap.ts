/** How far a text that comes in pieces repeats the end of another one: pure, one unit at a time. */
import { foldText, foldUnit } from './fold.ts';

/** From here on a repetition is one, whoever was asked how; shorter ones happen by chance. */
export const overlapMin = 24;
/** A text that repeats itself offers more places than are worth following. */
const placesMax = 512;
const weakLengthMin = 8;

/** A text of which an end may be said again, as `foldText` makes it. */
export type Repeatable = {
  readonly text: string;
  /** Units of the end that was asked for; null: none was, and nothing short counts. */
  readonly anchor: number | null;
  /** Units of its last line. */
  readonly lastLine: number;
};

/** `text` is without white space at its ends. */
export function repeatable(text: string, anchor: string | null): Repeatable {
  return {
    text: foldText(text),
    anchor: anchor === null ? null : foldText(anchor).length,
    lastLine: foldText(text.slice(text.lastIndexOf('\n') + 1).trimStart()).length,
  };
}

export type OverlapVerdict =
  | { readonly kind: 'waiting' }
  /**
   * `repeated`: so much of the text's beginning was said again before it went elsewhere. `isAll`: it
   * ended within words that stand in the text.
   */
  | { readonly kind: 'none'; readonly repeated: number; readonly isAll: boolean }
  | {
      readonly kind: 'found';
      /** Units of the incoming text that were sent before. */
      readonly length: number;
      /** Too long for chance, or just what was asked for. */
      readonly isStrong: boolean;
      /** What was asked for, or all of the text, and no other end fits as well. */
      readonly isCertain: boolean;
    };

type Match = { readonly folded: number; readonly raw: number };

/** What is pushed begins without white space. */
export class Overlap {
  readonly #text: string;
  readonly #anchor: number | null;
  readonly #lastLine: number;
  readonly #matches: Match[] = [];
  /** Where in the text the incoming one may stand; null: too little has come to look. */
  #places: number[] | null = null;
  #head = '';
  #folded = 0;
  #raw = 0;
  #agreed = 0;
  #isSpace = false;
  #isAll = false;
  #isOver: boolean;

  constructor({ text, anchor, lastLine }: Repeatable) {
    this.#text = text;
    this.#anchor = anchor;
    this.#lastLine = lastLine;
    this.#isOver = text === '';
  }

  get verdict(): OverlapVerdict {
    if (!this.#isOver) return { kind: 'waiting' };
    const strong = this.#matches.filter(({ folded }) => this.#isStrong(folded));
    const weak = this.#matches.filter(({ folded }) => this.#isWeak(folded));
    const best = strong.at(-1) ?? weak.at(-1);
    if (best === undefined) return { kind: 'none', repeated: this.#agreed, isAll: this.#isAll };
    const isAsked = this.#anchor !== null && strong.length === 1;
    const isAll = best.folded === this.#text.length && weak.every((match) => match === best);
    const isExpected = best.folded === this.#anchor || isAll;
    return {
      kind: 'found',
      length: best.raw,
      isStrong: strong.length > 0,
      isCertain: isAsked && isExpected,
    };
  }

  push(incoming: string): void {
    for (let at = 0; at < incoming.length && !this.#isOver; at += 1) {
      const unit = foldUnit(incoming.charAt(at));
      this.#raw += 1;
      const isSpaceAgain = unit === ' ' && this.#isSpace;
      this.#isSpace = unit === ' ';
      if (!isSpaceAgain) this.#take(unit);
    }
  }

  /** Nothing more comes. */
  end(): void {
    this.#isAll = !this.#isOver && this.#folded >= weakLengthMin && isPhrase(this.#head);
    this.#isOver = true;
  }

  #take(unit: string): void {
    this.#folded += 1;
    if (this.#places === null) this.#search(unit);
    else this.#follow(this.#places, unit);
    if (this.#agreed === this.#folded - 1 && this.#text[this.#folded - 1] === unit) {
      this.#agreed = this.#folded;
    }
  }

  #search(unit: string): void {
    this.#head += unit;
    const last = this.#text.length - this.#folded;
    if (last >= 0 && this.#text.endsWith(this.#head)) this.#match();
    const first = this.#text.indexOf(this.#head);
    if (first === -1 || first >= last) this.#isOver = true;
    else if (this.#folded === overlapMin) this.#places = this.#placesOf(this.#head, last);
  }

  /** Places that have room for more, the first and the last of them when there are too many. */
  #placesOf(head: string, end: number): number[] {
    const places: number[] = [];
    let at = this.#text.indexOf(head);
    while (at !== -1 && at < end) {
      places.push(at);
      if (places.length > placesMax) places.splice(1, 1);
      at = this.#text.indexOf(head, at + 1);
    }
    return places;
  }

  #follow(places: readonly number[], unit: string): void {
    const end = this.#text.length - this.#folded;
    const agreeing = places.filter((place) => this.#text[place + this.#folded - 1] === unit);
    if (agreeing.includes(end)) this.#match();
    this.#places = agreeing.filter((place) => place < end);
    this.#isOver = this.#places.length === 0;
  }

  #match(): void {
    this.#matches.push({ folded: this.#folded, raw: this.#raw });
  }

  #isStrong(length: number): boolean {
    return length >= overlapMin || length === this.#anchor;
  }

  /** Less than was asked for, but more than chance: the whole last line, the last sentence, or some words. */
  #isWeak(length: number): boolean {
    if (this.#anchor === null) return false;
    // The mark of an item, which a blank follows; any other letter comes again by chance.
    if (length === 1) return this.#lastLine === 1 && this.#head.charAt(1) === ' ';
    const start = this.#text.length - length;
    const before = this.#text.slice(Math.max(0, start - 2), start);
    if (length === this.#lastLine || before === '' || /[.!?。！？] ?$/.test(before)) return true;
    const isAtWord = before.endsWith(' ') || isUnspaced(before.slice(-1));
    return isAtWord && length >= weakLengthMin && isPhrase(this.#text.slice(start));
  }
}

/** More than one word. */
function isPhrase(text: string): boolean {
  return text.includes(' ') || isUnspaced(text);
}

/** Written without blanks between its words. */
function isUnspaced(text: string): boolean {
  return /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u.test(
    text,
  );
}
