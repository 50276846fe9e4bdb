/** What was seen of a simulated run, from outside the engine, as plain data: what the invariants judge. */
import type { Joint } from '../../src/dialects/dialect.ts';
import type { RequestTrace } from '../../src/engine/trace.ts';
import type { RequestFailure } from '../../src/failure/request-failure.ts';
import type { BreakerState } from '../../src/resilience/breaker/breaker.ts';
import type { CallFacts, CallScript } from './schedule-calls.ts';
import type { RequestPlan, Schedule, TierPlan } from './schedule-model.ts';

/** An instant, and its place in the order of all that was seen: instants alone may be equal. */
export type Moment = { readonly atMs: number; readonly seq: number };

/** One HTTP request that reached a provider. */
export type CallSeen = CallFacts &
  CallScript & {
    readonly at: Moment;
    /** `read` to its end, `failed` by itself, or `closed` by the gateway; null = still open. */
    ended: (Moment & { readonly how: 'read' | 'failed' | 'closed' }) | null;
  };

export type PermitEnding = Moment & {
  readonly how: 'succeed' | 'fail' | 'abandon' | 'lose' | 'break';
  /** For `fail`: why each target of the tier could not be asked then (null = it could). */
  readonly obstacles: Obstacles;
};

export type Obstacles = { readonly [target: string]: string | null };

/** Leave to make one attempt, as the health of a target gave it. */
export type PermitSeen = {
  /** `provider/model`. */
  readonly target: string;
  readonly key: string | null;
  readonly isProbe: boolean;
  readonly breakerBefore: BreakerState;
  readonly at: Moment;
  /** Whose attempt it was; null where nothing was sent. */
  requestId: string | null;
  readonly endings: PermitEnding[];
};

/** A change of what a target's health says. */
export type HealthChange = {
  readonly target: string;
  readonly at: Moment;
  readonly breaker: BreakerState;
  readonly obstacle: string | null;
};

/** What reached the client of a stream, and when. */
export type BatchSeen = Moment & {
  /** As it was said to be. */
  readonly isLast: boolean;
  readonly text: string;
  /** Of its events, but for those of text. */
  readonly types: readonly string[];
  /** Under which it is said that an answer begins. */
  readonly ids: readonly string[];
  /** Tokens in and out, as they were told last; null = they were not. */
  readonly usage: readonly [number | null, number | null] | null;
  /** Who goes on after whom; null = nobody begins to. */
  readonly joint: Joint | null;
};

export type RequestSeen = {
  readonly plan: RequestPlan;
  /** As of its arrival. */
  readonly tier: TierPlan;
  readonly arrived: Moment;
  readonly deadlineAtMs: number;
  readonly obstaclesAtArrival: Obstacles;
  /** When its client left, if it did before the end. */
  left: Moment | null;
  answered: (Moment & { readonly kind: 'whole' | 'stream' | 'failed' | 'gone' }) | null;
  readonly batches: BatchSeen[];
  /** All text that reached the client. */
  text: string;
  /** What the client was told instead of an answer, or after a part of it. */
  failure: RequestFailure | null;
  ended: Moment | null;
  obstaclesAtEnd: Obstacles;
  trace: RequestTrace | null;
  /** An error that the engine threw. */
  thrown: string | null;
  /** Listeners left on the client's signal when the connections had had time to be read out. */
  signalListeners: number;
};

/** A request sent after everything has healed: `breakers` within an open period, `rests` after every rest. */
export type RecoverySeen = {
  readonly after: 'breakers' | 'rests';
  readonly obstacles: Obstacles;
  readonly request: RequestSeen;
};

/** What was left when no request was under way: each should be 0. */
export type LeftSeen = {
  readonly at: Moment;
  readonly timers: number;
  readonly exchanges: number;
  readonly listeners: number;
  readonly permits: number;
};

export type Observation = {
  readonly schedule: Schedule;
  readonly requests: readonly RequestSeen[];
  readonly calls: readonly CallSeen[];
  readonly permits: readonly PermitSeen[];
  readonly changes: readonly HealthChange[];
  readonly recoveries: readonly RecoverySeen[];
  readonly left: readonly LeftSeen[];
  /** Why the run itself could not go on; null = it ended. */
  readonly fault: string | null;
};
