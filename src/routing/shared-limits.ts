/** One limit of requests in flight for each provider's model, wherever it stands: the smallest of all tiers. */
import type { ConcurrencyPolicy } from '../resilience/concurrency-limit.ts';
import type { TargetValues, TierValues } from './document/tier-schema.ts';
import { durationMs } from './duration.ts';

/**
 * The requests of all tiers share a target's places, so they must share its figures: else the limit would be
 * that of whoever asked last. Each key counts for itself.
 */
export function sharedLimits(
  tiers: readonly TierValues[],
): (target: TargetValues) => ConcurrencyPolicy {
  const limits = new Map<string, ConcurrencyPolicy>();
  for (const target of tiers.flatMap(({ targets }) => targets)) {
    const own = limitsOf(target);
    const others = limits.get(keyOf(target)) ?? own;
    limits.set(keyOf(target), smallestOf(own, others));
  }
  return (target) => limits.get(keyOf(target)) ?? limitsOf(target);
}

function keyOf({ provider, model }: TargetValues): string {
  return `${provider}/${model}`;
}

function limitsOf(target: TargetValues): ConcurrencyPolicy {
  return {
    minConcurrent: target.min_concurrent,
    maxConcurrent: target.max_concurrent,
    queueMax: target.queue,
    queueWaitMs: durationMs(target.queue_wait) ?? 0,
  };
}

function smallestOf(one: ConcurrencyPolicy, other: ConcurrencyPolicy): ConcurrencyPolicy {
  return {
    minConcurrent: Math.min(one.minConcurrent, other.minConcurrent),
    maxConcurrent: Math.min(one.maxConcurrent, other.maxConcurrent),
    queueMax: Math.min(one.queueMax, other.queueMax),
    queueWaitMs: Math.min(one.queueWaitMs, other.queueWaitMs),
  };
}
