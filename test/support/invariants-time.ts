/** Deadlines, the commit point, leaving clients, and what is left behind. */
import {
  allRequests,
  attemptsOf,
  callsOf,
  committedMs,
  ms,
  named,
  toleranceMs,
} from './invariants-reading.ts';
import { lateEndMs } from './schedule-calls.ts';
import type { CallSeen, Moment, Observation, RequestSeen } from './simulated-observation.ts';

/** A late timer is the clock's fault, not the engine's; here there is none. */
const answerSlackMs = 1;
/** p99 of the design; in virtual time nothing takes longer. */
const cancelMs = 200;
/** After its terminal marker a body is read to its end for so long. */
const drainMs = 1_500;

/** A whole answer, the first content of a stream, and an error too, reach the client by the deadline. */
export function answersByTheDeadline(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { answered, deadlineAtMs } = request;
    if (answered === null) return [];
    const toldMs = committedMs(request) ?? answered.atMs;
    if (toldMs <= deadlineAtMs + answerSlackMs) return [];
    return [named(request, `${answered.kind} at ${ms(toldMs)}, due ${ms(deadlineAtMs)}`)];
  });
}

export function startsNoAttemptAfterTheDeadline(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) =>
    callsOf(observation, request)
      // An open stream has a time of its own.
      .filter(({ at }) => at.atMs >= request.deadlineAtMs && !hasBegunBy(request, at))
      .map(({ provider, at }) =>
        named(request, `${provider} asked at ${ms(at.atMs)}, due ${ms(request.deadlineAtMs)}`),
      ),
  );
}

function hasBegunBy({ answered }: RequestSeen, { seq }: Moment): boolean {
  return answered?.kind === 'stream' && answered.seq < seq;
}

/** After the commit whoever else was being asked is let go, and nobody is asked while somebody writes. */
export function asksNobodyBesideTheWriter(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const atMs = committedMs(request);
    if (atMs === null) return [];
    const calls = callsOf(observation, request);
    const first = request.trace?.seams[0]?.target ?? request.trace?.serving?.target;
    return calls.flatMap((call) => {
      const target = `${call.provider}/${call.model}`;
      if (hasBegunBy(request, call.at)) {
        const isFree = calls.every(
          (other) => other.at.seq >= call.at.seq || hasEndedBy(other, call),
        );
        return isFree ? [] : [named(request, `${target} asked beside another`)];
      }
      if (call.at.atMs > atMs + toleranceMs) return [named(request, `${target} asked after it`)];
      const isOpen = call.ended === null || call.ended.atMs > atMs + toleranceMs;
      return isOpen && target !== first ? [named(request, `${target} still asked after it`)] : [];
    });
  });
}

function hasEndedBy({ ended, manner }: CallSeen, { at }: CallSeen): boolean {
  if (ended === null) return false;
  // All was said, and none of it could be joined: the end of its body alone was still due.
  const isSaid = manner === 'anew' && ended.how === 'read';
  return ended.seq < at.seq || (isSaid && ended.atMs <= at.atMs + lateEndMs);
}

/** The exchanges of a request end with it; those of a client that has left, at once. */
export function endsItsExchanges(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const isGone = request.trace?.outcome === 'client_gone' && request.left !== null;
    const endMs = isGone ? (request.left?.atMs ?? 0) : (request.ended?.atMs ?? 0);
    const dueMs = endMs + (isGone ? cancelMs : drainMs);
    return callsOf(observation, request)
      .filter(({ ended }) => ended === null || ended.atMs > dueMs)
      .map(({ provider }) => named(request, `the exchange with ${provider} outlives it`));
  });
}

/** A client that leaves is charged to nobody: no failure, no failure mark, nothing set aside. */
export function chargesNobodyForLeaving(observation: Observation): readonly string[] {
  return observation.requests.flatMap((request) => {
    const { left, trace } = request;
    if (left === null || trace?.outcome !== 'client_gone') return [];
    const charged = observation.permits.filter(
      ({ requestId, endings }) =>
        requestId === request.plan.id &&
        endings.some(({ how, seq }) => seq > left.seq && how !== 'abandon' && how !== 'succeed'),
    );
    const blamed = attemptsOf(request).filter(
      ({ outcome, failure }) => outcome === 'client_gone' && failure !== null,
    );
    return [
      ...charged.map(({ target }) => named(request, `${target} is charged`)),
      ...blamed.map(({ target }) => named(request, `the attempt at ${target} is a failure`)),
    ];
  });
}

/** Nothing is left once no request is under way: no timer, exchange, permit or listener. */
export function leavesNothingBehind(observation: Observation): readonly string[] {
  const left = observation.left.flatMap(({ at, timers, exchanges, listeners, permits }) => {
    if (timers + exchanges + listeners + permits === 0) return [];
    const counts = JSON.stringify({ timers, exchanges, listeners, permits });
    return [`at ${ms(at.atMs)}: ${counts}`];
  });
  const signals = allRequests(observation)
    .filter(({ signalListeners }) => signalListeners > 0)
    .map((request) => named(request, `${request.signalListeners} listeners on its signal`));
  return [...left, ...signals];
}

/** Every permit ends exactly once. */
export function endsEveryPermitOnce(observation: Observation): readonly string[] {
  return observation.permits.flatMap(({ target, at, endings }) => {
    const ways = endings.map(({ how }) => how).filter((how) => how !== 'break');
    if (ways.length === 1) return [];
    return [`${target} at ${ms(at.atMs)}: ${ways.length === 0 ? 'never' : ways.join(', ')}`];
  });
}

/** The run itself ended: no request hangs, no error is thrown, time always passes. */
export function neverHangsNorThrows(observation: Observation): readonly string[] {
  const thrown = allRequests(observation).flatMap((request) =>
    request.thrown === null ? [] : [named(request, request.thrown)],
  );
  return observation.fault === null ? thrown : [observation.fault, ...thrown];
}
