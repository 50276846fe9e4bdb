/** How large a share of each target's attempts lately succeeded: what an operator looks at first. */
import type { Clock } from '../base/clock.ts';
import type { AttemptTrace, RequestTrace } from '../engine/trace.ts';
import { effectOf } from '../failure/effects.ts';

type Mark = { readonly isSuccess: boolean; readonly atMs: number };

const marksMax = 100;
const keptMs = 10 * 60_000;
/** Configs come and go: the target that was asked least lately is forgotten first. */
const targetsMax = 1000;

export class SuccessRates {
  readonly #clock: Clock;
  /** Oldest mark first; the target asked last is last. */
  readonly #marks = new Map<string, Mark[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A request has ended: each of its attempts that says something of its target leaves a mark. */
  note({ attempts }: RequestTrace): void {
    const atMs = this.#clock.monotonicMs();
    for (const attempt of attempts) {
      const isSuccess = markOf(attempt);
      if (isSuccess === null) continue;
      const name = nameOf(attempt);
      const marks = this.#marks.get(name) ?? [];
      marks.push({ isSuccess, atMs });
      if (marks.length > marksMax) marks.shift();
      this.#marks.delete(name);
      this.#marks.set(name, marks);
      if (this.#marks.size > targetsMax) this.#marks.delete([...this.#marks.keys()][0] ?? '');
    }
  }

  /** From 0 to 1, of at most 100 attempts of the last 10 minutes; null = there were none. */
  rate(target: { readonly provider: string; readonly model: string }): number | null {
    const sinceMs = this.#clock.monotonicMs() - keptMs;
    const marks = (this.#marks.get(nameOf(target)) ?? []).filter(({ atMs }) => atMs >= sinceMs);
    if (marks.length === 0) return null;
    return marks.filter(({ isSuccess }) => isSuccess).length / marks.length;
  }
}

function nameOf({ provider, model }: { readonly provider: string; readonly model: string }) {
  return `${provider}/${model}`;
}

/** As the breaker counts: a request's own fault and a client that left say nothing. */
function markOf({ outcome, failure }: AttemptTrace): boolean | null {
  if (outcome === 'served') return true;
  if (outcome !== 'failed' || failure === null) return null;
  return effectOf(failure).countsForBreaker ? false : null;
}
