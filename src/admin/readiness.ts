/** Whether this process can answer, and what is wrong with what it stands on: the body of `/readyz`. */
import type { HealthRegistry } from '../engine/health-registry.ts';
import type { LiveConfig } from '../routing/live-config.ts';

export type Readiness = {
  readonly status: 'ok' | 'degraded' | 'unavailable';
  /** Status words without addresses or secrets: `/readyz` is open. */
  readonly reasons: readonly string[];
};

/** 503 only when this process cannot answer; all else is `degraded`, so that one fault empties no balancer. */
export function readinessOf(parts: {
  readonly config: LiveConfig;
  readonly health: HealthRegistry;
  /** The kind of the database's fault; null = it can be used. */
  readonly databaseFault: string | null;
  /** Why the log is degraded; null = it is not. */
  readonly logFault: string | null;
  /** The kind of the fault of Redis; null = it can be used, or is not meant to be. */
  readonly redisFault: string | null;
}): Readiness {
  const { config, health, databaseFault, logFault, redisFault } = parts;
  const reasons = [
    databaseFault === null ? null : `database_${databaseFault}`,
    logFault === null ? null : 'log_degraded',
    redisFault === null ? null : `redis_${redisFault}`,
    health.all().some((target) => target.breakerState() !== 'closed') ? 'breaker_open' : null,
    hasUnresolvedSecret(config) ? 'secret_unresolved' : null,
  ].filter((reason) => reason !== null);
  const isRefusing = logFault !== null && config.current().log.onFailure === 'refuse';
  if (isRefusing) return { status: 'unavailable', reasons };
  return { status: reasons.length === 0 ? 'ok' : 'degraded', reasons };
}

function hasUnresolvedSecret(config: LiveConfig): boolean {
  return [...config.current().providers.values()].some(({ keys }) =>
    keys.some((key) => key.resolve() === null),
  );
}
