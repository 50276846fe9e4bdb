/** How many requests of a tier wait for the first target back: a bounded number, the rest are told at once. */
import type { Tier } from '../routing/snapshot.ts';

export class Waiters {
  readonly #counts = new Map<string, number>();

  /** False when `failover.waiters` of the tier wait already. Whoever entered leaves. */
  enter({ name, failover }: Tier): boolean {
    const count = this.#counts.get(name) ?? 0;
    if (count >= failover.waiters) return false;
    this.#counts.set(name, count + 1);
    return true;
  }

  leave({ name }: Tier): void {
    const left = (this.#counts.get(name) ?? 0) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
  }
}
