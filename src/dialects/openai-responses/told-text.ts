/** What was told of a text in pieces, and what its full form adds: some servers leave pieces out. */

/** Beyond it no more is kept, and nothing is filled in. */
const charactersMax = 4 * 1024 * 1024;

export class ToldText {
  #told = '';
  #toldTokens = 0;
  #isKept = true;

  get isEmpty(): boolean {
    return this.#told === '';
  }

  add(piece: string, tokens = 0): void {
    this.#toldTokens += tokens;
    if (!this.#isKept) return;
    this.#told += piece;
    if (this.#told.length > charactersMax) this.#isKept = false;
  }

  /** The tokens of `all`, those of the full form, that came with no piece. */
  restTokens<Token>(all: readonly Token[]): readonly Token[] {
    const rest = all.slice(this.#toldTokens);
    this.#toldTokens += rest.length;
    return rest;
  }

  /** What of `full` is still to be told; '' also where something else was told. */
  rest(full: string): string {
    if (!this.#isKept || !full.startsWith(this.#told)) return '';
    const rest = full.slice(this.#told.length);
    this.#told = full;
    return rest;
  }
}
