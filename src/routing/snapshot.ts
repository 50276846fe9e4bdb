/** One immutable config version, ready to serve: a request runs from start to end on the snapshot it began with. */
import type { JsonObject } from '../base/json.ts';
import type { Ability } from '../chat/requirements.ts';
import type { Variant } from '../prompts/variant.ts';
import type { Provider } from '../providers/provider.ts';
import type { BackoffPolicy } from '../resilience/backoff.ts';
import type { BreakerPolicy } from '../resilience/breaker/breaker.ts';
import type { ConcurrencyPolicy } from '../resilience/concurrency-limit.ts';
import type { HedgePolicy } from '../resilience/hedge-budget.ts';

export type ClockPolicy = {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly firstContentSoftMs: number;
  readonly firstContentMs: number;
  readonly idleMs: number;
};

export type RetryPolicy = {
  readonly attempts: number;
  readonly attemptsTotal: number;
  readonly backoff: BackoffPolicy;
  readonly maxWaitMs: number;
  readonly hintCeilingMs: number;
  readonly cooldownMaxMs: number;
  /** Whether a request whose provider-run tools may have written is asked again like any other. */
  readonly repeatsProviderTools?: boolean;
  readonly budget: { readonly ratio: number; readonly minPerSecond: number; readonly max: number };
};

export type StreamPolicy = {
  readonly holdTokens: number;
  readonly holdMaxMs: number;
  readonly onInterrupt: 'continue' | 'fail_forward';
  readonly maxContinuations: number;
  readonly maxDurationMs: number;
  /** 0 = off. */
  readonly commitAfterMs: number;
};

export type Target = {
  /** `provider/model` unless the document sets another. */
  readonly id: string;
  readonly provider: Provider;
  readonly model: string;
  readonly variant: Variant | null;
  /** Canonical or dialect names; a value `{force: x}` overrides the client. */
  readonly params: JsonObject;
  /** Tokens; null = unknown. */
  readonly contextWindow: number | null;
  readonly supports: { readonly [ability in Ability]?: boolean };
  readonly isThinking: boolean;
  readonly acceptsPrefill: boolean;
  /** The words that ask it for the rest of an answer; absent = there are none. */
  readonly instruction?: Variant;
  /** The tier's clocks with the target's own on top. */
  readonly clocks: ClockPolicy;
  readonly concurrency: ConcurrencyPolicy;
};

export type Tier = {
  readonly name: string;
  readonly description: string;
  readonly aliases: readonly string[];
  readonly deadlineMs: number;
  readonly retry: RetryPolicy;
  readonly breaker: BreakerPolicy;
  readonly clocks: ClockPolicy;
  /** Null = a slow start is never hedged. */
  readonly hedge: HedgePolicy | null;
  readonly failover: {
    readonly onContentPolicy: boolean;
    readonly recheckMs: number;
    readonly waiters: number;
  };
  readonly stream: StreamPolicy;
  readonly targets: readonly Target[];
  /** Every variable fault of every variant of the tier's targets, whichever will serve. */
  readonly variableFaults: (variables: JsonObject) => readonly string[];
};

export type Snapshot = {
  /** The document's number, from 1. */
  readonly version: number;
  readonly createdAtMs: number;
  readonly document: JsonObject;
  readonly server: {
    readonly bodyBytesMax: number;
    readonly headerBytesMax: number;
    readonly drainDelayMs: number;
    readonly drainTimeoutMs: number;
    readonly cors: readonly string[];
  };
  readonly log: {
    readonly keepMs: number;
    readonly commitWaitMs: number;
    readonly onFailure: 'serve' | 'refuse';
  };
  readonly alerts: {
    /** The reference of the secret that holds the webhook's address; null = none. */
    readonly webhook: string | null;
    /** Between two notices of one kind and subject. */
    readonly minIntervalMs: number;
  };
  readonly tiers: ReadonlyMap<string, Tier>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** By tier name, then aliases (names and globs) in document order, then `default_tier`; null = unknown. */
  readonly resolveTier: (name: string) => Tier | null;
};
