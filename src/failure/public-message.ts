/** What a client is told about failed attempts: what failed, what was tried, nothing of our accounts. */
import type { AttemptFailure, ErrorClass } from './attempt-failure.ts';
import type { PublicAttempt } from './request-failure.ts';

/** One failed attempt of a request. Times in ms; `startedMs` since the request's arrival. */
export type FailedAttempt = {
  readonly target: string;
  readonly failure: AttemptFailure;
  readonly startedMs: number;
  readonly durationMs: number;
  /** It speaks of something that the client did not send, or that our translation made. */
  readonly isOfOurMaking: boolean;
};

export type SkippedTarget = { readonly target: string; readonly reason: string };

/** Classes whose words are ours: the provider's would tell of the gateway's own accounts. */
const ownWords: { readonly [errorClass in ErrorClass]?: string } = {
  auth: "the provider did not accept the gateway's key",
  permission: "the gateway's key may not use this model",
  quota_exhausted: "the gateway's account with this provider has no quota or credit left",
  internal: 'a fault inside the gateway',
};

export function publicMessage(failure: AttemptFailure): string {
  return ownWords[failure.errorClass] ?? failure.message;
}

export function publicAttempt(attempt: FailedAttempt): PublicAttempt {
  const { failure } = attempt;
  return {
    target: attempt.target,
    status: failure.status,
    class: failure.errorClass,
    message: publicMessage(failure),
    upstream_request_id: failure.upstreamRequestId,
    started_ms: Math.round(attempt.startedMs),
    duration_ms: Math.round(attempt.durationMs),
  };
}

const targetsNamed = 4;
const wordsMax = 120;

/** "Tried: a (3 times, last overload, HTTP 529: Overloaded); b (timeout). Skipped: c (open)." */
export function whatWasTried(
  attempts: readonly FailedAttempt[],
  skipped: readonly SkippedTarget[],
): string {
  const tried = [...new Set(attempts.map(({ target }) => target))].map((target) =>
    triedTarget(attempts.filter((attempt) => attempt.target === target)),
  );
  const skips = skipped.map(({ target, reason }) => `${target} (${reason})`);
  return [listed('Tried', tried), listed('Skipped', skips)].filter((part) => part !== '').join(' ');
}

function listed(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const more = items.length - targetsNamed;
  const rest = more > 0 ? ` and ${more} more` : '';
  return `${title}: ${items.slice(0, targetsNamed).join('; ')}${rest}.`;
}

function triedTarget(attempts: readonly FailedAttempt[]): string {
  const last = attempts.at(-1);
  if (last === undefined) return '';
  const times = attempts.length === 1 ? '' : `${attempts.length} times, last `;
  const { failure, target } = last;
  const status = failure.status === null ? '' : `, HTTP ${failure.status}`;
  return `${target} (${times}${failure.errorClass}${status}: ${shortened(publicMessage(failure))})`;
}

function shortened(words: string): string {
  const clean = words.replace(/[.\s]+$/, '');
  return clean.length <= wordsMax ? clean : `${clean.slice(0, wordsMax - 1).trimEnd()}…`;
}
