/** Draws for schedules. */
import type { Random } from '../../src/base/random.ts';

/** A whole number in [0, count). */
export function below(random: Random, count: number): number {
  return Math.floor(random.next() * count);
}

export function pick<const Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[below(random, items.length)] ?? items[0];
}

export function isChosen(random: Random, share: number): boolean {
  return random.next() < share;
}

/** Small values as often as large ones. */
export function logUniform(random: Random, low: number, high: number): number {
  return low * (high / low) ** random.next();
}
