/** Breakers: one probe at a time, none let through while open, none stuck. */
import { ms, named, toleranceMs } from './invariants-reading.ts';
import { longestHealthyMs } from './schedule-calls.ts';
import { type Schedule, type TargetPlan, targetId } from './schedule-model.ts';
import type { Observation, PermitSeen, RecoverySeen } from './simulated-observation.ts';

/** An open period is shortened by up to a fifth. */
const shortestShare = 0.8;

/** Half-open lets one request through; another only when that one has ended, or its lease. */
export function probesOneAtATime(observation: Observation): readonly string[] {
  const probes = observation.permits.filter(({ breakerBefore }) => breakerBefore === 'half_open');
  const leaseMs = shortestShare * shortestOpenMs(observation.schedule) - toleranceMs;
  return probes.flatMap((probe, index) => {
    const before = probes.slice(0, index).findLast(({ target }) => target === probe.target);
    if (before === undefined || hasEndedBy(before, probe.at.seq)) return [];
    const apartMs = probe.at.atMs - before.at.atMs;
    return apartMs >= leaseMs ? [] : [`${probe.target}: two probes ${ms(apartMs)} apart`];
  });
}

/** While no other target is closed an open period lasts a second at most. */
const lonePeriodMs = 1000;

function shortestOpenMs({ versions }: Schedule): number {
  const tiers = versions.flatMap((version) => version.tiers);
  return Math.min(lonePeriodMs, ...tiers.map(({ policies }) => policies.breaker.openForMs));
}

function hasEndedBy({ endings }: PermitSeen, seq: number): boolean {
  return endings.some((ending) => ending.seq < seq);
}

/** While it is not closed nothing but probes goes through, and while it is open nothing at all. */
export function letsOnlyProbesThrough(observation: Observation): readonly string[] {
  return observation.permits.flatMap(({ target, at, breakerBefore, isProbe }) => {
    const isFine = breakerBefore === 'closed' || (breakerBefore === 'half_open' && isProbe);
    return isFine ? [] : [`${target} at ${ms(at.atMs)}: let through while ${breakerBefore}`];
  });
}

/**
 * Once all faults are over and an open period has passed no breaker refuses, and the first target that
 * does not rest serves; once every rest is over the first of all serves.
 */
export function recoversInTime(observation: Observation): readonly string[] {
  // A probe that loses a race is a failed probe, and a slow first target makes one lose.
  const isRaced = observation.recoveries.some(({ request }) =>
    request.trace?.attempts.some(({ kind }) => kind === 'hedge'),
  );
  if (isRaced) return [];
  return observation.recoveries.flatMap((recovery) => {
    const { after, obstacles, request } = recovery;
    const refusing = request.tier.targets
      .filter((target) => isFit(observation.schedule, target))
      .map((target) => ({ id: targetId(target), reason: obstacles[targetId(target)] ?? null }))
      .filter(({ reason }) => reason !== null && (after === 'rests' || reason === 'open'))
      .map(({ id, reason }) => named(request, `${id} is still ${reason}`));
    const expected = expectedServer(observation.schedule, recovery);
    const serving = request.trace?.outcome === 'served' ? request.trace.serving?.target : null;
    const isServed = expected === null || serving === expected;
    const got = isServed ? [] : [named(request, `served by ${serving}, not by ${expected}`)];
    return [...refusing, ...got];
  });
}

/** Null where no target can be counted on. */
function expectedServer(schedule: Schedule, { obstacles, request }: RecoverySeen): string | null {
  const free = request.tier.targets.filter(
    (target) => (obstacles[targetId(target)] ?? null) === null,
  );
  const [first] = free;
  return first !== undefined && isFit(schedule, first) ? targetId(first) : null;
}

/**
 * Whether the target can be counted on when nothing ails its provider: its clocks, in every tier that
 * shares its breaker, leave it the time that it takes, and no key of its pool is a dud.
 */
export function isFit(schedule: Schedule, target: TargetPlan): boolean {
  const id = targetId(target);
  const plans = schedule.versions.flatMap(({ tiers }) => tiers.flatMap(({ targets }) => targets));
  return plans.filter((plan) => targetId(plan) === id).every((plan) => isFitHere(schedule, plan));
}

function isFitHere(schedule: Schedule, { provider, clocks }: TargetPlan): boolean {
  const plan = schedule.providers.find(({ name }) => name === provider);
  if (plan === undefined || !plan.keys.every(({ isResolved }) => isResolved)) return false;
  const longestMs = longestHealthyMs(plan);
  const tightestMs = Math.min(clocks.headersMs, clocks.firstContentSoftMs, clocks.firstContentMs);
  return tightestMs > longestMs && clocks.idleMs > Math.max(plan.latencyMs[1], plan.gapMs, 300);
}
