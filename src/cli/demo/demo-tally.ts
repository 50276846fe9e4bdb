/** What the demo has seen so far: counts, latencies and who served when. */
import type { BreakerWord, DemoAnswer } from './demo-gateway.ts';

/** Length of one column of the time line. */
export const columnMs = 500;

/** One column of a target's time line. */
export type Column = { readonly answers: number; readonly isBreakerClosed: boolean };

export type TargetTally = {
  readonly target: string;
  readonly served: number;
  /** Of the last answers; null when there are none. */
  readonly medianMs: number | null;
  /** What happened in each `columnMs` from the start. */
  readonly columns: readonly Column[];
};

export type DemoTally = {
  readonly record: (answer: DemoAnswer, endedAtMs: number) => void;
  readonly recordBreaker: (target: string, word: BreakerWord, atMs: number) => void;
  readonly byTarget: () => readonly TargetTally[];
  readonly totals: () => {
    readonly answered: number;
    readonly failed: number;
    readonly retries: number;
    readonly failovers: number;
    readonly slowestMs: number;
  };
  /** The target of the newest answer, and since when it has served without another between. */
  readonly serving: () => { readonly target: string; readonly sinceMs: number } | null;
};

const recentAnswers = 10;

/** `targets` in the tier's order; an answer of any other target is counted in the totals alone. */
export function demoTally(targets: readonly string[]): DemoTally {
  const columns = new Map<string, Column[]>(targets.map((target) => [target, []]));
  const latencies = new Map<string, number[]>(targets.map((target) => [target, []]));
  let totals = { answered: 0, failed: 0, retries: 0, failovers: 0, slowestMs: 0 };
  let serving: { target: string; sinceMs: number } | null = null;
  const change = (target: string, atMs: number, changed: (column: Column) => Column): void => {
    const line = columns.get(target);
    if (line === undefined) return;
    const at = Math.floor(atMs / columnMs);
    while (line.length <= at) line.push({ answers: 0, isBreakerClosed: true });
    line[at] = changed(line[at] ?? { answers: 0, isBreakerClosed: true });
  };

  return {
    recordBreaker: (target, word, atMs) =>
      change(target, atMs, ({ answers }) => ({ answers, isBreakerClosed: word === 'closed' })),
    record: (answer, endedAtMs) => {
      const retries = Math.max(0, answer.attempts - 1 - answer.failovers);
      totals = {
        answered: totals.answered + (answer.isServed ? 1 : 0),
        failed: totals.failed + (answer.isServed ? 0 : 1),
        retries: totals.retries + retries,
        failovers: totals.failovers + answer.failovers,
        slowestMs: Math.max(totals.slowestMs, answer.latencyMs),
      };
      if (answer.target === null) return;
      if (serving?.target !== answer.target) {
        serving = { target: answer.target, sinceMs: endedAtMs };
      }
      latencies.get(answer.target)?.push(answer.latencyMs);
      change(answer.target, endedAtMs, (column) => ({ ...column, answers: column.answers + 1 }));
    },
    byTarget: () =>
      targets.map((target) => ({
        target,
        served: (latencies.get(target) ?? []).length,
        medianMs: medianOf((latencies.get(target) ?? []).slice(-recentAnswers)),
        columns: columns.get(target) ?? [],
      })),
    totals: () => totals,
    serving: () => serving,
  };
}

export function medianOf(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
