/** The text that reached the client, and that it came when somebody could have given it. */
import type { ErrorClass } from '../../src/failure/attempt-failure.ts';
import { isFit } from './invariants-breakers.ts';
import {
  type AttemptSeen,
  allRequests,
  attemptsOf,
  callsOf,
  isSame,
  ms,
  named,
} from './invariants-reading.ts';
import { longestHealthyMs } from './schedule-calls.ts';
import { type Schedule, type TargetPlan, targetId } from './schedule-model.ts';
import type { CallSeen, Observation, RequestSeen } from './simulated-observation.ts';

/** One provider's text, whole when it was served, else its beginning and an explicit failure. */
export function givesOneText(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { text, trace } = request;
    const isServed = trace?.outcome === 'served';
    if (text === '') {
      const mayBeEmpty = callsOf(observation, request).some(({ fault }) => fault === 'empty');
      return isServed && !mayBeEmpty ? [named(request, 'served without a text')] : [];
    }
    const author = callsOf(observation, request).find(({ tokens }) =>
      tokens.join('').startsWith(text),
    );
    if (author === undefined) return [named(request, `nobody's text: ${text}`)];
    const faults: string[] = [];
    const target = `${author.provider}/${author.model}`;
    if (trace?.serving?.target !== target) {
      faults.push(named(request, `${target} wrote it, not ${trace?.serving?.target}`));
    }
    const isWhole = text === author.tokens.join('');
    if (isServed && !isWhole && !mayEndEarly(observation, author)) {
      faults.push(named(request, `served with a part of ${target}'s text`));
    }
    const isTold = request.failure !== null || trace?.outcome === 'client_gone';
    if (!isServed && !isTold) faults.push(named(request, 'a part of a text without a failure'));
    return faults;
  });
}

/** A provider that is allowed to send no finish: a clean end is the end. */
function mayEndEarly({ schedule }: Observation, { provider, fault }: CallSeen): boolean {
  const plan = schedule.providers.find(({ name }) => name === provider);
  return fault === 'end_early' && plan?.allowMissingFinish === true;
}

/** A sound answer is not taken for a failure, but by a clock that could not wait for it. */
export function takesSoundAnswers(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const calls = callsOf(observation, request);
    return attemptsOf(request).flatMap((attempt) => {
      const { failure, target } = attempt;
      if (failure === null || failure.errorClass === 'timeout') return [];
      if (failure.rule === 'secret_unresolved') return [];
      const call = calls.find((one) => isCallOf(one, attempt));
      if (call === undefined || call.fault !== null) return [];
      const isIdle = failure.errorClass === 'stream_interrupted' && call.ended?.how === 'closed';
      if (isIdle) return [];
      return [named(request, `${target} answered well, yet ${failure.errorClass}`)];
    });
  });
}

/** The last call of the attempt: a stale socket's is sent again at once. */
function isCallOf(call: CallSeen, { target, startedMs }: AttemptSeen): boolean {
  return `${call.provider}/${call.model}` === target && isSame(call.at.atMs, startedMs);
}

/** After these the request is at fault, and nobody else need be asked. */
const finalClasses: readonly ErrorClass[] = [
  'invalid_request',
  'context_length',
  'content_policy',
  'poisoned',
  'internal',
];

/** A target that is well and askable from arrival to end, in time, means an answer. */
export function answersWhileSomebodyCan(observation: Observation): readonly string[] {
  return observation.requests.flatMap((request) => {
    const { trace, plan, tier, left } = request;
    if (request.answered?.kind !== 'failed' || trace === null || left !== null) return [];
    if (plan.pin !== null || plan.isFailoverOff || plan.mayWrite) return [];
    const attempts = attemptsOf(request);
    const isFinal = attempts.some(
      ({ failure }) => failure !== null && finalClasses.includes(failure.errorClass),
    );
    if (isFinal) return [];
    return tier.targets
      .filter((target) => isWell(observation, request, target))
      .flatMap((target) => whyUnasked(observation, request, target, attempts))
      .map((why) => named(request, why));
  });
}

function whyUnasked(
  observation: Observation,
  request: RequestSeen,
  target: TargetPlan,
  attempts: readonly AttemptSeen[],
): readonly string[] {
  const provider = observation.schedule.providers.find(({ name }) => name === target.provider);
  if (provider === undefined) return [];
  const neededMs = longestHealthyMs(provider);
  const id = targetId(target);
  const first = attempts.find((attempt) => attempt.target === id);
  if (first !== undefined) {
    const hadMs = request.deadlineAtMs - first.startedMs;
    // The split leaves it half of the time.
    return hadMs > 2 * neededMs && first.outcome === 'failed'
      ? [`${id} was well and had ${ms(hadMs)}, yet ${first.failure?.errorClass}`]
      : [];
  }
  const leftMs = request.deadlineAtMs - (request.ended?.atMs ?? 0);
  const isHedged = attempts.some(({ kind }) => kind === 'hedge');
  if (leftMs > neededMs) return [`${id} was well and never asked, with ${ms(leftMs)} left`];
  return leftMs < 1 && !isHedged && request.deadlineAtMs - request.arrived.atMs > 8 * neededMs
    ? [`${id} was well and never asked before the deadline`]
    : [];
}

/** No fault of its provider and no obstacle from the arrival to the end, and clocks that let it answer. */
function isWell(observation: Observation, request: RequestSeen, target: TargetPlan): boolean {
  const { schedule, changes } = observation;
  const { arrived, ended, obstaclesAtArrival, obstaclesAtEnd } = request;
  if (ended === null || !isFit(schedule, target)) return false;
  const id = targetId(target);
  const isFaulty = schedule.phases.some(
    ({ provider, fromMs, toMs }) =>
      provider === target.provider && fromMs <= ended.atMs && toMs >= arrived.atMs,
  );
  const hasObstacle =
    (obstaclesAtArrival[id] ?? null) !== null || (obstaclesAtEnd[id] ?? null) !== null;
  const isTroubled = changes.some(
    (change) =>
      change.target === id &&
      change.at.seq > arrived.seq &&
      change.at.seq < ended.seq &&
      (change.obstacle !== null || change.breaker !== 'closed'),
  );
  const isFull = request.trace?.skipped.some((skip) => skip.target === id) === true;
  const isWilling = !isFaulty && !hasObstacle && !isTroubled && !isFull;
  return isWilling && isRoomy(schedule, id) && !isPoisoned(schedule, request);
}

/** Never full: whether it is, is nothing that a health tells of when it changes. */
function isRoomy({ versions, requests }: Schedule, id: string): boolean {
  const plans = versions.flatMap(({ tiers }) => tiers.flatMap(({ targets }) => targets));
  return plans
    .filter((plan) => targetId(plan) === id)
    .every(({ concurrency }) => concurrency.maxConcurrent >= requests.length);
}

function isPoisoned({ poisons }: Schedule, { plan }: RequestSeen): boolean {
  return poisons.some(({ body }) => body === plan.body);
}
