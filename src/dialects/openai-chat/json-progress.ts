/** Whether a JSON object or array that comes in pieces is whole, without keeping or parsing it. */
export class JsonProgress {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #state: 'empty' | 'open' | 'complete' | 'other' = 'empty';

  /** Whether the outermost bracket has closed; what follows cannot belong to the same value. */
  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  push(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      if (this.#state === 'complete' || this.#state === 'other') return;
      this.#step(text[at] ?? '');
    }
  }

  #step(character: string): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
    } else if (character === '{' || character === '[') {
      this.#depth += 1;
      this.#state = 'open';
    } else if (character === '}' || character === ']') {
      this.#depth -= 1;
      this.#state = this.#depth === 0 ? 'complete' : 'open';
    } else if (this.#state === 'empty') {
      if (character.trim() !== '') this.#state = 'other';
    } else if (character === '"') this.#isInString = true;
  }
}
