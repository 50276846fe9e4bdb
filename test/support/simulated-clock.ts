/** The virtual clock of long simulations: a heap of timers, and one turn of all promises after each. */
import type { CancelTimer, Clock } from '../../src/base/clock.ts';

type Timer = {
  readonly dueMs: number;
  readonly order: number;
  task: (() => void) | null;
  readonly isOwn: boolean;
};

/** More events than any sound run makes: an engine that goes round in circles without time passing. */
const eventsMax = 2_000_000;
/** Node's own work (worker messages) gets a turn now and then. */
const eventsPerBreath = 5_000;

export class SimulatedClock implements Clock {
  readonly #wallStartMs: number;
  readonly #heap: Timer[] = [];
  #nowMs = 0;
  #order = 0;
  #pending = 0;
  #events = 0;

  constructor(wallStartMs = Date.UTC(2026, 0, 1)) {
    this.#wallStartMs = wallStartMs;
  }

  readonly monotonicMs = (): number => this.#nowMs;
  readonly wallMs = (): number => this.#nowMs + this.#wallStartMs;

  readonly schedule = (delayMs: number, task: () => void): CancelTimer => {
    if (!(delayMs < 2 ** 31)) throw new Error(`a timer of ${delayMs} ms`);
    this.#pending += 1;
    const timer = this.#push(this.#nowMs + Math.max(0, delayMs), task, false);
    return () => {
      if (timer.task === null) return;
      timer.task = null;
      this.#pending -= 1;
    };
  };

  /** An event of the world outside, which no leak test counts. */
  at(dueMs: number, task: () => void): void {
    this.#push(Math.max(this.#nowMs, dueMs), task, true);
  }

  /** Timers of the program under test that wait. */
  get pending(): number {
    return this.#pending;
  }

  /** Runs what is due up to `untilMs`, in order, and leaves the clock there; sooner when `isDone` says so. */
  async runUntil(untilMs: number, isDone: () => boolean = () => false): Promise<void> {
    await promisesTurn();
    while (!isDone()) {
      const next = this.#popDue(untilMs);
      if (next === null) {
        if (untilMs !== Number.POSITIVE_INFINITY) this.#nowMs = Math.max(this.#nowMs, untilMs);
        return;
      }
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      this.#run(next);
      await this.#turn();
    }
  }

  #run(timer: Timer): void {
    const { task } = timer;
    timer.task = null;
    if (!timer.isOwn) this.#pending -= 1;
    task?.();
  }

  async #turn(): Promise<void> {
    this.#events += 1;
    if (this.#events > eventsMax) throw new Error(`no end after ${eventsMax} events`);
    if (this.#events % eventsPerBreath === 0) await new Promise((resolve) => setImmediate(resolve));
    else await promisesTurn();
  }

  #push(dueMs: number, task: () => void, isOwn: boolean): Timer {
    const timer = { dueMs, order: this.#order, task, isOwn };
    this.#order += 1;
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above] as Timer;
      if (!isBefore(timer, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = timer;
    return timer;
  }

  #popDue(untilMs: number): Timer | null {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined) return null;
      if (first.task !== null && first.dueMs > untilMs) return null;
      this.#removeFirst();
      if (first.task !== null) return first;
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Timer;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let below = index * 2 + 1;
      if (below >= heap.length) break;
      const right = below + 1;
      if (right < heap.length && isBefore(heap[right] as Timer, heap[below] as Timer))
        below = right;
      if (!isBefore(heap[below] as Timer, last)) break;
      heap[index] = heap[below] as Timer;
      index = below;
    }
    heap[index] = last;
  }
}

function isBefore(left: Timer, right: Timer): boolean {
  return left.dueMs < right.dueMs || (left.dueMs === right.dueMs && left.order < right.order);
}

/** Node runs a tick only when no promise can settle any further. */
function promisesTurn(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
