/** Which target answered a session last, so that a conversation stays where a failover moved it. */
import { ExpiringMap } from './expiring-map.ts';
import { fingerprintOf } from './fingerprint.ts';

/** A client's session in one tier; `keyId` keeps the sessions of different clients apart. */
export type TierSession = {
  readonly keyId: string | null;
  readonly tier: string;
  /** `x-tiergate-session`, as the client sent it. */
  readonly session: string;
};

const entriesMax = 10_000;
const idleMs = 60 * 60_000;

/**
 * The last 10,000 sessions, each for an hour after its last answer. Only sessions that left their preferred
 * target need an entry: `forget` one that is back, and a healthy process keeps none. Instants are
 * monotonic ms.
 */
export class AffinityTable {
  readonly #targets = new ExpiringMap<string>({ entriesMax, keptMs: idleMs });

  remember(session: TierSession, target: string, nowMs: number): void {
    this.#targets.set(nameOf(session), target, nowMs);
  }

  /** The target's id, which the present config may no longer hold; null when none is remembered. */
  lookup(session: TierSession, nowMs: number): string | null {
    if (this.size(nowMs) === 0) return null;
    return this.#targets.get(nameOf(session), nowMs) ?? null;
  }

  forget(session: TierSession): void {
    this.#targets.delete(nameOf(session));
  }

  size(nowMs: number): number {
    return this.#targets.size(nowMs);
  }
}

/** Hashed: a client chooses the length of its session's name. */
function nameOf(session: TierSession): string {
  return fingerprintOf(JSON.stringify([session.keyId, session.tier, session.session]));
}
