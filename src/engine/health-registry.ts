/** The health of every provider's model that this process has asked, kept over config versions that name it. */
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
  /** Another config is in force: what it no longer names is forgotten, unless a request still has to do with it. */
  readonly retain: (tiers: ReadonlyMap<string, Tier>) => void;
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
    retain: (tiers) => {
      hedges.retain(tiers);
      const named = new Set(
        [...tiers.values()].flatMap(({ targets }) => targets.flatMap(healthNames)),
      );
      for (const [name, health] of known) {
        if (named.has(name) || !health.isIdle) continue;
        health.close();
        known.delete(name);
      }
    },
    close: () => {
      for (const health of known.values()) health.close();
      known.clear();
    },
  };
}

/** How well tokens are counted says nothing about how well they are written: the second name is for that. */
function healthNames({ provider, model }: Target): readonly [string, string] {
  const name = `${provider.name}/${model}`;
  return [name, `${name}:count_tokens`];
}

function healthName(target: Target): string {
  const [name, counting] = healthNames(target);
  return target.provider.dialect.operation === 'count_tokens' ? counting : name;
}
