/** The faults in force, per provider: who is struck by what, and until when. */
import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Fault } from './fault.ts';

export type ActiveFault = {
  readonly id: number;
  readonly provider: string;
  readonly fault: Fault;
  /** Milliseconds until it ends by itself; null = not by itself. */
  readonly remainingMs: number | null;
  readonly struck: number;
};

type Entry = {
  readonly id: number;
  readonly provider: string;
  readonly fault: Fault;
  readonly sinceMs: number;
  readonly cancel: CancelTimer;
  struck: number;
};

const faultsMax = 100;

export type FaultBoardOptions = {
  readonly clock: Clock;
  readonly random: Random;
  /** Called whenever a fault came, ended or was cleared. */
  readonly onChange: () => void;
};

export class FaultBoard {
  readonly #options: FaultBoardOptions;
  #entries: readonly Entry[] = [];
  #nextId = 1;

  constructor(options: FaultBoardOptions) {
    this.#options = options;
  }

  /** Null when the board is full. */
  add(provider: string, fault: Fault): ActiveFault | null {
    if (this.#entries.length >= faultsMax) return null;
    const { clock, onChange } = this.#options;
    const id = this.#nextId;
    this.#nextId += 1;
    const cancel =
      fault.forMs === null ? () => undefined : clock.schedule(fault.forMs, () => this.#remove(id));
    const entry = { id, provider, fault, sinceMs: clock.monotonicMs(), cancel, struck: 0 };
    this.#entries = [...this.#entries, entry];
    onChange();
    return this.#view(entry);
  }

  /** Ends the faults of `provider`, or all when null; returns how many. */
  clear(provider: string | null): number {
    const ended = this.#entries.filter((entry) => provider === null || entry.provider === provider);
    for (const entry of ended) entry.cancel();
    this.#entries = this.#entries.filter((entry) => !ended.includes(entry));
    if (ended.length > 0) this.#options.onChange();
    return ended.length;
  }

  list(provider: string | null): readonly ActiveFault[] {
    return this.#entries
      .filter((entry) => provider === null || entry.provider === provider)
      .map((entry) => this.#view(entry));
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Whether the provider's port is to be closed. */
  isDown(provider: string): boolean {
    return this.#entries.some(
      (entry) => entry.provider === provider && entry.fault.kind === 'down',
    );
  }

  /** The fault that strikes this request, the latest order first; null = none. */
  strike(provider: string, model: string): Fault | null {
    for (const entry of this.#entries.toReversed()) {
      const { fault } = entry;
      if (entry.provider !== provider || fault.kind === 'down') continue;
      if (fault.model !== null && fault.model !== model) continue;
      if (fault.kind === 'flap' && !this.#isFlapDown(entry)) continue;
      if (fault.share < 1 && this.#options.random.next() >= fault.share) continue;
      entry.struck += 1;
      if (fault.count !== null && entry.struck >= fault.count) this.#remove(entry.id);
      return fault;
    }
    return null;
  }

  #isFlapDown(entry: Entry): boolean {
    const elapsedMs = this.#options.clock.monotonicMs() - entry.sinceMs;
    return Math.floor(elapsedMs / entry.fault.periodMs) % 2 === 0;
  }

  #remove(id: number): void {
    const entry = this.#entries.find((one) => one.id === id);
    if (entry === undefined) return;
    entry.cancel();
    this.#entries = this.#entries.filter((one) => one !== entry);
    this.#options.onChange();
  }

  #view({ id, provider, fault, sinceMs, struck }: Entry): ActiveFault {
    const elapsedMs = this.#options.clock.monotonicMs() - sinceMs;
    const remainingMs = fault.forMs === null ? null : Math.max(0, fault.forMs - elapsedMs);
    return { id, provider, fault, remainingMs, struck };
  }
}
