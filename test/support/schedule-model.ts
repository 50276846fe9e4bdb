/** A schedule: everything that happens to a simulated gateway, as plain data that JSON can hold. */
import type { ConcurrencyPolicy } from '../../src/resilience/concurrency-limit.ts';
import type { ClockPolicy, Tier } from '../../src/routing/snapshot.ts';
import type { RestManner } from './schedule-rest.ts';

/** What a call meets at its provider. Token counts are those of the answer's text. */
export type Fault =
  | { readonly kind: 'refuse' | 'reset' | 'stale'; readonly afterMs: number }
  /** No connection comes about: the transport's connect timeout ends it. */
  | { readonly kind: 'unreachable' }
  /** The connection stands, nothing is ever said. */
  | { readonly kind: 'silence' }
  /** Pings, never content. */
  | { readonly kind: 'pings'; readonly everyMs: number }
  | { readonly kind: 'slow'; readonly addMs: number }
  /** A pause between any two pieces of the answer. */
  | { readonly kind: 'trickle'; readonly gapMs: number }
  | { readonly kind: 'stall' | 'cut' | 'end_early'; readonly afterTokens: number }
  | {
      readonly kind: 'error_event';
      readonly afterTokens: number;
      readonly status: number;
      readonly word: string;
    }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly word: string | null;
      readonly afterMs: number;
      readonly headers: Readonly<Record<string, string>>;
      /** The error document never ends. */
      readonly hangs: boolean;
    }
  | { readonly kind: 'bad_events'; readonly count: number; readonly afterTokens: number }
  | { readonly kind: 'no_reply' }
  /** A finish, and nothing before it. */
  | { readonly kind: 'empty' };

/** A fault of one provider (or of one of its keys) in [fromMs, toMs), met by a share of the calls. */
export type Phase = {
  readonly provider: string;
  /** Null = whichever key is used. */
  readonly key: string | null;
  readonly fromMs: number;
  readonly toMs: number;
  readonly share: number;
  readonly fault: Fault;
};

export type ProviderPlan = {
  readonly name: string;
  readonly keys: readonly { readonly alias: string; readonly isResolved: boolean }[];
  /** To the headers of a healthy answer, and then to its first piece. */
  readonly latencyMs: readonly [number, number];
  /** Between two pieces of a healthy answer. */
  readonly gapMs: number;
  readonly tokens: readonly [number, number];
  readonly allowMissingFinish: boolean;
  /** An empty answer is asked for once more. */
  readonly asksAgainWhenEmpty: boolean;
  /** Goes on with a turn of the assistant's that stands last; else it refuses it. */
  readonly takesPrefill: boolean;
  /** How it goes on; null = another way each time. */
  readonly manner: RestManner | null;
  /** Of its answers that begin with thoughts, and that end with a tool call. */
  readonly thinkShare: number;
  readonly toolShare: number;
};

export type TargetPlan = {
  readonly provider: string;
  readonly model: string;
  readonly contextWindow: number | null;
  /** As the config has it; the provider may think otherwise. */
  readonly acceptsPrefill: boolean;
  /** Whether there are words that ask it to go on. */
  readonly hasInstruction: boolean;
  readonly clocks: ClockPolicy;
  readonly concurrency: ConcurrencyPolicy;
};

export type TierPolicies = Pick<
  Tier,
  'deadlineMs' | 'retry' | 'breaker' | 'hedge' | 'failover' | 'stream'
>;

export type TierPlan = {
  readonly name: string;
  readonly policies: TierPolicies;
  readonly targets: readonly TargetPlan[];
};

export type RequestPlan = {
  readonly id: string;
  readonly atMs: number;
  readonly tier: string;
  readonly isStream: boolean;
  /** Null = the tier's. */
  readonly deadlineMs: number | null;
  /** After so long its client leaves. */
  readonly leavesAfterMs: number | null;
  /** Whether the client's leaving also ends the flow at once, as the HTTP server does. */
  readonly returnsOnLeave: boolean;
  readonly pin: string | null;
  readonly isFailoverOff: boolean;
  readonly maxRetries: number | null;
  readonly session: string | null;
  /** The last message is a tool's result: no new turn of the conversation. */
  readonly isToolTurn: boolean;
  /** Requests of one body are the same input. */
  readonly body: string;
  /** Offers a tool that the provider runs, and that may write. */
  readonly mayWrite: boolean;
  /** Anything but `text` is never gone on with. */
  readonly asks: 'text' | 'json' | 'choices' | 'logprobs' | 'strict';
  /** How long the client takes over each batch. */
  readonly readPauseMs: number;
};

/** An input that makes every provider fail (or the named one), whenever it is sent. */
export type Poison = {
  readonly body: string;
  readonly provider: string | null;
  readonly status: number;
};

/** An operator drains a target, and gives it back. */
export type Drain = { readonly target: string; readonly fromMs: number; readonly toMs: number };

/** The tiers from `atMs` on; the first version starts at 0. */
export type ConfigVersion = { readonly atMs: number; readonly tiers: readonly TierPlan[] };

export type Schedule = {
  readonly seed: number;
  /** All faults have ended by then. */
  readonly endMs: number;
  readonly providers: readonly ProviderPlan[];
  readonly phases: readonly Phase[];
  readonly poisons: readonly Poison[];
  readonly drains: readonly Drain[];
  readonly versions: readonly ConfigVersion[];
  readonly requests: readonly RequestPlan[];
};

export function versionAt(schedule: Schedule, atMs: number): ConfigVersion {
  const version = schedule.versions.findLast((candidate) => candidate.atMs <= atMs);
  if (version === undefined) throw new Error('a schedule without a first version');
  return version;
}

export function tierAt(schedule: Schedule, name: string, atMs: number): TierPlan | undefined {
  return versionAt(schedule, atMs).tiers.find((tier) => tier.name === name);
}

export function targetId(target: { readonly provider: string; readonly model: string }): string {
  return `${target.provider}/${target.model}`;
}
