/** Every request has one outcome, and its trace tells one story. */
import type { AttemptTrace, RequestTrace } from '../../src/engine/trace.ts';
import type { ErrorClass } from '../../src/failure/attempt-failure.ts';
import type { FailureClass } from '../../src/failure/request-failure.ts';
import { statusOfFailure } from '../../src/failure/summary.ts';
import {
  type AttemptSeen,
  allRequests,
  attemptsOf,
  committedMs,
  isBroken,
  isSame,
  named,
  toleranceMs,
} from './invariants-reading.ts';
import { targetId } from './schedule-model.ts';
import type { Observation, RequestSeen } from './simulated-observation.ts';

type Check = (request: RequestSeen, trace: RequestTrace) => readonly (string | null)[];

function forEach(observation: Observation, check: Check): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { trace } = request;
    if (trace === null) return [named(request, 'no trace')];
    return check(request, trace)
      .filter((fault) => fault !== null)
      .map((fault) => named(request, fault));
  });
}

function unless(isRight: boolean, fault: string): string | null {
  return isRight ? null : fault;
}

/** What the client saw, the outcome, the status and the failure say the same. */
export function hasOneOutcome(observation: Observation): readonly string[] {
  return forEach(observation, (request, trace) => {
    const { outcome, status, failure } = trace;
    const kind = request.answered?.kind ?? 'none';
    const said = `${kind} with ${outcome} ${status} ${failure?.failureClass ?? null}`;
    switch (outcome) {
      case 'served':
        return [unless(isServed(request) && status === 200 && failure === null, said)];
      case 'client_gone':
        return [
          unless(status === 499 && request.left !== null && kind !== 'failed', said),
          unless(failure === null || failure.failureClass === 'client_gone', said),
        ];
      case 'failed':
      case 'rejected':
        return isBroken(request)
          ? [unless(status === 200 && failure?.failureClass === 'stream_interrupted', said)]
          : failedFaults(request, trace, said);
      case 'lost':
        return [said];
    }
  });
}

function isServed({ answered, batches, failure }: RequestSeen): boolean {
  if (failure !== null) return false;
  if (answered?.kind === 'whole') return true;
  return answered?.kind === 'stream' && batches.at(-1)?.isLast === true;
}

function failedFaults(
  request: RequestSeen,
  { outcome, status, failure, attempts }: RequestTrace,
  said: string,
): readonly (string | null)[] {
  if (failure === null || request.answered?.kind !== 'failed') return [said];
  const { failureClass, retryAfterMs } = failure;
  const isRejected = attempts.length === 0 && status < 500;
  return [
    unless(request.failure === failure, 'the trace tells another failure than the client'),
    unless(status === statusOfFailure[failureClass] && status === failure.status, said),
    unless((outcome === 'rejected') === isRejected, said),
    unless((retryAfterMs !== null) === [429, 503].includes(status), `${said}, ${retryAfterMs} ms`),
    unless(retryAfterMs === null || retryAfterMs > 0, `retry after ${retryAfterMs} ms`),
  ];
}

/** The failure class is the one that the table of the HTTP contract gives for what happened. */
export function hasTheClassOfItsAttempts(observation: Observation): readonly string[] {
  return forEach(observation, (request, trace) => {
    const { failure } = trace;
    if (failure === null || request.answered?.kind !== 'failed') return [];
    const attempts = attemptsOf(request);
    const isFitting = isClassFitting(failure.failureClass, request, attempts);
    const classes = attempts.map(({ failure: one }) => one?.errorClass ?? 'none').join(', ');
    return [unless(isFitting, `${failure.failureClass} after ${classes || 'no attempt'}`)];
  });
}

const refusals: readonly ErrorClass[] = ['auth', 'permission', 'quota_exhausted'];

function isClassFitting(
  failureClass: FailureClass,
  request: RequestSeen,
  attempts: readonly AttemptSeen[],
): boolean {
  const classes = attempts.flatMap(({ failure }) => failure?.errorClass ?? []);
  const isEach = (wanted: readonly ErrorClass[]): boolean =>
    classes.length > 0 && classes.every((errorClass) => wanted.includes(errorClass));
  const leftMs = request.deadlineAtMs - (request.ended?.atMs ?? 0);
  const isLate = leftMs <= toleranceMs;
  switch (failureClass) {
    case 'invalid_request':
    case 'context_length':
    case 'content_policy':
      return classes.includes(failureClass);
    case 'deadline_exceeded':
      return isLate;
    case 'rate_limited':
      return lastClasses(attempts).every((errorClass) =>
        ['rate_limit', 'not_found', ...refusals].includes(errorClass),
      );
    case 'no_target_available':
      return !isLate;
    case 'upstream_quota':
      return isEach(['quota_exhausted']);
    case 'upstream_auth':
      return isEach(refusals) && !isEach(['quota_exhausted']);
    case 'upstream_failed':
      return classes.length > 0 && !isEach(refusals) && !isLate;
    default:
      return false;
  }
}

/** How each target that was asked failed last. */
function lastClasses(attempts: readonly AttemptSeen[]): readonly ErrorClass[] {
  const last = new Map(attempts.map(({ target, failure }) => [target, failure]));
  return [...last.values()].flatMap((failure) => failure?.errorClass ?? []);
}

/** Numbers from 1, kinds as they came about, each attempt with an end and, when it failed, a failure. */
export function numbersItsAttempts(observation: Observation): readonly string[] {
  return forEach(observation, (request, trace) => {
    const attempts = attemptsOf(request);
    return attempts.flatMap((attempt, index) => [
      unless(attempt.n === index + 1, `attempt ${attempt.n} stands at ${index + 1}`),
      unless(
        isKind(request, attempts, attempt),
        `attempt ${attempt.n} is called a ${attempt.kind}`,
      ),
      unless(isEnded(attempt, trace), `attempt ${attempt.n} ended ${attempt.outcome}`),
      unless(hasWaited(attempts, attempt), `attempt ${attempt.n} waited less than it says`),
    ]);
  });
}

/** The attempt whose end led to this one. */
function leadingTo(attempts: readonly AttemptSeen[], next: AttemptSeen): AttemptSeen | undefined {
  // Whoever lost a race leads to nothing once the other writes.
  const isRest = next.kind === 'continuation';
  const earlier = attempts.filter(
    ({ n, outcome }) => n < next.n && !(isRest && outcome === 'cancelled'),
  );
  return earlier.toSorted((left, right) => left.endedMs - right.endedMs).at(-1);
}

function isKind(
  request: RequestSeen,
  attempts: readonly AttemptSeen[],
  attempt: AttemptSeen,
): boolean {
  const isAfterCommit = attempt.startedMs >= (committedMs(request) ?? Number.POSITIVE_INFINITY);
  if (attempt.kind === 'continuation') return isAfterCommit;
  if (attempt.kind === 'hedge') return attempt.n > 1;
  if (attempt.kind === 'probe') return true;
  const before = leadingTo(attempts, attempt);
  if (before === undefined) return attempt.kind === 'first';
  return attempt.kind === (before.target === attempt.target ? 'retry' : 'failover');
}

function isEnded({ outcome, failure, n }: AttemptTrace, trace: RequestTrace): boolean {
  switch (outcome) {
    case 'served':
      return failure === null && trace.outcome === 'served' && trace.serving?.n === n;
    case 'failed':
      return failure !== null;
    case 'cancelled':
      return failure === null && trace.attempts.some(({ kind }) => kind === 'hedge');
    case 'client_gone':
      return failure === null && trace.outcome === 'client_gone';
  }
}

function hasWaited(attempts: readonly AttemptSeen[], attempt: AttemptSeen): boolean {
  if (attempt.delayBeforeMs === 0) return true;
  const before = leadingTo(attempts, attempt);
  if (before === undefined) return true;
  const waitedMs = attempt.startedMs - before.endedMs;
  return waitedMs > attempt.delayBeforeMs || isSame(waitedMs, attempt.delayBeforeMs);
}

/** Changes of target are counted, a hedge only when it wins; who served stands first or it is a failover. */
export function countsItsFailovers(observation: Observation): readonly string[] {
  return forEach(observation, (request, trace) => {
    const attempts = attemptsOf(request);
    const changes = attempts.filter((attempt) => {
      const before = leadingTo(attempts, attempt);
      return attempt.kind !== 'hedge' && before !== undefined && before.target !== attempt.target;
    }).length;
    const hedge = attempts.find(({ kind }) => kind === 'hedge');
    // A hedge that outlived the first attempt and then failed too may count or not.
    const most = changes + (hedge === undefined ? 0 : 1);
    const isWon = hedge !== undefined && trace.serving?.n === hedge.n && trace.outcome === 'served';
    const least = changes + (isWon ? 1 : 0);
    const { failoverCount: count } = trace;
    const [first] = request.tier.targets;
    const isOther = first !== undefined && trace.serving?.target !== targetId(first);
    const isTold = trace.outcome === 'served' ? trace.isFailedOver === isOther : true;
    return [
      unless(count >= least && count <= most, `${count} failovers, not ${least} to ${most}`),
      unless(isTold, `failed over ${trace.isFailedOver} with ${trace.serving?.target}`),
    ];
  });
}

const skipReasons =
  /^(drained|parked|cooling|open|full|ability:\w+|context_window|deadline|pinned|prompt|translation)$/;

/** Skips name targets of the tier that were not asked, once each, with a known reason. */
export function explainsItsSkips(observation: Observation): readonly string[] {
  return forEach(observation, (request, trace) => {
    const targets = request.tier.targets.map(targetId);
    const skipped = trace.skipped.map(({ target }) => target);
    return [
      unless(new Set(skipped).size === skipped.length, `skips ${skipped.join(', ')}`),
      ...trace.skipped.flatMap(({ target, reason }) => [
        unless(skipReasons.test(reason), `skips ${target} for ${reason}`),
        unless(targets.includes(target), `skips ${target}, which is not of its tier`),
      ]),
    ];
  });
}

/** Whoever was not asked for want of room alone may be asked later: that is no failure of the targets. */
export function tellsOfTheWantOfRoom(observation: Observation): readonly string[] {
  return forEach(observation, (request, { failure, attempts, skipped }) => {
    const asked = attempts.map(({ target }) => target);
    const unasked = skipped.find(
      ({ target, reason }) => reason === 'full' && !asked.includes(target),
    );
    const { isFailoverOff, mayWrite } = request.plan;
    const isOver = attempts.some(({ failure: one }) => one?.errorClass === 'poisoned');
    if (unasked === undefined || isFailoverOff || mayWrite || isOver) return [];
    const atEnd = request.obstaclesAtEnd[unasked.target] ?? null;
    const isOther = atEnd !== null && atEnd !== 'full';
    const isBlamed = failure?.failureClass.startsWith('upstream_') === true;
    return [
      unless(isOther || !isBlamed, `${failure?.failureClass}, yet ${unasked.target} was full`),
    ];
  });
}

/** What the trace measures is what was seen from outside. */
export function measuresItsTimes(observation: Observation): readonly string[] {
  return forEach(observation, (request, trace) => {
    const endedMs = request.arrived.atMs + trace.latencyMs;
    const isWithin = endedMs <= (request.ended?.atMs ?? 0) + 1e-6;
    const sleptMs = trace.backoffMs;
    return [
      unless(isWithin, `a latency of ${trace.latencyMs} ms, longer than it lasted`),
      unless(sleptMs >= 0 && sleptMs <= trace.latencyMs + 1e-6, `slept ${sleptMs} ms`),
      unless(trace.deadlineMs === request.deadlineAtMs - request.arrived.atMs, 'another deadline'),
      ...attemptsOf(request).map(({ n, durationMs, startedAfterMs }) =>
        unless(durationMs >= 0 && startedAfterMs >= 0, `attempt ${n} lasted ${durationMs} ms`),
      ),
    ];
  });
}
