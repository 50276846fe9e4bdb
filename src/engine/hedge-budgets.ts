/** One hedge budget a tier, kept over config versions that name it. */
import {
  depositRequest,
  type HedgeBudget,
  openHedgeBudget,
  withdrawHedge,
} from '../resilience/hedge-budget.ts';
import type { Tier } from '../routing/snapshot.ts';

export class HedgeBudgets {
  readonly #budgets = new Map<string, HedgeBudget>();

  deposit({ name, hedge }: Tier, nowMs: number): void {
    if (hedge === null) return;
    const budget = this.#budgets.get(name) ?? openHedgeBudget(hedge, nowMs);
    this.#budgets.set(name, depositRequest(budget, hedge, nowMs));
  }

  retain(tiers: ReadonlyMap<string, Tier>): void {
    for (const name of this.#budgets.keys()) if (!tiers.has(name)) this.#budgets.delete(name);
  }

  draw({ name, hedge }: Tier, nowMs: number): boolean {
    if (hedge === null) return false;
    const budget = this.#budgets.get(name) ?? openHedgeBudget(hedge, nowMs);
    const drawn = withdrawHedge(budget, hedge, nowMs);
    this.#budgets.set(name, drawn.budget);
    return drawn.isAllowed;
  }
}
