/**
 * Reasoning that a server leaves in the text of an answer, between `<think>` and `</think>` at its
 * beginning: what open models write where the server has no parser for it.
 */

export type ThinkPiece = { readonly type: 'text' | 'reasoning'; readonly text: string };

const opening = '<think>';
const closing = '</think>';

/** One choice's text, cut anywhere, as pieces. */
export class ThinkTags {
  /** `settled`: what follows is text, whatever it holds. */
  #state: 'beginning' | 'thinking' | 'thought' | 'settled' = 'beginning';
  /** What may be the beginning of a tag. */
  #held = '';

  /** The server tells reasoning apart by itself. */
  settle(): void {
    if (this.#state === 'beginning') this.#state = 'settled';
  }

  push(text: string): readonly ThinkPiece[] {
    switch (this.#state) {
      case 'settled':
        return this.#taken(text);
      case 'beginning':
        return this.#begin(this.#held + text);
      case 'thinking':
        return this.#think(this.#held + text);
      case 'thought':
        return this.#goOn(text);
    }
  }

  /** What is held when nothing more comes. */
  end(): readonly ThinkPiece[] {
    if (this.#state !== 'thinking') return this.#taken('');
    return piecesOf('reasoning', this.#release());
  }

  #begin(text: string): readonly ThinkPiece[] {
    const begun = text.trimStart();
    // Blank text is told as it comes: it may be all there is.
    if (begun === '') return piecesOf('text', text);
    if (begun.length < opening.length && opening.startsWith(begun)) {
      this.#held = text;
      return [];
    }
    this.#held = '';
    if (!begun.startsWith(opening)) {
      this.#state = 'settled';
      return piecesOf('text', text);
    }
    this.#state = 'thinking';
    return this.#think(begun.slice(opening.length));
  }

  #think(text: string): readonly ThinkPiece[] {
    const at = text.indexOf(closing);
    if (at === -1) {
      const kept = heldAtEnd(text);
      this.#held = text.slice(text.length - kept);
      return piecesOf('reasoning', text.slice(0, text.length - kept));
    }
    this.#held = '';
    this.#state = 'thought';
    return [
      ...piecesOf('reasoning', text.slice(0, at)),
      ...this.#goOn(text.slice(at + closing.length)),
    ];
  }

  /** The blank lines behind the thought belong to neither. */
  #goOn(text: string): readonly ThinkPiece[] {
    const rest = text.trimStart();
    if (rest !== '') this.#state = 'settled';
    return piecesOf('text', rest);
  }

  #taken(text: string): readonly ThinkPiece[] {
    return piecesOf('text', this.#release() + text);
  }

  #release(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/** How many characters at the end of `text` may be the beginning of the closing tag. */
function heldAtEnd(text: string): number {
  const most = Math.min(closing.length - 1, text.length);
  for (let count = most; count > 0; count -= 1) {
    if (closing.startsWith(text.slice(text.length - count))) return count;
  }
  return 0;
}

function piecesOf(type: ThinkPiece['type'], text: string): readonly ThinkPiece[] {
  return text === '' ? [] : [{ type, text }];
}
