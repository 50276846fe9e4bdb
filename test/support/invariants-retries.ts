/** What may be asked again, when, and how often. */
import { textBy } from './invariants-continuations.ts';
import {
  type AttemptSeen,
  allRequests,
  attemptsOf,
  callsOf,
  effectOfAttempt,
  endingOf,
  isSame,
  ms,
  named,
  toleranceMs,
} from './invariants-reading.ts';
import { type TierPlan, targetId } from './schedule-model.ts';
import type { CallSeen, Observation, RequestSeen } from './simulated-observation.ts';

/** A first rate limit without a hint rests its key for so long. */
const unhintedRestMs = 1_000;

/** No second attempt on a target where the class of the last failure forbids one. */
export function retriesNoForbiddenClass(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const attempts = attemptsOf(request);
    return attempts.flatMap((next, index) => {
      const earlier = attempts.slice(0, index).filter(({ target }) => target === next.target);
      const last = earlier.at(-1);
      if (last === undefined) return [];
      const why = whyForbidden(observation, request, { earlier, last, next });
      return why === null ? [] : [named(request, `attempt ${next.n} on ${next.target}: ${why}`)];
    });
  });
}

type Again = {
  readonly earlier: readonly AttemptSeen[];
  readonly last: AttemptSeen;
  readonly next: AttemptSeen;
};

function whyForbidden(
  observation: Observation,
  request: RequestSeen,
  { earlier, last, next }: Again,
): string | null {
  const effect = effectOfAttempt(last);
  // Whoever lost a race may write on, and whoever takes no prefill is asked in words.
  const isFree = last.outcome === 'cancelled' || /prefill/.test(last.failure?.message ?? '');
  if (next.kind === 'continuation' && isFree) return null;
  if (effect === null || last.failure === null) return `after one that ended ${last.outcome}`;
  const said = last.failure.errorClass;
  switch (effect.sameTarget) {
    case 'never':
      return `${said} is never asked again`;
    case 'other_key_only': {
      const refused = earlier.filter(
        (one) => effectOfAttempt(one)?.sameTarget === 'other_key_only',
      );
      const isRefused = refused.some(({ keyAlias }) => keyAlias === next.keyAlias);
      return isRefused ? `${said} with the key that was refused` : null;
    }
    case 'last_resort_only': {
      const other = otherAdmissible(observation, request, last, next);
      return other === null ? null : `${said} while ${other} was admissible`;
    }
    default:
      return null;
  }
}

/** A target that nobody had asked yet, and that could be asked when `last` failed and still at `next`. */
function otherAdmissible(
  observation: Observation,
  request: RequestSeen,
  last: AttemptSeen,
  next: AttemptSeen,
): string | null {
  if (request.plan.isFailoverOff || request.plan.pin !== null) return null;
  const obstacles = endingOf(observation, request, last)?.obstacles;
  if (obstacles === undefined) return null;
  const asked = new Set(
    attemptsOf(request)
      .filter(({ n }) => n < next.n)
      .map(({ target }) => target),
  );
  // One that was found full is not waited for a second time.
  for (const { target } of request.trace?.skipped ?? []) asked.add(target);
  const isRest = next.kind === 'continuation';
  // Thoughts are gone on with at home alone, and a text by whom there are words for.
  if (isRest && textBy(request, next.startedMs).trim() === '') return null;
  const others = request.tier.targets
    .filter(({ hasInstruction }) => hasInstruction || !isRest)
    .map(targetId)
    .filter((target) => !asked.has(target));
  const isTroubled = (target: string): boolean =>
    observation.changes.some(
      (change) =>
        change.target === target &&
        change.at.atMs >= last.endedMs - toleranceMs &&
        change.at.atMs <= next.startedMs + toleranceMs,
    );
  return others.find((target) => obstacles[target] === null && !isTroubled(target)) ?? null;
}

/** A request does not come back, before the hint's end, to a target (or key) that gave it one. */
export function undercutsNoHintOfItsOwn(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const attempts = attemptsOf(request);
    return attempts.flatMap((failed) => {
      const hint = failed.failure?.hint ?? null;
      if (hint === null) return [];
      const rule = effectOfAttempt(failed)?.sameTarget;
      const isKeys = rule === 'other_key_then_hint' || rule === 'other_key_only';
      // A key is tried again after `cooldown_max`, whatever its provider said.
      const { cooldownMaxMs } = request.tier.policies.retry;
      const waitMs = isKeys ? Math.min(hint.waitMs, cooldownMaxMs) : hint.waitMs;
      const early = attempts.find(
        (next) =>
          next.n > failed.n &&
          next.target === failed.target &&
          (!isKeys || next.keyAlias === failed.keyAlias) &&
          next.startedMs < failed.endedMs + waitMs - toleranceMs,
      );
      if (early === undefined) return [];
      const waitedMs = early.startedMs - failed.endedMs;
      const what = `attempt ${early.n} on ${early.target} after ${ms(waitedMs)} of ${ms(waitMs)}`;
      return [named(request, what)];
    });
  });
}

/** While a key cools nobody uses it, but who had begun before. */
export function usesNoCoolingKey(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) =>
    attemptsOf(request).flatMap((limited) => {
      if (limited.failure?.errorClass !== 'rate_limit') return [];
      const { cooldownMaxMs } = request.tier.policies.retry;
      const restMs = Math.min(limited.failure.hint?.waitMs ?? unhintedRestMs, cooldownMaxMs);
      const untilMs = limited.endedMs + restMs - toleranceMs;
      const early = observation.calls.find(
        (call) =>
          `${call.provider}/${call.model}` === limited.target &&
          call.key === limited.keyAlias &&
          call.at.atMs > limited.endedMs + toleranceMs &&
          call.at.atMs < untilMs &&
          !isAgain(observation, call),
      );
      if (early === undefined) return [];
      const what = `${early.requestId} asked ${limited.target} at ${ms(early.at.atMs)}`;
      return [`${what}, its key rests until ${ms(untilMs)} (${request.plan.id})`];
    }),
  );
}

/** Attempts a target and the total of retries stay within the tier's bounds and the client's. */
export function boundsItsAttempts(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { attempts: most, attemptsTotal } = request.tier.policies.retry;
    const { maxRetries } = request.plan;
    const perTarget = maxRetries === null ? most : Math.min(most, maxRetries + 1);
    // Continuations are counted apart.
    const attempts = attemptsOf(request).filter(({ kind }) => kind !== 'continuation');
    const found: string[] = [];
    for (const target of new Set(attempts.map((attempt) => attempt.target))) {
      const count = attempts.filter((attempt) => attempt.target === target).length;
      if (count > perTarget) found.push(named(request, `${count} attempts on ${target}`));
    }
    for (const attempt of attempts) {
      const isRetry = attempts.some(({ n, target }) => n < attempt.n && target === attempt.target);
      const isHedge = attempt.kind === 'hedge';
      if (attempt.n > attemptsTotal && (isRetry || isHedge)) {
        found.push(named(request, `attempt ${attempt.n} is a ${attempt.kind} of ${attemptsTotal}`));
      }
    }
    return found;
  });
}

/** Retries on one target: never more than first asks x ratio + the tokens it starts with + the floor. */
export function keepsTheRetryBudget(observation: Observation): readonly string[] {
  const tiers = observation.schedule.versions.flatMap((version) => version.tiers);
  const marks = allRequests(observation).flatMap((request) => {
    const attempts = attemptsOf(request);
    return attempts.map((attempt) => ({ attempt, isRetry: isRetry(attempts, attempt) }));
  });
  marks.sort((left, right) => left.attempt.startedMs - right.attempt.startedMs);
  const found: string[] = [];
  for (const target of new Set(marks.map(({ attempt }) => attempt.target))) {
    const policy = budgetOf(tiers, target);
    let asks = 0;
    let retries = 0;
    for (const mark of marks) {
      if (mark.attempt.target !== target) continue;
      if (mark.isRetry) retries += 1;
      else asks += 1;
      const seconds = mark.attempt.startedMs / 1000;
      const most = policy.first + asks * policy.ratio + seconds * policy.minPerSecond;
      if (retries <= most + toleranceMs) continue;
      const at = ms(mark.attempt.startedMs);
      found.push(`${target}: ${retries} retries to ${asks} first asks at ${at}`);
      break;
    }
  }
  return found;
}

/** A change of key draws nothing, nor does a probe, nor a request that comes back from elsewhere. */
function isRetry(attempts: readonly AttemptSeen[], attempt: AttemptSeen): boolean {
  if (attempt.kind !== 'retry') return false;
  const last = attempts.findLast(({ n, target }) => n < attempt.n && target === attempt.target);
  return last !== undefined && last.keyAlias === attempt.keyAlias;
}

const tokensFirst = 10;

/** The most generous settings that any version of any tier had for the target. */
function budgetOf(tiers: readonly TierPlan[], target: string) {
  const budgets = tiers
    .filter(({ targets }) => targets.some((one) => targetId(one) === target))
    .map(({ policies }) => policies.retry.budget);
  const most = (read: (budget: (typeof budgets)[number]) => number): number =>
    Math.max(0, ...budgets.map(read));
  return {
    first: Math.min(
      tokensFirst,
      most(({ max }) => max),
    ),
    ratio: most(({ ratio }) => ratio),
    minPerSecond: most(({ minPerSecond }) => minPerSecond),
  };
}

/** A request comes back only to a target that it left for a hint, a rest or an open breaker, parked, full or drained. */
export function returnsOnlyToTheResting(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const attempts = attemptsOf(request);
    return attempts.flatMap((next) => {
      const last = attempts.findLast(({ n, target }) => n < next.n && target === next.target);
      // Whoever wrote before may be asked to write on.
      if (last === undefined || last.failure === null || next.kind === 'continuation') return [];
      const other = attempts.find(
        ({ n, target, startedMs }) =>
          n > last.n && n < next.n && target !== next.target && startedMs >= last.endedMs,
      );
      const obstacle = endingOf(observation, request, last)?.obstacles[last.target] ?? '';
      const isBarred = ['full', 'parked', 'drained'].includes(obstacle);
      if (other === undefined || isBarred || isResting(observation, last, other.startedMs))
        return [];
      const what = `attempt ${next.n} returns to ${next.target} after ${last.failure.errorClass}`;
      return [named(request, what)];
    });
  });
}

/** Whether the target gave a hint, or rested, or its breaker was open at some time until it was left. */
function isResting(observation: Observation, last: AttemptSeen, leftMs: number): boolean {
  const { failure, target, startedMs, breakerAfter } = last;
  if (failure?.hint !== null || failure.errorClass === 'rate_limit') return true;
  if (breakerAfter !== 'closed') return true;
  // It had been about to ask again, and found it resting after its sleep.
  if (leftMs > last.endedMs + toleranceMs || hasLimitedKey(observation, last)) return true;
  return observation.changes.some(
    (change) =>
      change.target === target &&
      change.breaker !== 'closed' &&
      change.at.atMs >= startedMs - toleranceMs &&
      change.at.atMs <= leftMs + toleranceMs,
  );
}

/** Somebody was told, by the time that `last` failed, to leave its key alone for at least a second. */
function hasLimitedKey(observation: Observation, last: AttemptSeen): boolean {
  return allRequests(observation).some((request) =>
    attemptsOf(request).some(
      ({ target, keyAlias, failure, endedMs }) =>
        target === last.target &&
        keyAlias === last.keyAlias &&
        failure?.errorClass === 'rate_limit' &&
        endedMs <= last.endedMs + toleranceMs &&
        endedMs + (failure.hint?.waitMs ?? unhintedRestMs) > last.endedMs,
    ),
  );
}

/** What an operator has drained nobody asks, but who had begun before. */
export function asksNobodyDrained(observation: Observation): readonly string[] {
  return observation.schedule.drains.flatMap(({ target, fromMs, toMs }) =>
    observation.calls
      .filter(({ provider, model }) => `${provider}/${model}` === target)
      .filter(({ at }) => at.atMs > fromMs + toleranceMs && at.atMs < toMs - toleranceMs)
      .filter((call) => !isAgain(observation, call))
      .map(({ requestId, at }) => `${requestId} asked ${target} at ${ms(at.atMs)}, it is drained`),
  );
}

/** A provider with keys is asked with one of them; the calls are those that the trace tells of. */
export function asksWithItsKeys(observation: Observation): readonly string[] {
  return observation.calls.flatMap((call) => {
    const plan = observation.schedule.providers.find(({ name }) => name === call.provider);
    const aliases = plan?.keys.map(({ alias }) => alias) ?? [];
    const isRight = call.key === null ? aliases.length === 0 : aliases.includes(call.key);
    return isRight ? [] : [`${call.requestId}: ${call.provider} asked with ${call.key}`];
  });
}

/** Each attempt that sent something is one call; only a stale socket's is sent twice. */
export function countsEveryCall(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const calls = callsOf(observation, request);
    const counted = calls.filter((call, index) => !isResent(calls.slice(0, index), call));
    const sent = attemptsOf(request).filter(({ failure }) => failure?.rule !== 'secret_unresolved');
    if (counted.length === sent.length) return [];
    return [named(request, `${sent.length} attempts in its trace, ${counted.length} calls made`)];
  });
}

/** Sent again for an attempt that had begun before. */
function isAgain({ calls }: Observation, call: CallSeen): boolean {
  const earlier = calls.filter(
    ({ requestId, at }) => requestId === call.requestId && at.seq < call.at.seq,
  );
  return isResent(earlier, call);
}

/** Once, at once, on the same target: after a stale socket, or an answer with nothing in it. */
function isResent(earlier: readonly CallSeen[], call: CallSeen): boolean {
  const same = earlier.filter(
    ({ provider, model }) => provider === call.provider && model === call.model,
  );
  const before = same.at(-1);
  if (before === undefined || before.ended === null) return false;
  if (before.head.kind !== 'stale' && before.fault !== 'empty') return false;
  if (!isSame(before.ended.atMs, call.at.atMs)) return false;
  // Not a second time for the same reason.
  const earliest = same.at(-2);
  return earliest?.fault !== before.fault || !isResent(same.slice(0, -1), before);
}

/** Work that a provider may have begun, with a tool that writes, is not begun a second time. */
export function repeatsNoWritingTool(observation: Observation): readonly string[] {
  return observation.requests.flatMap((request) => {
    if (!request.plan.mayWrite) return [];
    const attempts = attemptsOf(request);
    const hedges = attempts.filter(({ kind }) => kind === 'hedge');
    const begun = attempts.filter(({ n, failure }) => n < attempts.length && mayHaveBegun(failure));
    return [...hedges, ...begun].map(({ n, target }) =>
      named(request, `attempt ${n} on ${target} may have written, and was not the last`),
    );
  });
}

function mayHaveBegun(failure: AttemptSeen['failure']): boolean {
  if (failure === null) return false;
  const { errorClass, connection } = failure;
  return connection === 'reset' || errorClass === 'timeout' || errorClass === 'stream_interrupted';
}
