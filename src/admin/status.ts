/** `GET /admin/v1/status`: every target of the config in force, with what is known of its health. */
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { OverrideTable } from '../engine/override-table.ts';
import type { HealthRegistry } from '../engine/target-health.ts';
import type { Snapshot, Target, Tier } from '../routing/snapshot.ts';

export function statusOf(ports: {
  readonly snapshot: Snapshot;
  readonly health: HealthRegistry;
  readonly overrides: OverrideTable;
  /** Totals of this process, as `Counters` gives them. */
  readonly counters: JsonObject;
  readonly clock: Clock;
  readonly inFlight: number;
}): JsonObject {
  const { snapshot } = ports;
  const seen = new Map<string, JsonObject>();
  for (const tier of snapshot.tiers.values()) {
    for (const target of tier.targets) {
      if (!seen.has(target.id)) seen.set(target.id, targetStatus(target, tier, ports));
    }
  }
  return {
    config_version: snapshot.version,
    targets: [...seen.values()],
    totals: { in_flight: ports.inFlight, ...ports.counters },
  };
}

function targetStatus(
  target: Target,
  tier: Tier,
  {
    health,
    overrides,
    clock,
  }: {
    readonly health: HealthRegistry;
    readonly overrides: OverrideTable;
    readonly clock: Clock;
  },
): JsonObject {
  const known = health.of(target, tier);
  const view = known.breakerView();
  const obstacle = known.obstacle(target);
  const until = (reason: string): string | null =>
    obstacle?.reason === reason ? instant(obstacle.untilMs, clock) : null;
  return {
    id: target.id,
    provider: target.provider.name,
    model: target.model,
    breaker: {
      state: view.state,
      reason: view.reason,
      next_probe_at: instant(view.nextProbeAtMs, clock),
    },
    cooldown_until: until('cooling'),
    parked_until: until('parked'),
    in_flight: known.inFlight,
    p50_ms: known.percentilesMs('streamed')?.p50Ms ?? known.percentilesMs('whole')?.p50Ms ?? null,
    p95_ms: known.percentilesMs('streamed')?.p95Ms ?? known.percentilesMs('whole')?.p95Ms ?? null,
    retry_budget: known.retryTokens(tier),
    override: overrides.get(target.id, clock.wallMs())?.state ?? 'auto',
    keys: target.provider.keys.map(({ alias, resolve }) => ({
      alias,
      state: resolve() === null ? 'unresolved' : known.keyState(alias),
    })),
  };
}

/** RFC 3339 of an instant on the monotonic clock. */
function instant(atMs: number | null, clock: Clock): string | null {
  if (atMs === null) return null;
  return new Date(clock.wallMs() + atMs - clock.monotonicMs()).toISOString();
}
