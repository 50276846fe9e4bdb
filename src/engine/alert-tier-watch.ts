/** Tiers that live on their fallback, and tiers that nobody can serve: two alerts, each raised and ended here. */
import type { Clock } from '../base/clock.ts';
import type { ErrorClass } from '../failure/attempt-failure.ts';
import type { Target, Tier } from '../routing/snapshot.ts';
import type { Alerts } from './alerts.ts';
import { type CandidatePorts, candidateOf } from './candidate-of.ts';
import type { Obstacle } from './history.ts';
import type { RequestTrace } from './trace.ts';

const fallbackMs = 5 * 60_000;

/** A target passed over for one of these could not serve; for any other it did not suit the request. */
const unwell: ReadonlySet<string> = new Set(['open', 'cooling', 'parked', 'drained', 'full']);
/** Failures that say nothing of the target. */
const requestFaults: ReadonlySet<ErrorClass> = new Set([
  'context_length',
  'invalid_request',
  'content_policy',
  'poisoned',
  'client_gone',
]);

export type TierWatchPorts = CandidatePorts & { readonly alerts: Alerts; readonly clock: Clock };

/** The first target of a tier, and since when (monotonic ms) it does not serve. */
type Absence = { readonly target: string; readonly sinceMs: number };

export class TierWatch {
  readonly #ports: TierWatchPorts;
  /** By tier; of a tier whose first target serves there is none. */
  readonly #absences = new Map<string, Absence>();
  readonly #stranded = new Set<string>();

  constructor(ports: TierWatchPorts) {
    this.#ports = ports;
  }

  /** A request of `tier` has ended. */
  noteEnd(tier: Tier, trace: RequestTrace): void {
    const [first] = tier.targets;
    if (first === undefined) return;
    switch (showing(first, trace)) {
      case 'serves':
        this.#present(tier.name);
        break;
      case 'fails':
        this.#absent(tier, first, trace.id);
        break;
      case 'nothing':
        break;
    }
    if (trace.outcome !== 'served' || this.#stranded.has(tier.name)) {
      this.#lookForTarget(tier, trace.id);
    }
  }

  /** Every tier as it stands now. */
  look(tiers: ReadonlyMap<string, Tier>): void {
    for (const name of [...this.#absences.keys(), ...this.#stranded]) {
      if (!tiers.has(name)) this.#forget(name);
    }
    for (const tier of tiers.values()) {
      const [first] = tier.targets;
      const absence = this.#absences.get(tier.name);
      if (absence !== undefined && absence.target !== first?.id) this.#present(tier.name);
      else if (absence !== undefined && first !== undefined && this.#isUnwell(first, tier)) {
        this.#tellAbsence(tier.name, absence, null);
      }
      this.#lookForTarget(tier, null);
    }
  }

  #absent(tier: Tier, first: Target, requestId: string): void {
    const known = this.#absences.get(tier.name);
    const absence =
      known?.target === first.id
        ? known
        : { target: first.id, sinceMs: this.#ports.clock.monotonicMs() };
    this.#absences.set(tier.name, absence);
    this.#tellAbsence(tier.name, absence, requestId);
  }

  #tellAbsence(tier: string, absence: Absence, requestId: string | null): void {
    const forMs = this.#ports.clock.monotonicMs() - absence.sinceMs;
    if (forMs < fallbackMs) return;
    this.#ports.alerts.raise({
      kind: 'tier_on_fallback',
      subject: tier,
      message: `tier ${tier}: its first target ${absence.target} has not served for ${Math.floor(forMs / 60_000)} minutes`,
      requestId,
      target: absence.target,
    });
  }

  #present(tier: string): void {
    if (this.#absences.delete(tier)) this.#ports.alerts.resolve('tier_on_fallback', tier);
  }

  #forget(tier: string): void {
    this.#present(tier);
    if (this.#stranded.delete(tier)) this.#ports.alerts.resolve('tier_without_target', tier);
  }

  #lookForTarget(tier: Tier, requestId: string | null): void {
    const obstacles = tier.targets.map((target) => this.#obstacle(target, tier));
    const { alerts } = this.#ports;
    if (obstacles.some((obstacle) => this.#isServing(obstacle, tier))) {
      if (this.#stranded.delete(tier.name)) alerts.resolve('tier_without_target', tier.name);
      return;
    }
    if (this.#stranded.has(tier.name) && requestId === null) return;
    this.#stranded.add(tier.name);
    const states = tier.targets
      .map(({ id }, index) => `${id} ${obstacles[index]?.reason}`)
      .join(', ');
    alerts.raise({
      kind: 'tier_without_target',
      subject: tier.name,
      message: `tier ${tier.name}: no target can be asked: ${states}`,
      requestId,
    });
  }

  /** A target that is full serves, as much as it can; one that cools for a moment is waited for. */
  #isServing(obstacle: Obstacle | null, tier: Tier): boolean {
    if (obstacle === null || obstacle.reason === 'full') return true;
    if (obstacle.reason !== 'cooling' || obstacle.untilMs === null) return false;
    return obstacle.untilMs - this.#ports.clock.monotonicMs() <= tier.retry.hintCeilingMs;
  }

  #isUnwell(target: Target, tier: Tier): boolean {
    return unwell.has(this.#obstacle(target, tier)?.reason ?? '');
  }

  #obstacle(target: Target, tier: Tier): Obstacle | null {
    return candidateOf(target, tier, this.#ports).obstacle();
  }
}

/** What a request shows of its tier's first target. */
function showing(first: Target, trace: RequestTrace): 'serves' | 'fails' | 'nothing' {
  const asked = trace.attempts.filter(({ target }) => target === first.id);
  if (asked.some(({ outcome }) => outcome === 'served')) return 'serves';
  const isSkipped = trace.skipped.some(
    ({ target, reason }) => target === first.id && unwell.has(reason),
  );
  const hasFailed = asked.some(
    ({ failure }) => failure !== null && !requestFaults.has(failure.errorClass),
  );
  return isSkipped || hasFailed ? 'fails' : 'nothing';
}
