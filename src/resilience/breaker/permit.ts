/** The permit that every breaker issues: each of its methods counts once. */
import type { BreakerPolicy, Permit } from './breaker.ts';

/** What a permit stands for. `epoch` is the state it was issued in, `probe` its number as a probe. */
export type Ticket = { readonly epoch: number; readonly probe: number | null };

export type Mark = Parameters<Permit['settle']>[0];

/** The breaker's side of a permit. */
export type Judge = {
  /** Returns the number of the success mark, null for any other mark. */
  readonly settled: (ticket: Ticket, mark: Mark, policy: BreakerPolicy) => number | null;
  readonly broken: (ticket: Ticket, successMark: number, policy: BreakerPolicy) => void;
};

export function issuePermit(ticket: Ticket, judge: Judge): Permit {
  let isSettled = false;
  let successMark: number | null = null;
  return {
    isProbe: ticket.probe !== null,
    settle: (mark, policy) => {
      if (isSettled) return;
      isSettled = true;
      successMark = judge.settled(ticket, mark, policy);
    },
    breakAfterSuccess: (policy) => {
      if (successMark === null) return;
      const mark = successMark;
      successMark = null;
      judge.broken(ticket, mark, policy);
    },
  };
}

/** Who is told after a change of state. */
export class Listeners<Value> {
  readonly #listeners = new Set<(value: Value) => void>();

  add(listener: (value: Value) => void): () => void {
    // A wrapper of its own, so that one function added twice can be taken away once.
    const entry = (value: Value): void => listener(value);
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  tell(value: Value): void {
    for (const listener of [...this.#listeners]) listener(value);
  }

  clear(): void {
    this.#listeners.clear();
  }
}
