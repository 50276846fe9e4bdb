/** The end of a request that nobody served, told from its state. */
import type { RequestFailure } from '../failure/request-failure.ts';
import {
  failureOfBrokenStream,
  failureOfRequest,
  type LastObstacle,
  statusOfFailure,
} from '../failure/summary.ts';
import type { CandidateState } from './candidate-state.ts';
import type { Ending } from './history.ts';
import { isOfOurMaking } from './judgement.ts';
import { abilityFault } from './lacking.ts';
import { mayWrite } from './provider-tools.ts';
import type { FailedAttempt, RequestRun } from './request-run.ts';

export function requestFailure(run: RequestRun, ending: Ending, nowMs: number): RequestFailure {
  const { id, clientRequestId, tier } = run.request;
  const attempts = run.failures.map((failed) => told(failed, run));
  if (ending === 'interrupted') {
    const broken = failureOfBrokenStream({ requestId: id, clientRequestId, attempts });
    const writer = run.serving?.candidate.target;
    const mayHaveWritten = writer !== undefined && mayWrite(run.request, writer);
    return mayHaveWritten ? asMaybeExecuted(broken) : broken;
  }
  const windows = run.candidates.flatMap(({ target }) => target.contextWindow ?? []);
  const failure = failureOfRequest({
    requestId: id,
    clientRequestId,
    tier: tier.name,
    attempts,
    skipped: run.skips,
    obstacle: ending === 'resting' ? lastObstacle(run, nowMs) : null,
    deadline: deadlineOf(run, nowMs),
    requestFault: run.requestFault ?? abilityFault(run),
    largestWindow: windows.length === 0 ? null : Math.max(...windows),
  });
  return ending === 'maybe_executed' ? asMaybeExecuted(failure) : failure;
}

function asMaybeExecuted(failure: RequestFailure): RequestFailure {
  const message = `${failure.message} A tool that the provider itself runs may have done its work already: look before you ask again.`;
  return { ...failure, message, maybeExecuted: true };
}

/** For the log and metrics alone: nobody is left to be told. */
export function goneFailure(run: RequestRun): RequestFailure {
  const { id, clientRequestId } = run.request;
  return {
    failureClass: 'client_gone',
    status: statusOfFailure.client_gone,
    message: 'The client left before the answer was complete.',
    param: null,
    retryAfterMs: null,
    attempts: [],
    requestId: id,
    clientRequestId,
    tokens: null,
    regenerate: false,
  };
}

/** The process ends and the time to finish is up; whoever writes to the client tells it. */
export function shutdownFailure(run: RequestRun): RequestFailure {
  return {
    ...goneFailure(run),
    failureClass: 'internal',
    status: 503,
    message: 'The gateway was shut down before the answer was complete.',
  };
}

function told({ candidate, record, failure }: FailedAttempt, run: RequestRun) {
  const { startedAfterMs, durationMs } = record.trace();
  return {
    target: candidate.target.id,
    failure,
    startedMs: startedAfterMs,
    durationMs,
    isOfOurMaking: isOfOurMaking(failure, run.request, candidate.target.provider.dialect),
  };
}

function deadlineOf(run: RequestRun, nowMs: number): 'left' | 'ran_out' | 'ran_out_under_way' {
  if (nowMs < run.request.deadlineAtMs) return 'left';
  return run.failures.length > 0 ? 'ran_out_under_way' : 'ran_out';
}

/**
 * The rest that ends first, among candidates that this request could have gone to or returned to. What is
 * parked was refused for good: it only says when to come back where there is nothing else to say.
 */
function lastObstacle(run: RequestRun, nowMs: number): LastObstacle | null {
  const obstacles = eligible(run).flatMap((candidate) => obstacleOf(candidate, nowMs) ?? []);
  const passing = firstOf(obstacles.filter(({ kind }) => kind !== 'parked'));
  return passing ?? (run.records.length === 0 ? firstOf(obstacles) : null);
}

/** With failover off nobody but the first one asked. */
function eligible({ candidates, records, request }: RequestRun): readonly CandidateState[] {
  const asked = records[0]?.start.target.id;
  if (!request.isFailoverOff || asked === undefined) return candidates;
  return candidates.filter(({ target }) => target.id === asked);
}

function firstOf(obstacles: readonly LastObstacle[]): LastObstacle | null {
  let first: LastObstacle | null = null;
  for (const obstacle of obstacles) {
    if (first === null || backIn(obstacle) < backIn(first)) first = obstacle;
  }
  return first;
}

function backIn({ backInMs }: LastObstacle): number {
  return backInMs ?? Number.POSITIVE_INFINITY;
}

function obstacleOf(candidate: CandidateState, nowMs: number): LastObstacle | null {
  if (candidate.isSpent) return null;
  const hint = candidate.failures.at(-1)?.hint ?? null;
  const obstacle = candidate.obstacle();
  if (obstacle === null) return hint === null ? null : { kind: 'hint', backInMs: hint.waitMs };
  const kind = obstacleKind(obstacle.reason);
  if (kind === null) return null;
  const untilMs = obstacle.untilMs === null ? null : Math.max(1, obstacle.untilMs - nowMs);
  return {
    kind,
    backInMs: untilMs === null || hint === null ? untilMs : Math.max(untilMs, hint.waitMs),
  };
}

function obstacleKind(reason: string): LastObstacle['kind'] | null {
  switch (reason) {
    case 'cooling':
    case 'open':
    case 'parked':
    case 'full':
      return reason;
    default:
      return null;
  }
}
