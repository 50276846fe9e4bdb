/** The health of every provider's model that this process has asked, kept over config versions. */
import type { Target, Tier } from '../routing/snapshot.ts';
import { HedgeBudgets } from './hedge-budgets.ts';
import { type HealthPorts, TargetHealth } from './target-health.ts';
import { Waiters } from './waiters.ts';

export type HealthRegistry = {
  readonly of: (target: Target, tier: Tier) => TargetHealth;
  readonly all: () => readonly TargetHealth[];
  /** A request of `tier` has come in: its share of a hedge is deposited. */
  readonly noteRequest: (tier: Tier) => void;
  /** Takes one hedge from the tier's budget; false = there is none left. */
  readonly drawHedge: (tier: Tier) => boolean;
  /** Requests that wait for the first target back. */
  readonly waiters: Waiters;
  readonly close: () => void;
};

export function createHealthRegistry(ports: HealthPorts): HealthRegistry {
  const known = new Map<string, TargetHealth>();
  const hedges = new HedgeBudgets();
  const waiters = new Waiters();
  return {
    of: (target, tier) => {
      const name = healthName(target);
      const found = known.get(name);
      if (found !== undefined) return found.under(target.concurrency);
      const made = new TargetHealth(name, ports, tier, target.concurrency);
      known.set(name, made);
      return made;
    },
    all: () => [...known.values()],
    noteRequest: (tier) => hedges.deposit(tier, ports.clock.monotonicMs()),
    drawHedge: (tier) => hedges.draw(tier, ports.clock.monotonicMs()),
    waiters,
    close: () => {
      for (const health of known.values()) health.close();
      known.clear();
    },
  };
}

/** How well tokens are counted says nothing about how well they are written. */
function healthName({ provider, model }: Target): string {
  const name = `${provider.name}/${model}`;
  return provider.dialect.operation === 'count_tokens' ? `${name}:count_tokens` : name;
}
