/** A target as one request, or nobody in particular, meets it now: its health and what an operator decided. */
import type { Clock } from '../base/clock.ts';
import type { Target, Tier } from '../routing/snapshot.ts';
import { CandidateState } from './candidate-state.ts';
import type { OverrideTable } from './override-table.ts';
import type { HealthRegistry } from './target-health.ts';

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
