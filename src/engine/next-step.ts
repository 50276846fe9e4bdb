/** The one place that decides what follows: pure, from the history so far to the next step. */
import type { Random } from '../base/random.ts';
import { effectOf } from '../failure/effects.ts';
import { backoffDelayMs, hintDelayMs } from '../resilience/backoff.ts';
import type { Candidate, Ending, History, LastFailure, Step } from './history.ts';

export type Decision = {
  readonly step: Step;
  /** Whether the target just left may be asked again by this request once it is back. */
  readonly leave: 'spent' | 'resting' | null;
  /** Candidates that could be asked, and are passed over for want of time. */
  readonly late: readonly number[];
};

export function nextStep(history: History, random: Random): Decision {
  const { last } = history;
  if (last === null) return { ...elsewhere(history, null, random), leave: null };
  if (isFinal(history, last)) return decided(finish('request_fault'), null);
  if (last.mayHaveExecuted) return decided(finish('maybe_executed'), 'spent');
  const again = sameTarget(history, last, random);
  if (again.kind === 'attempt') return decided(again, null);
  const isEndOfTheRoad = effectOf(last.failure).nextTarget === 'never' && !isHearsay(last);
  if (isEndOfTheRoad) return decided(finish(again.why), again.leave);
  return { ...elsewhere(history, { last, ...again }, random), leave: again.leave };
}

function decided(step: Step, leave: Decision['leave']): Decision {
  return { step, leave, late: [] };
}

/**
 * One target alone says that the input reproduces its fault: the beginning of an outage looks the same, so
 * the next one is heard before the request ends.
 */
function isHearsay({ failure, isConfirmedElsewhere }: LastFailure): boolean {
  return failure.errorClass === 'poisoned' && !isConfirmedElsewhere;
}

/** The request is at fault, so nobody else is asked: see 4-resilience, Whose fault. */
function isFinal(history: History, last: LastFailure): boolean {
  const { nextTarget } = effectOf(last.failure);
  if (nextTarget === 'if_policy_allows') return !history.limits.failsOverOnContentPolicy;
  if (nextTarget !== 'whose_fault') return false;
  return history.isFirstJudgement && history.firstAsked === last.candidate && !last.isOurParameter;
}

type Leaving = {
  readonly kind: 'leave';
  readonly leave: 'spent' | 'resting';
  readonly why: Ending;
};

function leave(how: 'spent' | 'resting', why: Ending): Leaving {
  return { kind: 'leave', leave: how, why };
}

function sameTarget(
  history: History,
  last: LastFailure,
  random: Random,
): Extract<Step, { kind: 'attempt' }> | Leaving {
  const candidate = candidateAt(history, last.candidate);
  const { sameTarget: rule } = effectOf(last.failure);
  const isOtherAdmissible = hasOtherAdmissible(history, last.candidate);
  const isKeyRule = rule === 'other_key_then_hint' || rule === 'other_key_only';
  const isOtherKeyFree = isKeyRule && last.hasOtherKey;
  const isRefused = rule === 'never' || rule === 'other_key_only';
  if (candidate.attempts >= history.limits.attempts) {
    return isRefused || isOtherKeyFree ? leave('spent', 'spent') : usedUp(last);
  }
  if (!allowsTotal(history, last.candidate)) return leave('spent', 'spent');
  if (isOtherKeyFree) {
    const isInTime = fitsDeadline(history, candidate, 0);
    if (!isInTime) return leave('resting', 'no_time');
    return { ...retryAfter(last.candidate, 0, null), isKeySwitch: true };
  }
  if (isRefused) return leave('spent', 'spent');
  if (isOtherAdmissible) {
    if (rule === 'last_resort_only') return leave('spent', 'spent');
    if (last.isAvoided === true) return leave('resting', 'resting');
  }
  const isUnhintedRateLimit = rule === 'other_key_then_hint' && last.failure.hint === null;
  if (isUnhintedRateLimit && isOtherAdmissible && last.unhintedFailures > 1) {
    return leave('resting', 'resting');
  }
  if (candidate.obstacle !== null && isBarrier(candidate.obstacle.reason)) {
    return leave('resting', 'resting');
  }
  return afterWait(history, last, random, isOtherAdmissible);
}

/** This request does not come back to it; when another one may, is the client's to know. */
function usedUp({ failure, keyRestsUntilMs }: LastFailure): Leaving {
  const isBound = failure.hint !== null || keyRestsUntilMs !== null;
  return isBound ? leave('resting', 'resting') : leave('spent', 'spent');
}

/** A cooling key only lengthens the wait; an open breaker or a parked target ends the stay. */
function isBarrier(reason: string): boolean {
  return reason !== 'cooling';
}

function afterWait(
  history: History,
  last: LastFailure,
  random: Random,
  isOtherAdmissible: boolean,
): Extract<Step, { kind: 'attempt' }> | Leaving {
  const { hint } = last.failure;
  const { hintCeilingMs } = history.limits;
  const backoffMs =
    hint === null
      ? backoffDelayMs({
          policy: history.limits.backoff,
          attempt: last.retries,
          previousMs: last.previousDelayMs,
          random,
        })
      : 0;
  const restMs = last.keyRestsUntilMs === null ? 0 : last.keyRestsUntilMs - history.nowMs;
  const isBound = hint !== null || restMs > 0;
  const boundMs = Math.max(hint?.waitMs ?? 0, restMs);
  const candidate = candidateAt(history, last.candidate);
  const boundWaitMs = isBound ? spread(history, candidate, boundMs, random) : 0;
  const waitMs = Math.max(backoffMs, boundWaitMs);
  if (!fitsDeadline(history, candidate, waitMs)) {
    return isBound ? leave('resting', 'resting') : leave('spent', 'no_time');
  }
  const isOtherSooner = isOtherAdmissible || (isBound && isOtherBack(history, last, waitMs));
  const isTooLong = isOtherSooner
    ? candidate.sleptMs + waitMs > history.limits.maxWaitMs
    : waitMs > hintCeilingMs;
  if (isTooLong) return isBound ? leave('resting', 'resting') : leave('spent', 'spent');
  return retryAfter(last.candidate, waitMs, isBound ? 'hint' : 'backoff');
}

/** Whether another candidate is back, as far as is known, before a wait of `waitMs` is over. */
function isOtherBack(history: History, last: LastFailure, waitMs: number): boolean {
  const from: From = { last, leave: 'spent', why: 'spent' };
  return history.candidates.some((candidate, index) => {
    if (!isWilling(history, index, from) || !hasRetryLeft(history, candidate)) return false;
    const untilMs = backAt(history, index, from);
    return untilMs !== null && untilMs < history.nowMs + waitMs;
  });
}

/**
 * What many were told alike ends for each at another moment; nobody is kept beyond the ceiling or what the
 * deadline leaves by that alone.
 */
function spread(history: History, candidate: Candidate, waitMs: number, random: Random): number {
  const delayMs = hintDelayMs({ waitMs, random });
  const leftMs = history.deadlineAtMs - history.nowMs - (candidate.expectedMs ?? 0) - 1;
  return Math.max(waitMs, Math.min(delayMs, history.limits.hintCeilingMs, leftMs));
}

function retryAfter(
  candidate: number,
  delayMs: number,
  delayReason: 'backoff' | 'hint' | null,
): Extract<Step, { kind: 'attempt' }> {
  return { kind: 'attempt', candidate, isRetry: true, delayMs, delayReason };
}

type From = {
  readonly last: LastFailure;
  readonly leave: 'spent' | 'resting';
  readonly why: Ending;
};

/** The next candidate that can be asked; else the first one back, when that fits. */
function elsewhere(
  history: History,
  from: From | null,
  random: Random,
): Pick<Decision, 'step' | 'late'> {
  const open = admissible(history, from);
  if (open.length === 0) return { step: firstBack(history, from, random), late: [] };
  const next = open.find((index) => hasTimeFor(history, index, open.length === 1));
  if (next === undefined) return { step: finish('no_time'), late: open };
  const isRetry = candidateAt(history, next).attempts > 0;
  const late = open.slice(0, open.indexOf(next));
  return {
    step: { kind: 'attempt', candidate: next, isRetry, delayMs: 0, delayReason: null },
    late,
  };
}

/** Indices of candidates that can be asked now: those after the last one first, in plan order. */
function admissible(history: History, from: From | null): readonly number[] {
  const start = from === null ? 0 : from.last.candidate + 1;
  const count = history.candidates.length;
  const order = history.candidates.map((_, offset) => (start + offset) % count);
  return order.filter((index) => {
    const candidate = candidateAt(history, index);
    if (candidate.obstacle !== null) return false;
    if (index === from?.last.candidate) return false;
    if (candidate.attempts > 0 && !allowsTotal(history, index)) return false;
    return isWilling(history, index, from);
  });
}

/** Not spent, and able where the last one was not. */
function isWilling(history: History, index: number, from: From | null): boolean {
  const candidate = candidateAt(history, index);
  if (candidate.isSpent || candidate.attempts >= history.limits.attempts) return false;
  const { firstAsked, limits } = history;
  if (limits.isFailoverOff && firstAsked !== null && index !== firstAsked) return false;
  if (from === null) return true;
  if (index === from.last.candidate) return from.leave === 'resting';
  if (effectOf(from.last.failure).nextTarget !== 'larger_window') return true;
  const tooSmall = candidateAt(history, from.last.candidate).contextWindow;
  const isLarger =
    tooSmall === null || candidate.contextWindow === null || candidate.contextWindow > tooSmall;
  return candidate.attempts === 0 && isLarger;
}

function firstBack(history: History, from: From | null, random: Random): Step {
  let first: { readonly index: number; readonly untilMs: number } | null = null;
  history.candidates.forEach((candidate, index) => {
    if (!isWilling(history, index, from)) return;
    const untilMs = backAt(history, index, from);
    if (untilMs === null) return;
    if (!hasRetryLeft(history, candidate)) return;
    if (first === null || untilMs < first.untilMs) first = { index, untilMs };
  });
  return waitFor(history, first, from, random);
}

/**
 * When a resting candidate may be asked again (monotonic ms), or null. What is parked was refused for
 * good, and what is full has a queue of its own: nobody waits for either.
 */
function backAt(history: History, index: number, from: From | null): number | null {
  const candidate = candidateAt(history, index);
  const reason = candidate.obstacle?.reason;
  if (reason === 'parked' || reason === 'full') return null;
  const obstacleMs = candidate.obstacle === null ? null : candidate.obstacle.untilMs;
  if (candidate.obstacle !== null && obstacleMs === null) return null;
  if (index !== from?.last.candidate) return obstacleMs;
  const { hint } = from.last.failure;
  const hintedMs = hint === null ? null : history.nowMs + hint.waitMs;
  if (hintedMs === null) return obstacleMs;
  return Math.max(hintedMs, obstacleMs ?? 0);
}

/** Nobody waits for room, but a repeat may find it: to be full is no failure. */
function isOneFull(history: History, from: From | null): boolean {
  return history.candidates.some(
    (candidate, index) =>
      candidate.obstacle?.reason === 'full' &&
      isWilling(history, index, from) &&
      hasRetryLeft(history, candidate),
  );
}

function hasRetryLeft(history: History, candidate: Candidate): boolean {
  return candidate.attempts === 0 || history.attempts < history.limits.attemptsTotal;
}

function waitFor(
  history: History,
  first: { readonly index: number; readonly untilMs: number } | null,
  from: From | null,
  random: Random,
): Step {
  if (first === null) {
    return finish(from === null || isOneFull(history, from) ? 'resting' : from.why);
  }
  const { hintCeilingMs } = history.limits;
  const candidate = candidateAt(history, first.index);
  const restMs = Math.max(1, first.untilMs - history.nowMs);
  // A breaker lets one through at a time: there is no crowd to be spread.
  const isOpen = candidate.obstacle?.reason === 'open';
  const delayMs = isOpen ? restMs : spread(history, candidate, restMs, random);
  const fits = delayMs <= hintCeilingMs && fitsDeadline(history, candidate, delayMs);
  return fits ? { kind: 'wait', candidate: first.index, delayMs } : finish('resting');
}

/** Give up early (R21), but never before a request's first attempt nor the last candidate's first ask. */
function hasTimeFor(history: History, index: number, isLastLeft: boolean): boolean {
  const candidate = candidateAt(history, index);
  if (history.nowMs >= history.deadlineAtMs) return false;
  if (history.attempts === 0) return true;
  if (isLastLeft && candidate.attempts === 0) return true;
  return fitsDeadline(history, candidate, 0);
}

function fitsDeadline(history: History, candidate: Candidate, waitMs: number): boolean {
  return history.nowMs + waitMs + (candidate.expectedMs ?? 0) < history.deadlineAtMs;
}

/** A retry leaves room for the first asks that are still due. */
function allowsTotal(history: History, asked: number): boolean {
  const due = history.candidates.filter(
    (candidate, index) =>
      index !== asked &&
      candidate.attempts === 0 &&
      candidate.obstacle === null &&
      !candidate.isSpent &&
      !history.limits.isFailoverOff,
  ).length;
  return history.attempts + due < history.limits.attemptsTotal;
}

function hasOtherAdmissible(history: History, asked: number): boolean {
  if (history.limits.isFailoverOff) return false;
  return history.candidates.some(
    (candidate, index) => index !== asked && candidate.obstacle === null && !candidate.isSpent,
  );
}

function finish(ending: Ending): Step {
  return { kind: 'finish', ending };
}

function candidateAt(history: History, index: number): Candidate {
  const candidate = history.candidates[index];
  if (candidate === undefined) throw new Error(`no candidate ${index}`);
  return candidate;
}
