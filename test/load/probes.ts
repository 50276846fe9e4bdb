/** That an ailing provider is asked by one probe at a time, as the provider itself saw it. */
import { expect } from 'vitest';
import type { RequestRecord } from '../../src/simulator/control/request-ring.ts';

/** Between two clocks that saw the same thing: the gateway's and the provider's. */
const clockSlackMs = 50;

/**
 * `calls` are all that came while the breaker was not closed, and perhaps some more. Up to the first that was
 * answered well after `backMs`, its client still there, each came when the one before had ended, or had hung
 * for a whole open period, which frees its place. `wellMs` is how long the provider takes to the first content. Returns the probes.
 */
export function expectOneAtATime(
  calls: readonly RequestRecord[],
  seen: { readonly backMs: number; readonly wellMs: number; readonly openMs: number },
): readonly RequestRecord[] {
  const well = calls.findIndex(
    ({ startedMs, endedMs, status }) =>
      startedMs > seen.backMs &&
      status === 200 &&
      (endedMs ?? Number.POSITIVE_INFINITY) >= startedMs + seen.wellMs - clockSlackMs,
  );
  expect(well).toBeGreaterThanOrEqual(0);
  const probes = calls.slice(0, well + 1);
  for (const [index, { startedMs, endedMs }] of probes.entries()) {
    const overMs = index === well ? startedMs + seen.wellMs : (endedMs ?? Number.POSITIVE_INFINITY);
    const leaseEndMs = startedMs + seen.openMs * 0.8;
    const next = calls[index + 1]?.startedMs ?? Number.POSITIVE_INFINITY;
    expect(next).toBeGreaterThanOrEqual(Math.min(overMs, leaseEndMs) - clockSlackMs);
  }
  return probes;
}
