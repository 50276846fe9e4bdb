/** What each error class does: one row a class, read by the engine, the docs and `POST /classify`. */
import { type AttemptFailure, type ErrorClass, errorClasses } from './attempt-failure.ts';
import { unresolvedSecretRule } from './attempt-failures.ts';

/** What may follow on the target that failed. */
export type SameTarget =
  /** Another attempt after its hint, else after the backoff. */
  | 'retry'
  /** Only while no other candidate is admissible. */
  | 'last_resort_only'
  /** Another key at once; without one, after the hint if it fits. */
  | 'other_key_then_hint'
  /** Another key at once; never the key that was refused. */
  | 'other_key_only'
  /** Until the hold has ended like `retry`, afterwards by 5-streams. */
  | 'stream_rules'
  | 'never';

/** When the request goes on to the next candidate. */
export type NextTarget =
  | 'at_once'
  /** The target's breaker is open, or this request has used up its attempts there. */
  | 'when_sustained'
  | 'when_wait_does_not_fit'
  /** To targets whose window is larger or unknown, one attempt each. */
  | 'larger_window'
  /** See 4-resilience, Whose fault. */
  | 'whose_fault'
  /** `failover.on_content_policy`. */
  | 'if_policy_allows'
  | 'stream_rules'
  | 'never';

export type ParkedSubject = 'key' | 'target';

export type AlertKind =
  | 'auth_rejected'
  | 'secret_unresolved'
  | 'permission_denied'
  | 'quota_exhausted'
  | 'model_not_found'
  | 'internal_error';

export type Effect = {
  readonly sameTarget: SameTarget;
  /** Whether the attempt leaves a failure mark; else it leaves none, and proves no health either. */
  readonly countsForBreaker: boolean;
  readonly nextTarget: NextTarget;
  /** `growing` starts at 1 m and doubles to 10 m; `fixed` is `failover.recheck`. */
  readonly parking: {
    readonly subject: ParkedSubject;
    readonly period: 'fixed' | 'growing';
  } | null;
  /** Whether the key that was used cools down (rate limits). */
  readonly coolsKey: boolean;
  readonly alert: AlertKind | null;
  /** In words, for the docs. */
  readonly meaning: string;
  /** In docs/errors.md. */
  readonly docsAnchor: string;
};

type EffectName = Exclude<ErrorClass, 'connection'> | 'connection_refused' | 'connection_reset';

const quiet = { parking: null, coolsKey: false, alert: null } as const;
const retried = { sameTarget: 'retry', nextTarget: 'when_sustained', ...quiet } as const;
const avoided = { sameTarget: 'last_resort_only', nextTarget: 'at_once', ...quiet } as const;
const refusedKey = {
  sameTarget: 'other_key_only',
  countsForBreaker: false,
  nextTarget: 'at_once',
  coolsKey: false,
} as const;
const requestFault = { sameTarget: 'never', countsForBreaker: false, ...quiet } as const;
const ended = { ...requestFault, nextTarget: 'never' } as const;

const effects = {
  connection_refused: {
    ...avoided,
    countsForBreaker: true,
    meaning: 'no connection was made: refused, DNS, TLS, connect timeout',
    docsAnchor: 'connection',
  },
  connection_reset: {
    ...retried,
    countsForBreaker: true,
    meaning: 'a connection stood and broke',
    docsAnchor: 'connection',
  },
  transient_infra: {
    ...retried,
    countsForBreaker: true,
    meaning: 'a fault inside the provider: 500, 502, plain 503, 504 from an edge',
    docsAnchor: 'transient_infra',
  },
  malformed_response: {
    ...retried,
    countsForBreaker: true,
    meaning: 'an answer that is none: not JSON, no choices, a broken tool call',
    docsAnchor: 'malformed_response',
  },
  timeout: {
    ...avoided,
    countsForBreaker: true,
    meaning: 'silence: no headers, no content, or the provider gave up waiting',
    docsAnchor: 'timeout',
  },
  overload: {
    ...retried,
    countsForBreaker: true,
    meaning: 'the provider has too little capacity for everyone: 529, 503 overloaded',
    docsAnchor: 'overload',
  },
  rate_limit: {
    sameTarget: 'other_key_then_hint',
    countsForBreaker: false,
    nextTarget: 'when_wait_does_not_fit',
    parking: null,
    coolsKey: true,
    alert: null,
    meaning: 'this account asked too often: 429 per minute',
    docsAnchor: 'rate_limit',
  },
  quota_exhausted: {
    ...refusedKey,
    parking: { subject: 'key', period: 'fixed' },
    alert: 'quota_exhausted',
    meaning: 'no money or no quota is left: 402, insufficient quota, a daily limit',
    docsAnchor: 'quota_exhausted',
  },
  auth: {
    ...refusedKey,
    parking: { subject: 'key', period: 'growing' },
    alert: 'auth_rejected',
    meaning: 'the provider does not accept the key: 401',
    docsAnchor: 'auth',
  },
  permission: {
    ...refusedKey,
    parking: { subject: 'key', period: 'fixed' },
    alert: 'permission_denied',
    meaning: 'the key is known, but may not do this: 403',
    docsAnchor: 'permission',
  },
  not_found: {
    sameTarget: 'never',
    countsForBreaker: false,
    nextTarget: 'at_once',
    parking: { subject: 'target', period: 'fixed' },
    coolsKey: false,
    alert: 'model_not_found',
    meaning: 'the provider says that it has no such model',
    docsAnchor: 'not_found',
  },
  context_length: {
    ...requestFault,
    nextTarget: 'larger_window',
    meaning: "the prompt is larger than the model's window",
    docsAnchor: 'context_length',
  },
  invalid_request: {
    ...requestFault,
    nextTarget: 'whose_fault',
    meaning: 'the provider does not accept the request: 400, 413, 422',
    docsAnchor: 'invalid_request',
  },
  content_policy: {
    ...requestFault,
    nextTarget: 'if_policy_allows',
    meaning: 'the provider refuses the prompt',
    docsAnchor: 'content_policy',
  },
  poisoned: { ...ended, meaning: 'this input reproduces a fault', docsAnchor: 'poisoned' },
  stream_interrupted: {
    sameTarget: 'stream_rules',
    countsForBreaker: true,
    nextTarget: 'stream_rules',
    ...quiet,
    meaning: 'a stream ended without its terminal event',
    docsAnchor: 'stream_interrupted',
  },
  client_gone: { ...ended, meaning: 'the client left', docsAnchor: 'client_gone' },
  internal: {
    ...ended,
    alert: 'internal_error',
    meaning: 'a fault of the gateway itself',
    docsAnchor: 'internal',
  },
} satisfies { readonly [name in EffectName]: Effect };

type Judged = Pick<AttemptFailure, 'errorClass' | 'connection' | 'shouldRetry'> &
  Partial<Pick<AttemptFailure, 'rule'>>;

/** The row of a failure, with `shouldRetry` (a provider's header, an operator's rule) applied. */
export function effectOf(failure: Judged): Effect {
  const row: Effect = effects[rowOf(failure)];
  const isUnresolved = failure.rule === unresolvedSecretRule;
  const effect: Effect = isUnresolved ? { ...row, alert: 'secret_unresolved' } : row;
  if (failure.shouldRetry === null) return effect;
  return failure.shouldRetry ? allowed(effect) : forbidden(effect);
}

function rowOf(failure: Pick<AttemptFailure, 'errorClass' | 'connection'>): EffectName {
  if (failure.errorClass !== 'connection') return failure.errorClass;
  return failure.connection === 'refused' ? 'connection_refused' : 'connection_reset';
}

/** Asking again is said to help, whatever the class says. */
function allowed(effect: Effect): Effect {
  const isAllowedAnyway = ['retry', 'other_key_then_hint', 'stream_rules'].includes(
    effect.sameTarget,
  );
  return isAllowedAnyway
    ? effect
    : { ...effect, sameTarget: 'retry', nextTarget: 'when_sustained' };
}

/**
 * Asking the same target again is said not to help: what would wait for a retry moves on. Of a rate
 * limit it is said of the account that was asked, which is the key's: a limit ends with its window, so
 * the word against a repeat is about this key, and another one is asked as after any 429.
 */
function forbidden(effect: Effect): Effect {
  const isWaiting =
    effect.nextTarget === 'when_sustained' || effect.nextTarget === 'when_wait_does_not_fit';
  return {
    ...effect,
    sameTarget: effect.sameTarget === 'other_key_then_hint' ? 'other_key_only' : 'never',
    nextTarget: isWaiting ? 'at_once' : effect.nextTarget,
  };
}

const sameTargetWords = {
  retry: 'yes',
  last_resort_only: 'only if no other is admissible',
  other_key_then_hint: 'on another key at once; else after the hint, if it fits',
  other_key_only: 'on another key at once; never with the key that was refused',
  stream_rules: 'within the hold',
  never: 'no',
} satisfies { readonly [rule in SameTarget]: string };

const nextTargetWords = {
  at_once: 'at once',
  when_sustained: 'when sustained',
  when_wait_does_not_fit: 'when the wait does not fit',
  larger_window: 'to targets with a larger or unknown window',
  whose_fault: 'unless the request itself is at fault',
  if_policy_allows: 'if `failover.on_content_policy`',
  stream_rules: 'within the hold, or to continue',
  never: 'no',
} satisfies { readonly [rule in NextTarget]: string };

/** The table as GitHub Markdown, for the docs; a test holds the docs to it. */
export function effectsTable(): string {
  const head = [
    '| class | meaning | same target again | breaker counts it | next target | besides |',
    '| --- | --- | --- | --- | --- | --- |',
  ];
  const rows = errorClasses.flatMap((errorClass) =>
    errorClass === 'connection'
      ? [
          tableRow('connection_refused', '`connection` refused'),
          tableRow('connection_reset', '`connection` reset'),
        ]
      : [tableRow(errorClass, `\`${errorClass}\``)],
  );
  return [...head, ...rows].join('\n');
}

function tableRow(name: EffectName, title: string): string {
  const effect: Effect = effects[name];
  const cells = [
    title,
    effect.meaning,
    sameTargetWords[effect.sameTarget],
    effect.countsForBreaker ? 'yes' : 'no',
    nextTargetWords[effect.nextTarget],
    besides(effect),
  ];
  return `| ${cells.join(' | ')} |`;
}

function besides(effect: Effect): string {
  const parts = [
    effect.coolsKey ? 'the key cools down' : null,
    effect.parking === null ? null : `the ${effect.parking.subject} is parked`,
    effect.alert === null ? null : `alert \`${effect.alert}\``,
  ];
  return parts.filter((part) => part !== null).join('; ');
}
