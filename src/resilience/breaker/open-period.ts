/** How long a breaker stays open, and the ladder that lengthens it while probes fail. */
import { type Random, uniform } from '../../base/random.ts';
import type { BreakerPolicy } from './breaker.ts';

/** Each period is shortened by up to a fifth, so that replicas do not probe in step. */
const shortestShare = 0.8;

/** The length in ms of an open period on rung `level` (0 = the base). Draws once. */
export function openPeriodMs(level: number, policy: BreakerPolicy, random: Random): number {
  const fullMs = Math.min(policy.openForMs * 2 ** level, policy.openForMaxMs);
  return fullMs * uniform(random, shortestShare, 1);
}

/** How long a probe keeps its slot: one open period, or longer where the policy says so. */
export function probeLeaseMs(periodMs: number, policy: BreakerPolicy): number {
  return Math.max(periodMs, policy.probeLeaseMs ?? 0);
}

/** The rung after a failed probe; it stops rising where the period does. */
export function levelAfterFailedProbe(level: number, policy: BreakerPolicy): number {
  return policy.openForMs * 2 ** level < policy.openForMaxMs ? level + 1 : level;
}

/**
 * The rung after a trip: back at the base when the breaker was closed for a whole window before,
 * else where it was left. `closedAtMs` null = it never was open.
 */
export function levelAfterTrip(
  level: number,
  closedAtMs: number | null,
  nowMs: number,
  policy: BreakerPolicy,
): number {
  return closedAtMs === null || nowMs - closedAtMs >= policy.windowMs ? 0 : level;
}

/** Why a closed breaker opened, for the operator. */
export function tripReason(policy: BreakerPolicy): string {
  return `failures were sustained: at least ${policy.failures} within ${policy.windowMs / 1000} s`;
}

export const failedProbeReason = 'the probe failed';
