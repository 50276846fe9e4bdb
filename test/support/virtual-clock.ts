/** A clock that stands still until a test moves it. */
import type { CancelTimer, Clock } from '../../src/base/clock.ts';

type Timer = { readonly dueMs: number; readonly order: number; readonly task: () => void };

export class VirtualClock implements Clock {
  #nowMs = 0;
  #order = 0;
  #wallOffsetMs: number;
  readonly #timers = new Set<Timer>();

  constructor(wallStartMs = Date.UTC(2026, 0, 1)) {
    this.#wallOffsetMs = wallStartMs;
  }

  readonly monotonicMs = (): number => this.#nowMs;
  readonly wallMs = (): number => this.#nowMs + this.#wallOffsetMs;

  readonly schedule = (delayMs: number, task: () => void): CancelTimer => {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, task };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** Timers that wait; a leak test counts them. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves the wall clock alone, as an operator or NTP would. */
  stepWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Moves time on, running due timers in order and letting promises settle after each. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    await settle();
    for (let next = this.#next(untilMs); next !== null; next = this.#next(untilMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      this.#timers.delete(next);
      next.task();
      await settle();
    }
    this.#nowMs = untilMs;
  }

  #next(untilMs: number): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.#timers) {
      if (timer.dueMs > untilMs) continue;
      if (
        first === null ||
        timer.dueMs < first.dueMs ||
        (timer.dueMs === first.dueMs && timer.order < first.order)
      ) {
        first = timer;
      }
    }
    return first;
  }
}

/** Lets every promise that can settle without time do so. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
