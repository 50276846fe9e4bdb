/** Joins the text of a continuation to what was sent: pure, incremental, bounded. */
import { anchorOf } from './anchor.ts';
import { textToContinue } from './rest-request.ts';

export class Seam {
  readonly #anchor: string;
  #held = '';
  #isOpen = false;
  isUncertain = false;
  isUnjoinable = false;

  constructor(input: { readonly sent: string; readonly isInstructed: boolean }) {
    this.#anchor = input.isInstructed ? anchorOf(textToContinue(input.sent).text) : '';
  }

  push(text: string): string {
    if (this.#isOpen) return text;
    this.#held += text;
    if (this.#held.length < this.#anchor.length && this.#anchor.startsWith(this.#held)) return '';
    return this.end();
  }

  end(): string {
    const held = this.#held;
    this.#held = '';
    if (this.#isOpen) return '';
    this.#isOpen = true;
    return held.startsWith(this.#anchor) ? held.slice(this.#anchor.length) : held;
  }
}
