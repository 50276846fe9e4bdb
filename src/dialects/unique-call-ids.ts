/** Ids of tool calls for dialects that take a small alphabet, and no two calls with the same id. */
import { createHash } from 'node:crypto';

/** One per request. The same conversation gives the same ids, whatever follows it. */
export class UniqueCallIds {
  readonly #accepted: RegExp;
  readonly #prefix: string;
  readonly #seen = new Map<string, number>();

  /** `prefix` begins the ids that are made here. */
  constructor({ accepted, prefix }: { readonly accepted: RegExp; readonly prefix: string }) {
    this.#accepted = accepted;
    this.#prefix = prefix;
  }

  /**
   * The id to write for the next call whose id is `id`: itself where it is accepted and new, else the
   * prefix and a hash of it and of how often it came before.
   */
  next(id: string): string {
    const earlier = this.#seen.get(id) ?? 0;
    this.#seen.set(id, earlier + 1);
    if (earlier === 0 && this.#accepted.test(id)) return id;
    const digest = createHash('sha256').update(`${earlier}:${id}`).digest('base64url');
    return `${this.#prefix}${digest.slice(0, 24)}`;
  }
}
