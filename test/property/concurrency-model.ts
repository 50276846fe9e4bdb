/**
 * The concurrency limit as its rules are written, on plain lists and without promises. It shares no code
 * with what it is compared to.
 */
import type { ConcurrencyPolicy, SlotOutcome } from '../../src/resilience/concurrency-limit.ts';

export type ModelResult = 'slot' | 'full' | 'timeout' | 'aborted' | 'waits';

type Held = { readonly id: number; readonly sinceMs: number; readonly others: number };

export class ConcurrencyModel {
  limit: number;
  nowMs = 0;
  readonly results: ModelResult[] = [];
  held: Held[] = [];
  queue: { readonly id: number; readonly dueMs: number }[] = [];
  #policy: ConcurrencyPolicy;
  #round = 0;
  #loweredAtMs = Number.NEGATIVE_INFINITY;

  constructor(policy: ConcurrencyPolicy) {
    this.#policy = policy;
    this.limit = policy.maxConcurrent;
  }

  get isFull(): boolean {
    return !this.#isFree && !this.#isRoom;
  }

  acquire(): void {
    const id = this.results.push('waits') - 1;
    if (this.#isFree) this.#hold(id);
    else if (this.#isRoom) this.queue.push({ id, dueMs: this.nowMs + this.#policy.queueWaitMs });
    else this.results[id] = 'full';
  }

  abort(id: number): void {
    if (this.results[id] !== 'waits') return;
    this.results[id] = 'aborted';
    this.queue = this.queue.filter((waiting) => waiting.id !== id);
  }

  release(id: number, outcome: SlotOutcome): void {
    const held = this.held.find((slot) => slot.id === id);
    if (held === undefined) return;
    const isNews = held.sinceMs > this.#loweredAtMs;
    if (outcome === 'overloaded' && isNews && this.nowMs >= this.#loweredAtMs + 1_000) {
      const inFlight = Math.max(held.others + 1, this.held.length);
      this.limit = this.#bounded(Math.floor(Math.min(this.limit, inFlight) * 0.7));
      this.#loweredAtMs = this.nowMs;
      this.#round = 0;
    }
    if (outcome === 'success' && isNews && this.limit < this.#policy.maxConcurrent) {
      this.#round += 1;
      if (this.#round >= this.limit || this.#round >= 32) {
        this.limit += 1;
        this.#round = 0;
      }
    }
    this.held = this.held.filter((slot) => slot !== held);
    this.#admit();
  }

  configure(policy: ConcurrencyPolicy): void {
    const isUntouched = this.limit >= this.#policy.maxConcurrent;
    this.#policy = policy;
    this.limit = this.#bounded(isUntouched ? policy.maxConcurrent : this.limit);
    this.#admit();
  }

  advance(byMs: number): void {
    this.nowMs += byMs;
    for (const { id } of this.queue.filter(({ dueMs }) => dueMs <= this.nowMs)) {
      this.results[id] = 'timeout';
    }
    this.queue = this.queue.filter(({ dueMs }) => dueMs > this.nowMs);
  }

  get #isFree(): boolean {
    return this.held.length < this.limit && this.queue.length === 0;
  }

  get #isRoom(): boolean {
    return this.#policy.queueWaitMs > 0 && this.queue.length < this.#policy.queueMax;
  }

  #bounded(limit: number): number {
    const { minConcurrent, maxConcurrent } = this.#policy;
    return limit > maxConcurrent ? maxConcurrent : Math.max(limit, minConcurrent);
  }

  #hold(id: number): void {
    this.results[id] = 'slot';
    this.held.push({ id, sinceMs: this.nowMs, others: this.held.length });
  }

  #admit(): void {
    while (this.held.length < this.limit) {
      const first = this.queue.shift();
      if (first === undefined) return;
      this.#hold(first.id);
    }
  }
}
