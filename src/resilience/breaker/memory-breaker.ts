/** The breaker's port over the pure machine alone: no library, no timer. A fleet's breaker is built on it. */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Admission, Breaker, BreakerPolicy, BreakerView } from './breaker.ts';
import {
  admitRequest,
  type BreakerMachine,
  breakerAt,
  closedBreaker,
  judgeMark,
  viewOf,
} from './breaker-state.ts';
import { issuePermit, Listeners, type Mark, type Ticket } from './permit.ts';
import { TripWindow } from './trip-window.ts';

export function createMemoryBreaker(parts: {
  readonly clock: Clock;
  readonly random: Random;
}): Breaker {
  return new MemoryBreaker(parts.clock, parts.random);
}

export class MemoryBreaker implements Breaker {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #window = new TripWindow();
  readonly #listeners = new Listeners<BreakerView>();
  #machine: BreakerMachine = closedBreaker;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  readonly admit = (): Admission => {
    const nowMs = this.#catchUp();
    const { machine, ticket, retryAtMs } = admitRequest(this.#machine, nowMs);
    this.#machine = machine;
    if (ticket === null) return { isAdmitted: false, retryAtMs };
    const permit = issuePermit(ticket, { settled: this.#settled, broken: this.#broken });
    return { isAdmitted: true, permit };
  };

  readonly view = (): BreakerView => viewOf(this.#machine, this.#clock.monotonicMs());

  readonly onChange = (listener: (view: BreakerView) => void): (() => void) =>
    this.#listeners.add(listener);

  readonly close = (): void => this.#listeners.clear();

  /** The machine as of now; an open period that is over ends here. */
  present(): BreakerMachine {
    this.#catchUp();
    return this.#machine;
  }

  /**
   * Takes over a state that was decided elsewhere: permits of the one before change nothing any more. Where
   * it is closed, a probe has answered the failures that are remembered here too.
   */
  adopt(state: (epoch: number, nowMs: number) => BreakerMachine): void {
    const nowMs = this.#catchUp();
    const machine = state(this.#machine.epoch + 1, nowMs);
    if (machine.kind === 'closed') this.#window.clear();
    this.#become(machine, nowMs);
  }

  readonly #settled = (ticket: Ticket, mark: Mark, policy: BreakerPolicy): number | null => {
    const nowMs = this.#catchUp();
    const closesNow =
      mark === 'success' &&
      this.#machine.kind === 'half_open' &&
      ticket.epoch === this.#machine.epoch;
    // The probe's success answers the failures that opened the breaker: it starts afresh.
    if (closesNow) this.#window.clear();
    const successMark = mark === 'success' ? this.#window.addSuccess(nowMs, policy) : null;
    if (mark === 'failure') this.#window.addFailure(nowMs, policy);
    this.#judge(ticket, mark, nowMs, policy);
    return successMark;
  };

  readonly #broken = (ticket: Ticket, successMark: number, policy: BreakerPolicy): void => {
    const nowMs = this.#catchUp();
    this.#window.breakSuccess(successMark, nowMs, policy);
    this.#judge(ticket, 'failure', nowMs, policy);
  };

  #judge(ticket: Ticket, mark: Mark, nowMs: number, policy: BreakerPolicy): void {
    const isTripped = mark === 'failure' && this.#window.isTripped(nowMs, policy);
    const random = this.#random;
    this.#become(
      judgeMark(this.#machine, { ticket, mark, isTripped, nowMs, policy, random }),
      nowMs,
    );
  }

  #catchUp(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#become(breakerAt(this.#machine, nowMs), nowMs);
    return nowMs;
  }

  #become(machine: BreakerMachine, nowMs: number): void {
    const isChange = machine.epoch !== this.#machine.epoch;
    this.#machine = machine;
    if (isChange) this.#listeners.tell(viewOf(machine, nowMs));
  }
}
