/** A clock that a test sets by hand and at once; a breaker that wanted a timer would fail on it. */
import type { CancelTimer, Clock } from '../../../src/base/clock.ts';

export class HandClock implements Clock {
  nowMs = 0;
  wallOffsetMs = Date.UTC(2026, 0, 1);

  readonly monotonicMs = (): number => this.nowMs;
  readonly wallMs = (): number => this.nowMs + this.wallOffsetMs;

  readonly schedule = (): CancelTimer => {
    throw new Error('no timer is wanted here');
  };
}
