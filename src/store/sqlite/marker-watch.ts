/** Finds the requests that live long enough to be marked, with one timer for all of them. */
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Recorder } from '../../served-by/recorder.ts';

export type Started = Parameters<Recorder['begin']>[0];

/** A request that ends before this leaves no marker: most do, and cost two steps in a map. */
export const markAfterMs = 200;
/** A request is marked at most this much later. */
export const markLateMs = 100;

/** How a request ended: whether a marker of it may be in the database. */
export type MarkerEnd = 'unmarked' | 'marked';

/** Requests by age in steps of `markLateMs`: no request needs a clock or a timer of its own. */
export class MarkerWatch {
  readonly #clock: Clock;
  readonly #onLong: (started: readonly Started[]) => void;
  #fresh = new Map<string, Started>();
  #older = new Map<string, Started>();
  #oldest = new Map<string, Started>();
  readonly #marked = new Set<string>();
  #cancel: CancelTimer | null = null;

  /** `onLong` is given each request once, when it has lived `markAfterMs`. */
  constructor(clock: Clock, onLong: (started: readonly Started[]) => void) {
    this.#clock = clock;
    this.#onLong = onLong;
  }

  begin(started: Started): void {
    this.#fresh.set(started.id, started);
    if (this.#cancel === null) this.#sweepLater();
  }

  end(id: string): MarkerEnd {
    const isYoung = this.#fresh.delete(id) || this.#older.delete(id) || this.#oldest.delete(id);
    return !isYoung && this.#marked.delete(id) ? 'marked' : 'unmarked';
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #sweepLater(): void {
    this.#cancel = this.#clock.schedule(markLateMs, () => this.#sweep());
  }

  #sweep(): void {
    this.#cancel = null;
    const long = this.#oldest;
    this.#oldest = this.#older;
    this.#older = this.#fresh;
    this.#fresh = new Map();
    if (this.#oldest.size > 0 || this.#older.size > 0) this.#sweepLater();
    if (long.size === 0) return;
    for (const id of long.keys()) this.#marked.add(id);
    this.#onLong([...long.values()]);
  }
}
