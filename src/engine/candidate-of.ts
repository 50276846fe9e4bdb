/** A target as one request, or nobody in particular, meets it now: its health and what an operator decided. */
import type { Clock } from '../base/clock.ts';
import type { AffinityTable } from '../resilience/affinity-table.ts';
import type { Target, Tier } from '../routing/snapshot.ts';
import { inSessionOrder } from './affinity.ts';
import { CandidateState } from './candidate-state.ts';
import type { EngineRequest } from './engine-request.ts';
import type { HealthRegistry } from './health-registry.ts';
import type { OverrideTable } from './override-table.ts';
import { planOf } from './plan.ts';
import type { Skip } from './trace.ts';

export type CandidatePorts = {
  readonly clock: Clock;
  readonly health: HealthRegistry;
  readonly overrides: OverrideTable;
};

export function candidateOf(target: Target, tier: Tier, ports: CandidatePorts): CandidateState {
  const { clock, health, overrides } = ports;
  const override = () => overrides.get(target.id, clock.wallMs());
  return new CandidateState(target, health.of(target, tier), { clock, override });
}

export type Candidates = {
  /** In the order in which they are asked. */
  readonly candidates: readonly CandidateState[];
  readonly skipped: readonly Skip[];
};

/** Who may be asked for `request`: the plan's targets, with the one that its session stays with first. */
export function candidatesOf(
  request: EngineRequest,
  ports: CandidatePorts & { readonly affinity: AffinityTable },
): Candidates {
  const { targets, skipped } = planOf(request);
  const planned = targets.map((target) => candidateOf(target, request.tier, ports));
  const nowMs = ports.clock.monotonicMs();
  return { candidates: inSessionOrder(planned, request, ports.affinity, nowMs), skipped };
}
