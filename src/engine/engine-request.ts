/** One decoded request, ready to be answered: what the engine is given. */
import type { ChatRequest, DialectName } from '../chat/request.ts';
import type { StreamPart } from '../chat/stream-event.ts';
import type { Joint, OperationName } from '../dialects/dialect.ts';
import type { RequestFailure } from '../failure/request-failure.ts';
import type { Variables } from '../prompts/variant.ts';
import type { Tier } from '../routing/snapshot.ts';
import type { AccountBinding, Origin } from './origins.ts';
import type { RequestTrace } from './trace.ts';

export type EngineRequest = {
  readonly id: string;
  readonly clientRequestId: string;
  readonly tier: Tier;
  readonly configVersion: number;
  readonly chat: ChatRequest;
  readonly clientDialect: DialectName;
  /** Null = a chat. */
  readonly operation: OperationName | null;
  readonly variables: Variables;
  /** A target id: that one or an error. */
  readonly pin: string | null;
  /** Absent: any target may serve it. */
  readonly account?: AccountBinding;
  /** Of the ids that it brings, those whose makers are known. */
  readonly origins?: ReadonlyMap<string, Origin>;
  /** The first admissible target only. */
  readonly isFailoverOff: boolean;
  /** An eval wants one answer by one hand: nothing is continued. */
  readonly isStrict?: boolean;
  /** May only lower the tier's retries; null = the tier's. */
  readonly maxRetries: number | null;
  /** Monotonic ms. */
  readonly arrivedAtMs: number;
  readonly deadlineAtMs: number;
  /** Wall-clock ms. */
  readonly startedAtMs: number;
  /** Client headers (lower case) that a provider of the same dialect may be passed, and trace context. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** How often the client has repeated this request already. */
  readonly clientRetryCount: number;
  readonly evalRun: string | null;
  readonly runId: string | null;
  readonly session: string | null;
  readonly tags: { readonly [name: string]: string };
  readonly keyId: string | null;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
};

/** `joint`: the parts go on with what another target began. Parts in order. `isLast` comes once, at the end: with the `end` event, or with why the stream broke. */
export type AnswerBatch = {
  readonly parts: readonly StreamPart[];
  readonly isLast: boolean;
  readonly failure: RequestFailure | null;
  readonly joint?: Joint;
};

/** What is known of the server of an answer when its first byte leaves. */
export type AnswerHead = {
  readonly target: string;
  readonly variant: string | null;
  readonly attempts: number;
  readonly failovers: number;
  readonly isRestarted: boolean;
  readonly dropped: readonly string[];
};

export type EngineAnswer =
  | { readonly kind: 'failed'; readonly failure: RequestFailure }
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'whole';
      readonly head: AnswerHead;
      readonly parts: readonly StreamPart[];
      /** The provider's own body, when it spoke the client's dialect. */
      readonly original: Buffer | null;
    }
  | {
      readonly kind: 'stream';
      readonly head: AnswerHead;
      /** Ends early, without `isLast`, when the client has gone. */
      readonly batches: AsyncGenerator<AnswerBatch, void, undefined>;
    };

export type EngineRun = {
  readonly answer: Promise<EngineAnswer>;
  /** What happened, as of now; whole once the answer or its last batch is out. */
  readonly trace: () => RequestTrace;
};
