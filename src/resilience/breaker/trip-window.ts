/** When failures are sustained: the trip rule of 4-resilience, Breaker, over the marks of one target. */
import type { BreakerPolicy } from './breaker.ts';
import { MarkRing } from './mark-ring.ts';

/** So many marks without a success trip whatever the share of failures in the rest of the window. */
const barrenMarks = 20;

/**
 * The marks of one breaker. A mark counts at the time it was made, not when its attempt began, so that
 * a slow failure is not hidden by its own length. Instants are monotonic ms and never fall.
 */
export class TripWindow {
  readonly #successes = new MarkRing();
  readonly #failures = new MarkRing();
  #order = 0;
  /** The longest window that any tier has judged by: older marks can decide nothing. */
  #keptMs = 0;

  /** Returns the mark's number, for `breakSuccess`. */
  addSuccess(atMs: number, policy: BreakerPolicy): number {
    return this.#add(this.#successes, atMs, policy);
  }

  addFailure(atMs: number, policy: BreakerPolicy): void {
    this.#add(this.#failures, atMs, policy);
  }

  /** The success of that number was none: it becomes a failure now. */
  breakSuccess(mark: number, atMs: number, policy: BreakerPolicy): void {
    this.#successes.remove(mark);
    this.addFailure(atMs, policy);
  }

  /** Whether the failures up to `nowMs` are sustained; asked right after a failure was added. */
  isTripped(nowMs: number, policy: BreakerPolicy): boolean {
    const failures = this.#failures.countSince(nowMs - policy.windowMs);
    const successes = this.#successes.countSince(nowMs - policy.windowMs);
    if (failures + successes < policy.failures) return this.#isIdleTripped(nowMs, policy);
    if (failures < policy.failures) return false;
    if (this.#spanMs(failures) < policy.minSpanMs) return false;
    const isRateReached = failures / (failures + successes) >= policy.failureRate;
    return isRateReached || this.#isBarren(failures, successes);
  }

  clear(): void {
    this.#successes.clear();
    this.#failures.clear();
  }

  /** Marks kept; a test reaches the bound. */
  get size(): number {
    return this.#successes.size + this.#failures.size;
  }

  #add(ring: MarkRing, atMs: number, policy: BreakerPolicy): number {
    this.#keptMs = Math.max(this.#keptMs, policy.windowMs, policy.idleWindowMs);
    this.#successes.dropBefore(atMs - this.#keptMs);
    this.#failures.dropBefore(atMs - this.#keptMs);
    this.#order += 1;
    ring.push(atMs, this.#order);
    return this.#order;
  }

  /** From the first to the last of the newest `count` failures. */
  #spanMs(count: number): number {
    const { size } = this.#failures;
    return this.#failures.timeAt(size - 1) - this.#failures.timeAt(size - count);
  }

  /** The newest 20 marks of the window are failures: the 20th newest is younger than any success. */
  #isBarren(failures: number, successes: number): boolean {
    if (failures < barrenMarks) return false;
    if (successes === 0) return true;
    const oldest = this.#failures.orderAt(this.#failures.size - barrenMarks);
    return oldest > this.#successes.orderAt(this.#successes.size - 1);
  }

  /** With too few marks in the window the last ones count, if all are failures and none is too old. */
  #isIdleTripped(nowMs: number, policy: BreakerPolicy): boolean {
    const { size } = this.#failures;
    if (policy.idleWindowMs <= 0 || size < policy.failures) return false;
    const oldest = size - policy.failures;
    if (nowMs - this.#failures.timeAt(oldest) > policy.idleWindowMs) return false;
    if (this.#spanMs(policy.failures) < policy.minSpanMs) return false;
    if (this.#successes.size === 0) return true;
    const newestSuccess = this.#successes.orderAt(this.#successes.size - 1);
    return this.#failures.orderAt(oldest) > newestSuccess;
  }
}
