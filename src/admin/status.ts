/** `GET /admin/v1/status`: every target of the config in force, with what is known of its health. */
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { HealthRegistry } from '../engine/health-registry.ts';
import type { Override, OverrideTable } from '../engine/override-table.ts';
import type { Snapshot, Target, Tier } from '../routing/snapshot.ts';

export type StatusPorts = {
  readonly snapshot: Snapshot;
  readonly health: HealthRegistry;
  readonly overrides: OverrideTable;
  readonly clock: Clock;
  readonly inFlight: number;
  /** Of the store through which breakers are shared, as it is shown; null = they are not. */
  readonly sharedState: JsonObject | null;
  /** Totals of this process, as `Counters` gives them. */
  readonly counters: JsonObject;
  /** Open alerts, as they are shown. */
  readonly alerts: readonly JsonObject[];
  /** How often each shape of error came that no dialect knows. */
  readonly unknownShapes: ReadonlyMap<string, number>;
  /** From 0 to 1; null = unknown. */
  readonly successRate: (target: {
    readonly provider: string;
    readonly model: string;
  }) => number | null;
};

export function statusOf(ports: StatusPorts): JsonObject {
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
    alerts: ports.alerts,
    shared_state: ports.sharedState,
    unknown_shapes: Object.fromEntries(ports.unknownShapes),
  };
}

/** An override as the control plane shows it. */
export function overrideView(override: Override | null): JsonObject {
  if (override === null) return { state: 'auto', until: null, note: null };
  const { state, untilMs, note } = override;
  return { state, until: untilMs === null ? null : new Date(untilMs).toISOString(), note };
}

function targetStatus(target: Target, tier: Tier, ports: StatusPorts): JsonObject {
  const { overrides, clock } = ports;
  const known = ports.health.of(target, tier);
  const view = known.breakerView();
  const obstacle = known.obstacle(target);
  const until = (reason: string): string | null =>
    obstacle?.reason === reason ? instant(obstacle.untilMs, clock) : null;
  const latency = known.percentilesMs('streamed') ?? known.percentilesMs('whole');
  const { model } = target;
  const provider = target.provider.name;
  return {
    id: target.id,
    provider,
    model,
    breaker: {
      state: view.state,
      reason: view.reason,
      next_probe_at: instant(view.nextProbeAtMs, clock),
    },
    cooldown_until: until('cooling'),
    parked_until: until('parked'),
    in_flight: known.inFlight,
    success_rate: ports.successRate({ provider, model }),
    p50_ms: latency?.p50Ms ?? null,
    p95_ms: latency?.p95Ms ?? null,
    retry_budget: known.retryTokens(tier),
    override: overrideView(overrides.get(target.id, clock.wallMs())),
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
