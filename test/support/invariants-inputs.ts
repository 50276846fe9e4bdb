/** Who is asked first, where a conversation stays, and which inputs are called poisoned. */
import { type AttemptSeen, allRequests, attemptsOf, named } from './invariants-reading.ts';
import { longestHealthyMs } from './schedule-calls.ts';
import { targetId } from './schedule-model.ts';
import type { Observation, RequestSeen } from './simulated-observation.ts';

/** Sessions are remembered for an hour. */
const sessionKeptMs = 3_600_000;

/** The first attempt goes to the first candidate, in the request's order, that could be asked at its arrival. */
export function asksInOrder(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    const { plan, trace, obstaclesAtArrival } = request;
    const first = trace?.attempts[0];
    if (plan.pin !== null || trace === null || first === undefined) return [];
    // In a queue the world changes, be it within one instant.
    if (first.startedAfterMs > 0 || isChanging(observation, request)) return [];
    const expected = orderOf(observation, request).find(
      (target) => (obstaclesAtArrival[target] ?? null) === null,
    );
    const isFull = trace.skipped.some(
      ({ target, reason }) => target === expected && reason === 'full',
    );
    if (expected === undefined || isFull || first.target === expected) return [];
    return [named(request, `${first.target} is asked first, not ${expected}`)];
  });
}

/** With failover off nobody is asked but the first that could be. */
export function keepsToOneTargetWhenTold(observation: Observation): readonly string[] {
  return allRequests(observation).flatMap((request) => {
    if (!request.plan.isFailoverOff) return [];
    const targets = new Set(attemptsOf(request).map(({ target }) => target));
    return targets.size > 1 ? [named(request, `asked ${[...targets].join(', ')}`)] : [];
  });
}

/** Some health changed, or let somebody through, in the very instant of the arrival. */
function isChanging({ changes, permits }: Observation, { arrived, plan }: RequestSeen): boolean {
  const others = permits.filter(({ requestId }) => requestId !== plan.id);
  return [...changes, ...others].some(({ at }) => at.atMs === arrived.atMs);
}

/** The tier's order; where a session moved, its last server comes first, until a new turn can go back. */
function orderOf(observation: Observation, request: RequestSeen): readonly string[] {
  const targets = request.tier.targets.map(targetId);
  const [preferred] = targets;
  const stayed = lastServer(observation, request);
  if (stayed === null || preferred === undefined || !targets.includes(stayed)) return targets;
  const isOpen = (request.obstaclesAtArrival[preferred] ?? null) !== null;
  const mayGoBack =
    !request.plan.isToolTurn && !isOpen && isClosed(observation, request, preferred);
  if (mayGoBack) return targets;
  return [stayed, ...targets.filter((target) => target !== stayed)];
}

/** Who served the request's session last, unless that was the tier's first target. */
function lastServer({ requests }: Observation, request: RequestSeen): string | null {
  const { session, tier } = request.plan;
  if (session === null) return null;
  const served = requests.flatMap((other) => {
    const isSame = other.plan.session === session && other.plan.tier === tier;
    const at = other.batches.at(-1) ?? other.answered;
    const isServed = other.trace?.outcome === 'served' && other.plan.pin === null;
    if (!isSame || !isServed || at === null || at.seq > request.arrived.seq) return [];
    return [{ other, at }];
  });
  const last = served.toSorted((left, right) => left.at.seq - right.at.seq).at(-1);
  if (last === undefined || request.arrived.atMs - last.at.atMs > sessionKeptMs) return null;
  const target = last.other.trace?.serving?.target ?? null;
  const [preferred] = last.other.tier.targets;
  return preferred !== undefined && target === targetId(preferred) ? null : target;
}

function isClosed({ changes }: Observation, request: RequestSeen, target: string): boolean {
  const last = changes.findLast(
    (change) => change.target === target && change.at.seq < request.arrived.seq,
  );
  return last === undefined || last.breaker === 'closed';
}

/** At the least the third answered failure of the same input, two of them at one target. */
export function callsPoisonedWhatFailsAgain(observation: Observation): readonly string[] {
  const failed = observation.requests.flatMap((request) =>
    attemptsOf(request)
      .filter(({ failure }) => failure !== null)
      .map((attempt) => ({ request, attempt })),
  );
  return failed.flatMap(({ request, attempt }) => {
    if (attempt.failure?.errorClass !== 'poisoned') return [];
    const alike = failed.filter(
      (other) => other.request.plan.body === request.plan.body && isAlikeBy(other.attempt, attempt),
    );
    const most = Math.max(
      ...alike.map(
        (one) => alike.filter((other) => other.attempt.target === one.attempt.target).length,
      ),
    );
    if (alike.length >= 3 && most >= 2) return [];
    const what = `poisoned after ${alike.length} failures, ${most} of them at one target`;
    return [named(request, `attempt ${attempt.n} is ${what}`)];
  });
}

/** Was answered, and had failed by the time that `attempt` had. */
function isAlikeBy(other: AttemptSeen, attempt: AttemptSeen): boolean {
  return other.failure?.status !== null && other.endedMs <= attempt.endedMs;
}

/** While all targets rest a request waits for the first one back, when that fits and there is room to wait. */
export function waitsForTheFirstBack(observation: Observation): readonly string[] {
  return observation.requests.flatMap((request) => {
    const { tier, trace, failure, ended, answered, deadlineAtMs } = request;
    if (trace === null || failure === null || ended === null) return [];
    if (answered?.kind !== 'failed' || trace.attempts.length > 0) return [];
    const { retryAfterMs } = failure;
    if (retryAfterMs === null || retryAfterMs > tier.policies.retry.hintCeilingMs) return [];
    const fits = ended.atMs + retryAfterMs + longestMs(observation, request) < deadlineAtMs;
    if (!fits || !isEachWaitable(request) || !hasRoomToWait(observation, request)) return [];
    return [named(request, `told to come back in ${retryAfterMs} ms instead of waiting`)];
  });
}

/** Whatever the target: it needs no longer than this when it is back. */
function longestMs({ schedule }: Observation, { tier }: RequestSeen): number {
  const providers = tier.targets.map(({ provider }) => provider);
  const plans = schedule.providers.filter(({ name }) => providers.includes(name));
  return Math.max(...plans.map(longestHealthyMs));
}

/** Nobody waits for what is parked, or was found full. */
function isEachWaitable({ tier, trace, obstaclesAtEnd }: RequestSeen): boolean {
  const isFull = trace?.skipped.some(({ reason }) => reason === 'full') === true;
  const isWaitable = (target: string): boolean =>
    ['open', 'cooling'].includes(obstaclesAtEnd[target] ?? '');
  return !isFull && tier.targets.map(targetId).every(isWaitable);
}

function hasRoomToWait({ requests }: Observation, request: RequestSeen): boolean {
  const seq = request.ended?.seq ?? 0;
  const others = requests.filter(
    (other) =>
      other.tier.name === request.tier.name &&
      other.arrived.seq <= seq &&
      (other.ended === null || other.ended.seq >= seq),
  );
  return others.length <= request.tier.policies.failover.waiters;
}
