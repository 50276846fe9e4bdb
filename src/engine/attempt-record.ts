/** Fills one attempt's trace as the attempt goes on. */
import type { Clock } from '../base/clock.ts';
import { type Usage, unknownUsage } from '../chat/usage.ts';
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { Target } from '../routing/snapshot.ts';
import type { AttemptKind, AttemptOutcome, AttemptTrace, BreakerStanding } from './trace.ts';

export type AttemptStart = {
  readonly n: number;
  readonly kind: AttemptKind;
  readonly target: Target;
  readonly keyAlias: string | null;
  readonly delayBeforeMs: number;
  readonly delayReason: AttemptTrace['delayReason'];
  readonly arrivedAtMs: number;
  readonly breakerBefore: BreakerStanding;
  readonly retryBudget: number;
};

/** Sums of instants differ in their last digits. */
const timerSlackMs = 1e-3;

export class AttemptRecord {
  readonly start: AttemptStart;
  readonly startedMs: number;
  readonly #startedAtMs: number;
  readonly #clock: Clock;
  /** Cut before this (ms from the start), an attempt was cut for another's sake. */
  ownLimitMs = 0;
  /** Ended before this (ms from the start), its silence says nothing of the target. */
  fairMs = 0;
  status: number | null = null;
  failure: AttemptFailure | null = null;
  upstreamRequestId: string | null = null;
  ttfbMs: number | null = null;
  ttftMs: number | null = null;
  usage: Usage = unknownUsage;
  reportedModel: string | null = null;
  unknownEvents: ReadonlyMap<string, number> = new Map();
  #ended: {
    readonly durationMs: number;
    readonly outcome: AttemptOutcome;
    readonly breakerAfter: BreakerStanding;
  } | null = null;

  constructor(start: AttemptStart, clock: Clock) {
    this.start = start;
    this.#clock = clock;
    this.startedMs = clock.monotonicMs();
    this.#startedAtMs = clock.wallMs();
  }

  elapsedMs(): number {
    return this.#clock.monotonicMs() - this.startedMs;
  }

  /** Whether the target had time enough to be judged by its silence. */
  get isFairlyTimed(): boolean {
    return this.elapsedMs() >= this.fairMs - timerSlackMs;
  }

  end(outcome: AttemptOutcome, breakerAfter: BreakerStanding): void {
    this.#ended ??= { durationMs: this.elapsedMs(), outcome, breakerAfter };
  }

  /** As of now: an attempt that has not ended counts as cancelled. */
  trace(): AttemptTrace {
    const { start } = this;
    const ended = this.#ended;
    return {
      n: start.n,
      kind: start.kind,
      target: start.target.id,
      provider: start.target.provider.name,
      model: start.target.model,
      variant: start.target.variant?.identity ?? null,
      keyAlias: start.keyAlias,
      startedAtMs: this.#startedAtMs,
      startedAfterMs: this.startedMs - start.arrivedAtMs,
      delayBeforeMs: start.delayBeforeMs,
      delayReason: start.delayReason,
      status: this.status,
      failure: this.failure,
      upstreamRequestId: this.upstreamRequestId ?? this.failure?.upstreamRequestId ?? null,
      ttfbMs: this.ttfbMs,
      ttftMs: this.ttftMs,
      durationMs: ended?.durationMs ?? this.elapsedMs(),
      usage: this.usage,
      outcome: ended?.outcome ?? 'cancelled',
      breakerBefore: start.breakerBefore,
      breakerAfter: ended?.breakerAfter ?? start.breakerBefore,
      retryBudget: start.retryBudget,
      ...(this.unknownEvents.size === 0 ? {} : { unknownEvents: this.unknownEvents }),
    };
  }
}
