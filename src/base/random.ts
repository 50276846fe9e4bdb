/** Chance as a value: a decision that draws takes a `Random`, so a seed replays it. */

export type Random = {
  /** Uniform in [0, 1). */
  readonly next: () => number;
};

export const systemRandom: Random = { next: () => Math.random() };

/** mulberry32: the same 32-bit seed gives the same sequence on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next: () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    },
  };
}

/** Uniform in [low, high). */
export function uniform(random: Random, low: number, high: number): number {
  return low + (high - low) * random.next();
}
