/** The engine's own health registry, watched: every permit, every change, every listener. */

import type { HealthRegistry } from '../../src/engine/health-registry.ts';
import type { OverrideTable } from '../../src/engine/override-table.ts';
import type { TargetHealth, TargetPermit } from '../../src/engine/target-health.ts';
import type { Target } from '../../src/routing/snapshot.ts';
import type {
  HealthChange,
  Moment,
  Obstacles,
  PermitEnding,
  PermitSeen,
} from './simulated-observation.ts';

type Known = { readonly health: TargetHealth; readonly target: Target };

export class WatchedHealth {
  readonly permits: PermitSeen[] = [];
  readonly changes: HealthChange[] = [];
  /** What the engine is given. */
  readonly registry: HealthRegistry;
  readonly #moment: () => Moment;
  readonly #known = new Map<string, Known>();
  /** Listeners of the engine on the health of targets. */
  listeners = 0;

  readonly #overrides: OverrideTable;

  constructor(inner: HealthRegistry, overrides: OverrideTable, moment: () => Moment) {
    this.#moment = moment;
    this.#overrides = overrides;
    this.registry = {
      ...inner,
      of: (target, tier) => {
        const health = inner.of(target, tier);
        this.#watch(health, target);
        return health;
      },
    };
  }

  get inFlight(): number {
    let sum = 0;
    for (const { health } of this.#known.values()) sum += health.inFlight;
    return sum;
  }

  /** Why each target that was ever asked for cannot be asked now. */
  obstacles(): Obstacles {
    const found: Record<string, string | null> = {};
    for (const [name, known] of this.#known) found[name] = this.#obstacleTo(known);
    return found;
  }

  /** An operator has drained the target, or given it back. */
  noteOverride(name: string): void {
    const known = this.#known.get(name);
    if (known !== undefined) this.#noteChange(known);
  }

  #obstacleTo({ health, target }: Known): string | null {
    const isDrained = this.#overrides.get(health.name, 0)?.state === 'drained';
    return isDrained ? 'drained' : (health.obstacle(target)?.reason ?? null);
  }

  #noteChange(known: Known): void {
    const { health } = known;
    const [obstacle, breaker] = [this.#obstacleTo(known), health.breakerState()];
    this.changes.push({ target: health.name, at: this.#moment(), breaker, obstacle });
  }

  #watch(health: TargetHealth, target: Target): void {
    const { name } = health;
    const isNew = !this.#known.has(name);
    this.#known.set(name, { health, target });
    if (!isNew) return;
    health.onChange(() => this.#noteChange({ health, target }));
    this.#countListeners(health);
    const admit = health.admit.bind(health);
    health.admit = (...asked) => {
      const breakerBefore = health.breakerState();
      const permit = admit(...asked);
      return permit === null ? null : this.#watchPermit(name, asked[1], breakerBefore, permit);
    };
  }

  #countListeners(health: TargetHealth): void {
    const onChange = health.onChange.bind(health);
    health.onChange = (listener) => {
      const stop = onChange(listener);
      let isListening = true;
      this.listeners += 1;
      return () => {
        if (isListening) this.listeners -= 1;
        isListening = false;
        stop();
      };
    };
  }

  #watchPermit(
    target: string,
    key: { readonly alias: string } | null,
    breakerBefore: PermitSeen['breakerBefore'],
    permit: TargetPermit,
  ): TargetPermit {
    const seen: PermitSeen = {
      target,
      key: key?.alias ?? null,
      isProbe: permit.isProbe,
      breakerBefore,
      at: this.#moment(),
      requestId: null,
      endings: [],
    };
    this.permits.push(seen);
    const ends = (how: PermitEnding['how'], act: () => void): void => {
      const at = this.#moment();
      act();
      seen.endings.push({ ...at, how, obstacles: how === 'fail' ? this.obstacles() : {} });
    };
    return {
      ...permit,
      succeed: (...told) => ends('succeed', () => permit.succeed(...told)),
      fail: (...told) => ends('fail', () => permit.fail(...told)),
      abandon: () => ends('abandon', () => permit.abandon()),
      lose: (...told) => ends('lose', () => permit.lose(...told)),
      breakAfterSuccess: (...told) => ends('break', () => permit.breakAfterSuccess(...told)),
    };
  }
}
