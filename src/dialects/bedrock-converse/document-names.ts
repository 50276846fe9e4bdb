/** Names of documents as the service takes them: few characters, and no two the same in one request. */

const charactersMax = 200;

/** One per request. The same conversation gives the same names. */
export class DocumentNames {
  readonly #counts = new Map<string, number>();

  /** From the client's file name, or a neutral one. */
  next(filename: string | null): string {
    const base = (filename ?? '')
      .replace(/\.[A-Za-z0-9]{1,8}$/, '')
      .replaceAll(/[^A-Za-z0-9\s()[\]-]+/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
      .slice(0, charactersMax - 8)
      .trim();
    const name = base === '' ? 'document' : base;
    const count = (this.#counts.get(name.toLowerCase()) ?? 0) + 1;
    this.#counts.set(name.toLowerCase(), count);
    return count === 1 ? name : this.#unique(`${name} (${count})`);
  }

  /** A file may be called what a second one of another name was called here. */
  #unique(name: string): string {
    const isTaken = this.#counts.has(name.toLowerCase());
    return isTaken ? this.next(name) : this.#taken(name);
  }

  #taken(name: string): string {
    this.#counts.set(name.toLowerCase(), 1);
    return name;
  }
}
