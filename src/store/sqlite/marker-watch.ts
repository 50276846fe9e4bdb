/** Finds the requests that live long enough to be marked, with one timer for all of them. */
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Recorder } from '../../served-by/recorder.ts';

export type Started = Parameters<Recorder['begin']>[0];

/** A request that ends before this leaves no marker: most do, and cost two entries in a map. */
export const markAfterMs = 200;
const sweepEveryMs = 50;

/** How a request ended: whether a marker of it may be in the database. */
export type MarkerEnd = 'unmarked' | 'marked';

export class MarkerWatch {
  readonly #clock: Clock;
  readonly #onLong: (started: readonly Started[]) => void;
  /** In the order of arrival: the first is the oldest. */
  readonly #young = new Map<string, { readonly started: Started; readonly atMs: number }>();
  readonly #marked = new Set<string>();
  #cancel: CancelTimer | null = null;

  /** `onLong` is given each request once, when it has lived `markAfterMs`. */
  constructor(clock: Clock, onLong: (started: readonly Started[]) => void) {
    this.#clock = clock;
    this.#onLong = onLong;
  }

  begin(started: Started): void {
    this.#young.set(started.id, { started, atMs: this.#clock.monotonicMs() });
    this.#cancel ??= this.#clock.schedule(sweepEveryMs, () => this.#sweep());
  }

  end(id: string): MarkerEnd {
    if (this.#young.delete(id)) return 'unmarked';
    return this.#marked.delete(id) ? 'marked' : 'unmarked';
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #sweep(): void {
    this.#cancel = null;
    const nowMs = this.#clock.monotonicMs();
    const long: Started[] = [];
    for (const [id, { started, atMs }] of this.#young) {
      if (nowMs - atMs < markAfterMs) break;
      this.#young.delete(id);
      this.#marked.add(id);
      long.push(started);
    }
    if (this.#young.size > 0) {
      this.#cancel = this.#clock.schedule(sweepEveryMs, () => this.#sweep());
    }
    if (long.length > 0) this.#onLong(long);
  }
}
