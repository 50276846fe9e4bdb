/** How long a target's successes of the last ten minutes took, streamed and whole apart. */

/** Streamed: to the first content. Whole: the whole reply. */
export type LatencyKind = 'streamed' | 'whole';

/** In ms, by nearest rank. */
export type Percentiles = {
  readonly count: number;
  readonly p10Ms: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
};

const keptMs = 10 * 60_000;
const samplesMax = 512;
const samplesMin = 20;
/** A sorted view is kept this long: the figures move slowly, attempts do not. */
const freshMs = 1_000;

type Sample = { readonly atMs: number; readonly tookMs: number };

class SampleRing {
  readonly #samples: Sample[] = [];
  #next = 0;
  #cached: { readonly atMs: number; readonly value: Percentiles | null } | null = null;

  add(sample: Sample): void {
    this.#samples[this.#next] = sample;
    this.#next = (this.#next + 1) % samplesMax;
    if (this.#cached?.value === null) this.#cached = null;
  }

  percentiles(nowMs: number): Percentiles | null {
    if (this.#cached !== null && nowMs - this.#cached.atMs < freshMs) return this.#cached.value;
    const value = percentilesOf(this.#samples, nowMs);
    this.#cached = { atMs: nowMs, value };
    return value;
  }
}

function percentilesOf(samples: readonly Sample[], nowMs: number): Percentiles | null {
  const tookMs = samples
    .filter((sample) => nowMs - sample.atMs <= keptMs)
    .map((sample) => sample.tookMs)
    .sort((left, right) => left - right);
  if (tookMs.length < samplesMin) return null;
  const rank = (share: number): number => tookMs[Math.ceil(share * tookMs.length) - 1] ?? 0;
  return {
    count: tookMs.length,
    p10Ms: rank(0.1),
    p50Ms: rank(0.5),
    p95Ms: rank(0.95),
    p99Ms: rank(0.99),
  };
}

/** The last 512 successes of each kind; instants are monotonic ms. */
export class LatencyRecord {
  readonly #rings = { streamed: new SampleRing(), whole: new SampleRing() };

  record(kind: LatencyKind, tookMs: number, nowMs: number): void {
    this.#rings[kind].add({ atMs: nowMs, tookMs });
  }

  /** Null while fewer than 20 successes of the last 10 minutes are known. At most 1 s old. */
  percentiles(kind: LatencyKind, nowMs: number): Percentiles | null {
    return this.#rings[kind].percentiles(nowMs);
  }
}
