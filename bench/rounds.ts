/** Rounds in turn, A B A B: what disturbs the machine for a while disturbs both sides. */
import { type Child, cpuMsOf, generateLoad } from './children.ts';
import type { LoadJob, LoadResult } from './load-job.ts';
import { median } from './statistics.ts';

export type Side = {
  readonly name: string;
  readonly origin: string;
  /** The process whose work is measured; null when it is not asked for. */
  readonly child: Child | null;
};

export type SideFigures = {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the side's process for one request, in microseconds. */
  readonly cpuUs: number;
};

/** Medians over the rounds; `ratio` is the median of each round's own ratio of the last side to the first. */
export type Comparison = {
  readonly sides: ReadonlyMap<string, SideFigures>;
  readonly ratio: number;
  readonly failures: readonly string[];
};

/** By then most of either side is compiled: more code takes longer, which is a cost of the start. */
const warmUpMs = 3_000;

type Round = LoadResult & { readonly cpuMs: number };

/** Runs `job` against each side in turn, `rounds` times, after one short warm-up each. */
export async function compareSides(input: {
  readonly sides: readonly Side[];
  readonly generator: Child;
  readonly job: Omit<LoadJob, 'origin'>;
  readonly rounds: number;
}): Promise<Comparison> {
  const { sides, generator, job } = input;
  const results = new Map<string, Round[]>(sides.map(({ name }) => [name, []]));
  const warmUp = { ...job, durationMs: Math.min(warmUpMs, job.durationMs) };
  for (const { origin } of sides) await generateLoad(generator, { ...warmUp, origin });
  for (let round = 0; round < input.rounds; round += 1) {
    for (const { name, origin, child } of sides) {
      const before = child === null ? Number.NaN : cpuMsOf(child);
      const result = await generateLoad(generator, { ...job, origin });
      const cpuMs = child === null ? Number.NaN : cpuMsOf(child) - before;
      results.get(name)?.push({ ...result, cpuMs });
    }
  }
  return summarise(results);
}

function summarise(results: ReadonlyMap<string, readonly Round[]>): Comparison {
  const sides = new Map<string, SideFigures>();
  const failures: string[] = [];
  for (const [name, rounds] of results) {
    sides.set(name, {
      perSecond: median(rounds.map(perSecond)),
      p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
      cpuUs: median(rounds.map(({ cpuMs, served }) => (cpuMs * 1000) / served)),
    });
    for (const { failed, firstFailure } of rounds) {
      if (failed > 0) failures.push(`${name}: ${failed} requests failed, first: ${firstFailure}`);
    }
  }
  const all = [...results.values()];
  const first = all[0] ?? [];
  const last = all.at(-1) ?? [];
  const ratios = last.map((round, index) => perSecond(round) / perSecond(first[index] ?? round));
  return { sides, ratio: median(ratios), failures };
}

function perSecond({ served, elapsedMs }: LoadResult): number {
  return (served * 1000) / elapsedMs;
}
