/** Ids of tool calls as this dialect takes them: a small alphabet, and no two calls with the same one. */
import { createHash } from 'node:crypto';

/** Ids that begin with `tgs_` carry what another vendor signed: none of this dialect's business. */
const accepted = /^(?!tgs_)[a-zA-Z0-9_-]{1,64}$/;

/** One per request. The same conversation gives the same ids, whatever follows it. */
export class ToolCallIds {
  readonly #seen = new Map<string, number>();

  /**
   * The id to write for the next call whose id is `id`: itself where it is valid, short and new,
   * else `toolu_` and a hash of it and of how often it came before.
   */
  next(id: string): string {
    const earlier = this.#seen.get(id) ?? 0;
    this.#seen.set(id, earlier + 1);
    if (earlier === 0 && accepted.test(id)) return id;
    const digest = createHash('sha256').update(`${earlier}:${id}`).digest('base64url');
    return `toolu_${digest.slice(0, 24)}`;
  }
}
