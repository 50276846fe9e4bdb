/** The breakers that must behave alike. */
import type { Clock } from '../../../src/base/clock.ts';
import type { Random } from '../../../src/base/random.ts';
import type { Breaker, BreakerPolicy, Permit } from '../../../src/resilience/breaker/breaker.ts';
import { createMemoryBreaker } from '../../../src/resilience/breaker/memory-breaker.ts';
import { createOpossumBreaker } from '../../../src/resilience/breaker/opossum-breaker.ts';
import { createSharedBreaker } from '../../../src/resilience/breaker/shared-breaker.ts';
import { MemoryFleet, MemoryFleetStore } from '../../support/memory-fleet.ts';

export type Subject = {
  readonly name: string;
  readonly create: (parts: { readonly clock: Clock; readonly random: Random }) => Breaker;
};

export const subjects: readonly Subject[] = [
  { name: 'pure machine', create: createMemoryBreaker },
  {
    name: 'opossum',
    create: (parts) => createOpossumBreaker({ name: 'provider/model', ...parts }),
  },
  { name: 'shared, alone in its fleet', create: (parts) => shared(parts, true) },
  { name: 'shared, cut off from its fleet', create: (parts) => shared(parts, false) },
];

function shared(
  parts: { readonly clock: Clock; readonly random: Random },
  isReachable: boolean,
): Breaker {
  const fleet = new MemoryFleet(new MemoryFleetStore(parts.clock), parts.clock, 'one');
  fleet.isReachable = isReachable;
  return createSharedBreaker({ name: 'provider/model', ...parts, fleet });
}

/** The shipped settings. */
export const shippedPolicy: BreakerPolicy = {
  failures: 3,
  windowMs: 30_000,
  failureRate: 0.5,
  minSpanMs: 1_000,
  idleWindowMs: 0,
  openForMs: 5_000,
  openForMaxMs: 15_000,
};

/** Draws nothing off an open period. */
export const highestDraw: Random = { next: () => 1 - Number.EPSILON };

/** A permit, or a failed test. */
export function admitted(breaker: Breaker): Permit {
  const admission = breaker.admit();
  if (!admission.isAdmitted) throw new Error(`refused while ${breaker.view().state}`);
  return admission.permit;
}
