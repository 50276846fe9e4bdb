/** One timer that follows a due time which mostly moves later: a stream re-arms it for free. */
import type { CancelTimer, Clock } from './clock.ts';

export class Watchdog {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #dueMs: number | null = null;
  #timerMs = 0;
  #cancel: CancelTimer | null = null;

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Fires once at `dueMs` (monotonic). A later due time keeps the running timer, which then waits on. */
  arm(dueMs: number): void {
    this.#dueMs = dueMs;
    if (this.#cancel !== null && this.#timerMs <= dueMs) return;
    this.#start(dueMs);
  }

  disarm(): void {
    this.#dueMs = null;
  }

  /** Frees the timer; to be called when nothing is watched any more. */
  close(): void {
    this.#dueMs = null;
    this.#cancel?.();
    this.#cancel = null;
  }

  #start(dueMs: number): void {
    this.#cancel?.();
    this.#timerMs = dueMs;
    this.#cancel = this.#clock.schedule(dueMs - this.#clock.monotonicMs(), () => this.#check());
  }

  #check(): void {
    this.#cancel = null;
    if (this.#dueMs === null) return;
    if (this.#clock.monotonicMs() < this.#dueMs) {
      this.#start(this.#dueMs);
      return;
    }
    this.#dueMs = null;
    this.#onDue();
  }
}
