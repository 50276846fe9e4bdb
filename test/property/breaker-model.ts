/**
 * The breaker as its rules are written, without a thought to cost: every mark is kept and counted anew.
 * It shares no code with what it is compared to.
 */
import type { BreakerPolicy, BreakerState } from '../../src/resilience/breaker/breaker.ts';

type ModelMark = { atMs: number; isFailure: boolean };
export type ModelPermit = {
  readonly era: number;
  readonly isProbe: boolean;
  isSettled: boolean;
  success: ModelMark | null;
};

export class BreakerModel {
  state: BreakerState = 'closed';
  untilMs = 0;
  changes = 0;
  #marks: ModelMark[] = [];
  #era = 0;
  #rung = 0;
  #periodMs = 0;
  #closedAtMs: number | null = null;
  #probe: ModelPermit | null = null;
  #probeUntilMs = 0;
  #probeBeganMs = 0;
  #longestMs = 0;

  readonly #draw: () => number;

  constructor(draw: () => number) {
    this.#draw = draw;
  }

  /** An open period that is over; noticed by whoever uses the breaker next. */
  notice(nowMs: number): void {
    if (this.state === 'open' && nowMs >= this.untilMs) this.#enter('half_open');
  }

  seen(nowMs: number): { state: BreakerState; nextProbeAtMs: number | null; isAdmitting: boolean } {
    const isDue = this.state === 'open' && nowMs >= this.untilMs;
    const state = isDue ? 'half_open' : this.state;
    const isSlotFree = this.#probe === null || nowMs >= this.#probeUntilMs;
    return {
      state,
      nextProbeAtMs: state === 'open' ? this.untilMs : null,
      isAdmitting: state === 'closed' || isDue || (state === 'half_open' && isSlotFree),
    };
  }

  ask(nowMs: number): ModelPermit | null {
    this.notice(nowMs);
    if (!this.seen(nowMs).isAdmitting) return null;
    const isProbe = this.state === 'half_open';
    const permit = { era: this.#era, isProbe, isSettled: false, success: null };
    if (isProbe) {
      this.#probe = permit;
      this.#probeUntilMs = nowMs + this.#periodMs;
      this.#probeBeganMs = nowMs;
    }
    return permit;
  }

  settle(
    permit: ModelPermit,
    mark: 'success' | 'failure' | 'none',
    nowMs: number,
    policy: BreakerPolicy,
  ): void {
    if (permit.isSettled) return;
    permit.isSettled = true;
    this.notice(nowMs);
    const isPresent = permit.era === this.#era;
    if (mark === 'none') {
      if (!isPresent || this.#probe !== permit) return;
      // Nothing is known of that time: the next request may look, whatever an older probe comes to.
      this.#probe = null;
      this.#probeBeganMs = Number.NEGATIVE_INFINITY;
      return;
    }
    if (mark === 'failure') {
      this.#fail(isPresent, nowMs, policy);
      return;
    }
    const closes = isPresent && this.state === 'half_open';
    if (closes) this.#marks = [];
    permit.success = this.#mark(false, nowMs, policy);
    if (closes) {
      this.#closedAtMs = nowMs;
      this.#enter('closed');
    }
  }

  breakStream(permit: ModelPermit, nowMs: number, policy: BreakerPolicy): void {
    if (permit.success === null) return;
    this.notice(nowMs);
    const { success } = permit;
    this.#marks = this.#marks.filter((mark) => mark !== success);
    permit.success = null;
    this.#fail(permit.era === this.#era, nowMs, policy);
  }

  #fail(isPresent: boolean, nowMs: number, policy: BreakerPolicy): void {
    this.#mark(true, nowMs, policy);
    if (!isPresent) return;
    if (this.state === 'half_open') {
      const isLongest = policy.openForMs * 2 ** this.#rung >= policy.openForMaxMs;
      this.#open(isLongest ? this.#rung : this.#rung + 1, this.#probeBeganMs, policy);
      this.untilMs = Math.max(nowMs + 1, this.untilMs);
    } else if (this.state === 'closed' && this.#isSustained(nowMs, policy)) {
      const isHealthy = this.#closedAtMs === null || nowMs - this.#closedAtMs >= policy.windowMs;
      this.#open(isHealthy ? 0 : this.#rung, nowMs, policy);
    }
  }

  #mark(isFailure: boolean, nowMs: number, policy: BreakerPolicy): ModelMark {
    // What no window has reached back to so far is forgotten, by the product too.
    this.#longestMs = Math.max(this.#longestMs, policy.windowMs, policy.idleWindowMs);
    this.#marks = this.#marks.filter((mark) => nowMs - mark.atMs <= this.#longestMs);
    const mark = { atMs: nowMs, isFailure };
    this.#marks.push(mark);
    return mark;
  }

  #isSustained(nowMs: number, policy: BreakerPolicy): boolean {
    let counted = this.#marks.filter((mark) => nowMs - mark.atMs <= policy.windowMs);
    if (counted.length < policy.failures) {
      counted = this.#marks
        .slice(-policy.failures)
        .filter((mark) => nowMs - mark.atMs <= policy.idleWindowMs);
      if (policy.idleWindowMs === 0) return false;
    }
    const failures = counted.filter((mark) => mark.isFailure);
    const [first, last] = [failures[0], failures.at(-1)];
    if (first === undefined || last === undefined) return false;
    if (failures.length < policy.failures) return false;
    if (last.atMs - first.atMs < policy.minSpanMs) return false;
    const newest = counted.slice(-20);
    const isBarren = newest.length === 20 && newest.every((mark) => mark.isFailure);
    return failures.length / counted.length >= policy.failureRate || isBarren;
  }

  #open(rung: number, fromMs: number, policy: BreakerPolicy): void {
    this.#rung = rung;
    const fullMs = Math.min(policy.openForMaxMs, policy.openForMs * 2 ** rung);
    this.#periodMs = fullMs * (0.8 + 0.2 * this.#draw());
    this.untilMs = fromMs + this.#periodMs;
    this.#enter('open');
  }

  #enter(state: BreakerState): void {
    this.state = state;
    this.changes += 1;
    this.#era += 1;
    this.#probe = null;
  }
}
