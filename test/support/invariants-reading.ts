/** How invariants read an observation: attempts as instants, and the calls and permits that belong to them. */
import type { AttemptTrace } from '../../src/engine/trace.ts';
import { type Effect, effectOf } from '../../src/failure/effects.ts';
import type {
  CallSeen,
  Observation,
  PermitEnding,
  PermitSeen,
  RequestSeen,
} from './simulated-observation.ts';

/** Sums of floating-point instants differ in their last digits. */
export const toleranceMs = 1e-6;

export type AttemptSeen = AttemptTrace & {
  readonly startedMs: number;
  readonly endedMs: number;
};

/** In the order in which they were begun; instants are the simulation's. */
export function attemptsOf(request: RequestSeen): readonly AttemptSeen[] {
  return (request.trace?.attempts ?? []).map((attempt) => {
    const startedMs = request.arrived.atMs + attempt.startedAfterMs;
    return { ...attempt, startedMs, endedMs: startedMs + attempt.durationMs };
  });
}

/** The requests of the schedule and those sent after everything had healed. */
export function allRequests(observation: Observation): readonly RequestSeen[] {
  return [...observation.requests, ...observation.recoveries.map(({ request }) => request)];
}

export function callsOf(observation: Observation, request: RequestSeen): readonly CallSeen[] {
  return observation.calls.filter(({ requestId }) => requestId === request.plan.id);
}

export function permitsOf(observation: Observation, request: RequestSeen): readonly PermitSeen[] {
  return observation.permits.filter(({ requestId }) => requestId === request.plan.id);
}

/** The end of the permit of that attempt; undefined where no request was sent. */
export function endingOf(
  observation: Observation,
  request: RequestSeen,
  attempt: AttemptSeen,
): PermitEnding | undefined {
  const permit = permitsOf(observation, request).find(
    ({ target, at }) => target === attempt.target && isSame(at.atMs, attempt.startedMs),
  );
  return permit?.endings[0];
}

export function isSame(leftMs: number, rightMs: number): boolean {
  return Math.abs(leftMs - rightMs) <= toleranceMs;
}

/** When the answer, or the first batch of it, was there for the client; null = it got none. */
export function committedMs(request: RequestSeen): number | null {
  const { answered } = request;
  if (answered === null || answered.kind === 'failed' || answered.kind === 'gone') return null;
  return answered.atMs;
}

export function effectOfAttempt({ failure }: AttemptSeen): Effect | null {
  return failure === null ? null : effectOf(failure);
}

/** The stream broke after the client had seen some of it. */
export function isBroken(request: RequestSeen): boolean {
  return request.answered?.kind === 'stream' && request.failure !== null;
}

export function named(request: RequestSeen, what: string): string {
  return `${request.plan.id}: ${what}`;
}

export function ms(atMs: number): string {
  return `${Number(atMs.toFixed(3))} ms`;
}
