/**
 * A breaker that a fleet shares: the pure machine decides here and at once, what it decides is told to the
 * others, and what they decide is taken over. Nobody waits for the store (docs/decisions/2026-11-30-fleet.md).
 */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Admission, Breaker, BreakerView, Permit } from './breaker.ts';
import type {
  BreakerFleet,
  ClaimAnswer,
  FleetClaim,
  FleetPlace,
  FleetRecord,
  FleetState,
  WriteAnswer,
} from './breaker-fleet.ts';
import type { BreakerMachine } from './breaker-state.ts';
import { MemoryBreaker } from './memory-breaker.ts';
import { Listeners } from './permit.ts';
import { isFree } from './probe-slot.ts';

export function createSharedBreaker(parts: {
  /** The target's name, the same in every instance. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly fleet: BreakerFleet;
}): Breaker {
  return new SharedBreaker(parts);
}

/** Where the right to probe is, as far as this instance knows. */
type Right =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'here'; readonly claim: FleetClaim; readonly untilMs: number }
  /** A probe of ours is under way: the machine's own slot says for how long. */
  | { readonly kind: 'used'; readonly claim: FleetClaim }
  | { readonly kind: 'elsewhere'; readonly untilMs: number };

const noClaim = { use: () => undefined, release: () => undefined };

const unknownRight: Right = { kind: 'unknown' };

/** The rest of a right's time is for the word that the probe has begun: it takes its way too. */
const usableShare = 0.9;

class SharedBreaker implements Breaker {
  readonly #clock: Clock;
  readonly #local: MemoryBreaker;
  readonly #place: FleetPlace;
  readonly #listeners = new Listeners<BreakerView>();
  #right: Right = unknownRight;
  /** One question at a time: an answer to an older one could not be told apart. */
  #isAsking = false;
  #isWriting = false;
  /** Decided here and not known to be in the store. */
  #isUnwritten = false;
  /** The generation of the state that was last written or taken over. */
  #generation = 0;
  #isAdopting = false;
  #isSeenElsewhere = false;
  #isDone = false;

  constructor(parts: {
    readonly name: string;
    readonly clock: Clock;
    readonly random: Random;
    readonly fleet: BreakerFleet;
  }) {
    this.#clock = parts.clock;
    this.#local = new MemoryBreaker(parts.clock, parts.random);
    this.#local.onChange(() => this.#changed());
    this.#place = parts.fleet.join(parts.name, (record) => this.#hear(record));
  }

  readonly admit = (): Admission => {
    const machine = this.#local.present();
    if (machine.kind === 'half_open' && isFree(machine.slot, this.#nowMs())) {
      if (!this.#mayProbe(machine.leaseMs)) {
        const retryAtMs = this.#right.kind === 'elsewhere' ? this.#right.untilMs : null;
        return { isAdmitted: false, retryAtMs };
      }
    }
    const admission = this.#local.admit();
    if (!admission.isAdmitted || !admission.permit.isProbe) return admission;
    return { isAdmitted: true, permit: this.#underRight(admission.permit) };
  };

  readonly view = (): BreakerView => {
    const view = this.#local.view();
    const isProbeNext = view.state === 'half_open' && view.isAdmitting;
    const isAdmitting = isProbeNext ? this.#isProbeAskable() : view.isAdmitting;
    const reason =
      view.reason !== null && this.#isSeenElsewhere
        ? `${view.reason} (seen by another instance)`
        : view.reason;
    return { ...view, reason, isAdmitting };
  };

  readonly onChange = (listener: (view: BreakerView) => void): (() => void) =>
    this.#listeners.add(listener);

  readonly close = (): void => {
    this.#isDone = true;
    if (this.#right.kind === 'here' || this.#right.kind === 'used') this.#right.claim.release();
    this.#place.leave();
    this.#listeners.clear();
    this.#local.close();
  };

  /** Asks for the right where nobody is known to have it; the answer mostly comes for a later request. */
  #mayProbe(leaseMs: number): boolean {
    if (!this.#isProbeAskable()) return false;
    if (this.#place.isReachable() && !this.#isRightHere()) this.#ask(leaseMs);
    return this.#isRightHere() || !this.#place.isReachable();
  }

  /** Whether `admit` would let a probe through, or at least ask for it. */
  #isProbeAskable(): boolean {
    if (!this.#place.isReachable() || this.#isRightHere()) return true;
    if (this.#isAsking) return false;
    return this.#right.kind !== 'elsewhere' || this.#right.untilMs <= this.#nowMs();
  }

  #isRightHere(): boolean {
    return this.#right.kind === 'here' && this.#nowMs() < this.#right.untilMs;
  }

  #ask(leaseMs: number): void {
    const { epoch } = this.#local.present();
    const askedMs = this.#nowMs();
    let isAtOnce = true;
    this.#isAsking = true;
    this.#place.claim(this.#generation, leaseMs, (answer) => {
      this.#isAsking = false;
      const isPresent = !this.#isDone && this.#local.present().epoch === epoch;
      // Without an answer this instance decides alone.
      const told = answer ?? { kind: 'granted', claim: { ...noClaim, forMs: leaseMs } };
      this.#onClaimAnswer(told, isPresent, askedMs);
      // Whoever waits for this target can be let through now, or asks again.
      if (!isAtOnce && !this.#isDone && this.view().isAdmitting) this.#listeners.tell(this.view());
    });
    isAtOnce = false;
  }

  #onClaimAnswer(answer: ClaimAnswer, isPresent: boolean, askedMs: number): void {
    if (!isPresent) {
      if (answer.kind === 'granted') answer.claim.release();
    } else if (answer.kind === 'granted') {
      // It ends here well before it ends in the store.
      const untilMs = askedMs + answer.claim.forMs * usableShare;
      this.#right = { kind: 'here', claim: answer.claim, untilMs };
    } else if (answer.kind === 'elsewhere') {
      this.#right = { kind: 'elsewhere', untilMs: this.#nowMs() + answer.forMs };
    } else {
      this.#adopt(answer.record);
    }
  }

  /** The permit of a probe; without the store it goes without the right. */
  #underRight(permit: Permit): Permit {
    if (this.#right.kind !== 'here') return permit;
    const { claim } = this.#right;
    const machine = this.#local.present();
    if (machine.kind === 'half_open') claim.use(machine.leaseMs);
    this.#right = { kind: 'used', claim };
    return {
      ...permit,
      settle: (mark, policy) => {
        permit.settle(mark, policy);
        // Any other mark was written, and ended the right with the state it was for.
        if (mark === 'none') this.#release(claim);
      },
    };
  }

  #release(claim: FleetClaim): void {
    claim.release();
    if (this.#right.kind === 'used' && this.#right.claim === claim) this.#right = unknownRight;
  }

  #changed(): void {
    this.#right = unknownRight;
    const isDecidedHere = !this.#isAdopting && this.#local.present().kind !== 'half_open';
    if (isDecidedHere) {
      this.#isSeenElsewhere = false;
      this.#isUnwritten = true;
      this.#write();
    }
    this.#listeners.tell(this.view());
  }

  #write(): void {
    if (this.#isWriting || this.#isDone) return;
    this.#isWriting = true;
    this.#isUnwritten = false;
    const state = stateOf(this.#local.present(), this.#nowMs());
    this.#place.write(this.#generation, state, (answer) => {
      this.#isWriting = false;
      if (!this.#isDone) this.#onWriteAnswer(answer);
    });
  }

  #onWriteAnswer(answer: WriteAnswer | null): void {
    if (answer === null) {
      this.#isUnwritten = true;
    } else if (answer.kind === 'moved') {
      this.#adopt(answer.record);
    } else {
      this.#generation = answer.generation;
      // Decided while the answer was under way.
      if (this.#isUnwritten) this.#write();
    }
  }

  #hear(record: FleetRecord): void {
    // The answer to what is being written comes after this and tells more.
    if (this.#isWriting || this.#isDone) return;
    if (record.generation > this.#generation) {
      this.#adopt(record);
      return;
    }
    const { kind } = this.#local.present();
    const isLost = record.generation < this.#generation && kind === 'open';
    // Health is no news where nothing is open: it would only overtake another's trip.
    if (kind === 'closed' && record.state?.kind !== 'open') this.#isUnwritten = false;
    if (this.#isUnwritten || isLost) this.#write();
    else this.#noteProbe(record.probeElsewhereMs);
  }

  #noteProbe(forMs: number | null): void {
    if (this.#isAsking || this.#right.kind === 'used') return;
    if (forMs !== null) {
      this.#right = { kind: 'elsewhere', untilMs: this.#nowMs() + forMs };
    } else if (this.#right.kind === 'elsewhere') {
      this.#right = unknownRight;
      if (this.view().isAdmitting) this.#listeners.tell(this.view());
    }
  }

  #adopt({ generation, state, probeElsewhereMs }: FleetRecord): void {
    this.#isUnwritten = false;
    if (state === null || generation <= this.#generation) return;
    this.#generation = generation;
    this.#isSeenElsewhere = true;
    this.#isAdopting = true;
    this.#local.adopt((epoch, nowMs) => machineOf(state, epoch, nowMs));
    this.#local.present();
    this.#isAdopting = false;
    this.#noteProbe(probeElsewhereMs);
  }

  #nowMs(): number {
    return this.#clock.monotonicMs();
  }
}

function stateOf(machine: BreakerMachine, nowMs: number): FleetState {
  if (machine.kind === 'closed') {
    const { level, closedAtMs } = machine;
    return { kind: 'closed', sinceMs: closedAtMs === null ? 0 : nowMs - closedAtMs, level };
  }
  const { level, leaseMs, reason } = machine;
  const leftMs = machine.kind === 'open' ? Math.max(0, machine.untilMs - nowMs) : 0;
  return { kind: 'open', leftMs, level, leaseMs, reason };
}

function machineOf(state: FleetState, epoch: number, nowMs: number): BreakerMachine {
  const { level } = state;
  if (state.kind === 'closed') {
    return { kind: 'closed', epoch, level, closedAtMs: nowMs - state.sinceMs };
  }
  const { leaseMs, reason } = state;
  return { kind: 'open', epoch, level, leaseMs, reason, untilMs: nowMs + state.leftMs };
}
