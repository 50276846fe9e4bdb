/**
 * A fleet's shared store in memory, as plain as its rules can be written: the model that Redis is held
 * against. Answers come at once, or after a delay on the clock; an instance can be cut off.
 */
import type { Clock } from '../../src/base/clock.ts';
import type {
  BreakerFleet,
  ClaimAnswer,
  FleetPlace,
  FleetRecord,
  FleetState,
  WriteAnswer,
} from '../../src/resilience/breaker/breaker-fleet.ts';

export const longestHoldMs = 3_600_000;

type Holder = {
  readonly instance: string;
  readonly claim: number;
  readonly untilMs: number;
  readonly unused: number;
};
type Entry = {
  readonly generation: number;
  readonly state: FleetState | null;
  readonly atMs: number;
  holder: Holder | null;
};

export class MemoryFleetStore {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** All that it held is gone, as after a restart of a server that keeps nothing. */
  flush(): void {
    this.#entries.clear();
  }

  read(target: string, instance: string): FleetRecord {
    const { generation, state, atMs, holder } = this.#entry(target);
    const nowMs = this.#clock.monotonicMs();
    const isElsewhere = holder !== null && holder.instance !== instance && holder.untilMs > nowMs;
    return {
      generation,
      state: state === null ? null : aged(state, nowMs - atMs),
      probeElsewhereMs: isElsewhere ? holder.untilMs - nowMs : null,
    };
  }

  write(
    target: string,
    instance: string,
    known: { generation: number; state: FleetState },
  ): WriteAnswer {
    const entry = this.#entry(target);
    if (entry.generation > known.generation) {
      return { kind: 'moved', record: this.read(target, instance) };
    }
    const generation = known.generation + 1;
    const atMs = this.#clock.monotonicMs();
    this.#entries.set(target, { generation, state: known.state, atMs, holder: null });
    this.#tell();
    return { kind: 'written', generation };
  }

  claim(
    target: string,
    asked: { instance: string; claim: number; generation: number; leaseMs: number },
  ): ClaimAnswer | { readonly kind: 'granted_for'; readonly forMs: number } {
    const entry = this.#entry(target);
    if (entry.generation > asked.generation) {
      return { kind: 'moved', record: this.read(target, asked.instance) };
    }
    const nowMs = this.#clock.monotonicMs();
    const { holder } = entry;
    const isElsewhere =
      holder !== null && holder.instance !== asked.instance && holder.untilMs > nowMs;
    if (isElsewhere) return { kind: 'elsewhere', forMs: holder.untilMs - nowMs };
    const unused = holder?.unused ?? 0;
    const forMs = Math.min(asked.leaseMs * 2 ** unused, Math.max(asked.leaseMs, longestHoldMs));
    const { instance, claim } = asked;
    entry.holder = { instance, claim, untilMs: nowMs + forMs, unused: unused + 1 };
    return { kind: 'granted_for', forMs };
  }

  /** `leaseMs` null gives the right back. */
  keep(
    target: string,
    { instance, claim }: Pick<Holder, 'instance' | 'claim'>,
    leaseMs: number | null,
  ) {
    const entry = this.#entry(target);
    if (entry.holder?.instance !== instance || entry.holder.claim !== claim) return;
    if (leaseMs === null) {
      entry.holder = null;
      this.#tell();
    } else {
      const untilMs = this.#clock.monotonicMs() + leaseMs;
      entry.holder = { instance, claim, untilMs, unused: 0 };
    }
  }

  #entry(target: string): Entry {
    const found = this.#entries.get(target);
    if (found !== undefined) return found;
    const made = { generation: 0, state: null, atMs: 0, holder: null };
    this.#entries.set(target, made);
    return made;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function aged(state: FleetState, byMs: number): FleetState {
  if (state.kind === 'closed') return { ...state, sinceMs: state.sinceMs + byMs };
  return { ...state, leftMs: Math.max(0, state.leftMs - byMs) };
}

/** One instance of the fleet. Messages go out and come in `delayMs` late each; 0 = at once. */
export class MemoryFleet implements BreakerFleet {
  readonly #store: MemoryFleetStore;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #hearers = new Map<string, (record: FleetRecord) => void>();
  #claims = 0;
  delayMs = 0;
  isReachable = true;
  /** Whether changes are told; without it only `look` brings them. */
  isTold = true;

  constructor(store: MemoryFleetStore, clock: Clock, name: string) {
    this.#store = store;
    this.#clock = clock;
    this.#name = name;
    store.onChange(() => {
      if (this.isTold && this.isReachable) this.look();
    });
  }

  get places(): number {
    return this.#hearers.size;
  }

  /** Reads all targets, as the regular look does. */
  look(): void {
    for (const [target, hear] of this.#hearers) {
      this.#ask(
        () => this.#store.read(target, this.#name),
        (record) => {
          if (record !== null) hear(record);
        },
      );
    }
  }

  readonly join = (target: string, hear: (record: FleetRecord) => void): FleetPlace => {
    this.#hearers.set(target, hear);
    return {
      isReachable: () => this.isReachable,
      write: (generation, state, answered) =>
        this.#ask(() => this.#store.write(target, this.#name, { generation, state }), answered),
      claim: (generation, leaseMs, answered) => {
        this.#claims += 1;
        const holder = { instance: this.#name, claim: this.#claims };
        this.#ask(
          () => this.#store.claim(target, { ...holder, generation, leaseMs }),
          (answer) => {
            if (answer?.kind !== 'granted_for') {
              answered(answer);
              return;
            }
            const keep = (forMs: number | null): void =>
              this.#ask(
                () => this.#store.keep(target, holder, forMs),
                () => undefined,
              );
            const { forMs } = answer;
            const claim = { forMs, use: keep, release: () => keep(null) };
            answered({ kind: 'granted', claim });
          },
        );
      },
      leave: () => this.#hearers.delete(target),
    };
  };

  #ask<Answer>(question: () => Answer, answered: (answer: Answer | null) => void): void {
    if (!this.isReachable) {
      answered(null);
      return;
    }
    if (this.delayMs === 0) {
      answered(question());
      return;
    }
    this.#clock.schedule(this.delayMs, () => {
      const answer = this.isReachable ? question() : null;
      this.#clock.schedule(this.delayMs, () => answered(this.isReachable ? answer : null));
    });
  }
}
