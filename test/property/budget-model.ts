/** The retry budget as its rules are written, in thousandths of a token. It shares no code with the product. */
import type { RetryBudgetPolicy } from '../../src/resilience/retry-budget.ts';

export type BudgetEvent =
  | { readonly kind: 'ask' | 'retry' }
  | { readonly kind: 'advance'; readonly byMs: number }
  | { readonly kind: 'config'; readonly policy: RetryBudgetPolicy };

export class BudgetModel {
  readonly balance: number;
  /** Of the time to come, so much has been paid for by first asks: it adds nothing. */
  readonly #paidMs: number;
  /** Time that no event has looked at yet: it counts by the settings of the one that does. */
  readonly #unseenMs: number;

  constructor(balance: number, paidMs = 0, unseenMs = 0) {
    this.balance = balance;
    this.#paidMs = paidMs;
    this.#unseenMs = unseenMs;
  }

  static open({ max }: RetryBudgetPolicy): BudgetModel {
    return new BudgetModel(1_000 * Math.min(10, max));
  }

  pass(ms: number): BudgetModel {
    return new BudgetModel(this.balance, this.#paidMs, this.#unseenMs + ms);
  }

  /** As an event under `policy` finds it. */
  seen({ minPerSecond, max }: RetryBudgetPolicy): BudgetModel {
    if (minPerSecond === 0) return new BudgetModel(this.balance);
    const unpaidMs = Math.max(0, this.#unseenMs - this.#paidMs);
    const paidMs = Math.max(0, this.#paidMs - this.#unseenMs);
    return new BudgetModel(Math.min(1_000 * max, this.balance + unpaidMs * minPerSecond), paidMs);
  }

  ask(policy: RetryBudgetPolicy): BudgetModel {
    const { ratio, minPerSecond, max } = policy;
    const found = this.seen(policy);
    const worthMs = minPerSecond === 0 ? 0 : (1_000 * ratio) / minPerSecond;
    const balance = Math.min(1_000 * max, found.balance + 1_000 * ratio);
    return new BudgetModel(balance, Math.min(1_000, found.#paidMs + worthMs));
  }

  /** Null: refused, and then only the time is settled. */
  retry(policy: RetryBudgetPolicy): BudgetModel | null {
    const found = this.seen(policy);
    if (found.balance < 1_000) return null;
    return new BudgetModel(found.balance - 1_000, found.#paidMs);
  }
}
