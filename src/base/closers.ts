/** What has been started so far, closed in reverse order: on a failed start, and at the end. */
export class Closers {
  readonly #closers: (() => Promise<void> | void)[] = [];

  add(close: () => Promise<void> | void): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}
