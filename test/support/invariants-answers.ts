/** The text that reached the client, and that it came when somebody could have given it. */
import type { ErrorClass } from '../../src/failure/attempt-failure.ts';
import { isFit } from './invariants-breakers.ts';
import { restAsksOf, restBar, restCallsOf, writersOf } from './invariants-continuations.ts';
import {
  type AttemptSeen,
  allRequests,
  attemptsOf,
  callsOf,
  committedMs,
  isBroken,
  isSame,
  ms,
  named,
} from './invariants-reading.ts';
import { longestHealthyMs } from './schedule-calls.ts';
import { type Schedule, type TargetPlan, targetId } from './schedule-model.ts';
import type { CallSeen, Observation, RequestSeen } from './simulated-observation.ts';

/**
 * One text, whoever writes it: each writer goes on exactly where the one before broke off. It is whole when
 * it was served, else its beginning and an explicit failure.
 */
export function givesOneText(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { text, trace } = request;
    const isServed = trace?.outcome === 'served';
    const writers = writersOf(observation, request);
    const last = writers.at(-1);
    // It may have been asked for once more, in vain.
    const isEmpty = callsOf(observation, request).some(({ fault }) => fault === 'empty');
    const mayLack = isEmpty || mayEndEarly(observation, last?.call);
    if (text === '') return isServed && !mayLack ? [named(request, 'served without a text')] : [];
    const faults = writers
      .filter(({ start, end }) => end > start)
      .filter(({ call, end }) => !storyOf(call).startsWith(text.slice(0, end)))
      .filter(({ call, start, end, isUncertain }) => {
        const isDoubtful = isUncertain || text.slice(start, end).trim() === '';
        return !(isDoubtful && mayEndEarly(observation, call));
      })
      .map(({ target, start, end }) => `not what ${target} wrote: ${text.slice(start, end)}`);
    if (last === undefined) faults.push(`nobody's text: ${text}`);
    const serving = trace?.serving?.target;
    if (serving !== last?.target) faults.push(`${last?.target} wrote its end, not ${serving}`);
    const isWhole = text === storyOf(last?.call) || mayLack;
    if (isServed && !isWhole) faults.push(`served with a part of ${last?.target}'s text`);
    const isTold = request.failure !== null || trace?.outcome === 'client_gone';
    if (!isServed && !isTold) faults.push('a part of a text without a failure');
    return faults.map((fault) => named(request, fault));
  });
}

/** The whole text as the writer means it: what it was given, and what it adds. */
function storyOf(call: CallSeen | undefined): string {
  return (call?.partial?.text ?? '') + (call?.tokens.join('') ?? '');
}

/** A provider that is allowed to send no finish: a clean end is the end. */
function mayEndEarly({ schedule }: Observation, call: CallSeen | undefined): boolean {
  const plan = schedule.providers.find(({ name }) => name === call?.provider);
  return call?.fault === 'end_early' && plan?.allowMissingFinish === true;
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
      if (isIdle || call.manner === 'anew') return [];
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

/** A stream that may be gone on with does not fail before every target that is well was asked for its rest. */
export function rescuesWhileSomebodyCan(observation: Observation): readonly string[] {
  return observation.requests.flatMap((request) => {
    const { plan, tier, batches } = request;
    if (!isBroken(request) || request.left !== null || restBar(request) !== null) return [];
    if (plan.pin !== null || plan.isFailoverOff) return [];
    const isFinal = attemptsOf(request).some(
      ({ failure }) => failure !== null && finalClasses.includes(failure.errorClass),
    );
    const isCall = batches.some(({ types }) => types.includes('tool_call_start'));
    const isSpent = restAsksOf(observation, request) >= tier.policies.stream.maxContinuations;
    if (isFinal || isCall || isSpent || request.text.trim() === '') return [];
    const untilMs = (committedMs(request) ?? 0) + tier.policies.stream.maxDurationMs;
    const asked = restCallsOf(observation, request).map(targetId);
    return tier.targets
      .filter((target) => target.hasInstruction && !asked.includes(targetId(target)))
      .filter((target) => isWell(observation, request, target))
      .filter(({ provider }) => {
        const plan = observation.schedule.providers.find(({ name }) => name === provider);
        return plan !== undefined && untilMs - (request.ended?.atMs ?? 0) > longestHealthyMs(plan);
      })
      .map((target) => named(request, `${targetId(target)} was well and not asked for the rest`));
  });
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
