/** What one request has lived through so far: the whole input of the next decision. */
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import type { BackoffPolicy } from '../resilience/backoff.ts';

export type Obstacle = {
  /** A skip reason of 2-api: `open`, `cooling`, `parked`, `drained`, `full`, `ability:NAME`, ... */
  readonly reason: string;
  /** When it may pass by itself (monotonic ms); null = not within this request. */
  readonly untilMs: number | null;
};

export type Candidate = {
  readonly target: string;
  /** Why it cannot be asked at this moment; null = it can. */
  readonly obstacle: Obstacle | null;
  /** Attempts of this request on it. */
  readonly attempts: number;
  /** Time that this request slept for it. */
  readonly sleptMs: number;
  /** This request asks it no more. */
  readonly isSpent: boolean;
  /** A tenth of its successes take less than this; null = not known yet. */
  readonly expectedMs: number | null;
  /** Tokens; null = unknown. */
  readonly contextWindow: number | null;
};

export type LastFailure = {
  /** Index into `candidates`. */
  readonly candidate: number;
  readonly failure: AttemptFailure;
  /** Another key of the same provider does not rest. */
  readonly hasOtherKey: boolean;
  /** Until when the key that was used rests (monotonic ms); null = it does not, or another is free. */
  readonly keyRestsUntilMs: number | null;
  /** Retries on this target so far: the exponent of the backoff. */
  readonly retries: number;
  readonly previousDelayMs: number | null;
  /** It is asked again only while no other candidate is admissible, whatever its failure's class says. */
  readonly isAvoided?: boolean;
  /** Failures of this class without a hint on this target so far, this one included. */
  readonly unhintedFailures: number;
  /** A tool that the provider itself runs may have written: nobody may be asked again. */
  readonly mayHaveExecuted: boolean;
  /** Another target of this request has failed in a way that the input may have caused. */
  readonly isConfirmedElsewhere: boolean;
  /** The parameter at fault is one that the client did not send, or that our translation made. */
  readonly isOurParameter: boolean;
};

export type Limits = {
  /** Attempts per target. */
  readonly attempts: number;
  readonly attemptsTotal: number;
  readonly maxWaitMs: number;
  readonly hintCeilingMs: number;
  readonly backoff: BackoffPolicy;
  readonly isFailoverOff: boolean;
  readonly failsOverOnContentPolicy: boolean;
};

export type History = {
  readonly nowMs: number;
  readonly deadlineAtMs: number;
  readonly limits: Limits;
  /** In plan order. */
  readonly candidates: readonly Candidate[];
  readonly attempts: number;
  /** The first candidate asked, and whether the last failure is the first judgement of the request. */
  readonly firstAsked: number | null;
  readonly isFirstJudgement: boolean;
  readonly last: LastFailure | null;
};

/** Why the request ends without an answer. */
export type Ending =
  /** Its own fault, by the first target that judged it. */
  | 'request_fault'
  /** Nothing is left to ask. */
  | 'spent'
  /** What is left rests longer than the request may wait. */
  | 'resting'
  /** There is not time for another attempt. */
  | 'no_time'
  /** A tool that the provider itself runs may have written before the answer was lost. */
  | 'maybe_executed'
  /** The stream broke after the client had seen some of it. */
  | 'interrupted';

export type Step =
  | {
      readonly kind: 'attempt';
      readonly candidate: number;
      readonly isRetry: boolean;
      /** Another key of the same provider: no retry as far as the budget is concerned. */
      readonly isKeySwitch?: boolean;
      readonly delayMs: number;
      readonly delayReason: 'backoff' | 'hint' | null;
    }
  /** All rest: wait for the first one back, then decide again. */
  | { readonly kind: 'wait'; readonly candidate: number; readonly delayMs: number }
  | { readonly kind: 'finish'; readonly ending: Ending };

export type AttemptStep = Extract<Step, { kind: 'attempt' }>;
