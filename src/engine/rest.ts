/** How a request sleeps: measured, and woken by whatever makes the wait pointless. */
import { type Clock, sleep } from '../base/clock.ts';
import type { Slot, SlotRefusal } from '../resilience/concurrency-limit.ts';
import type { CandidateState } from './candidate-state.ts';
import type { EnginePorts } from './failover.ts';
import type { Step } from './history.ts';
import type { OverrideTable } from './override-table.ts';
import type { RequestRun } from './request-run.ts';

export type RestPorts = { readonly clock: Clock; readonly overrides: OverrideTable };

/** Until the first of those that rest is back. False: too many of the tier wait already. */
export async function waitFor(
  run: RequestRun,
  step: Extract<Step, { kind: 'wait' }>,
  ports: EnginePorts,
): Promise<boolean> {
  if (!ports.health.waiters.enter(run.request.tier)) return false;
  await rest(run, step.delayMs, run.candidateAt(step.candidate), ports);
  ports.health.waiters.leave(run.request.tier);
  run.forgetLast();
  return true;
}

/**
 * False: the wait was cut short, by the client or by a target that can no longer be asked. Nothing else ends it
 * early, so whoever was told to wait does not come back before.
 */
export async function restFully(
  run: RequestRun,
  delayMs: number,
  candidate: CandidateState,
  ports: RestPorts,
): Promise<boolean> {
  const { clock } = ports;
  const untilMs = clock.monotonicMs() + delayMs;
  for (;;) {
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0) return !run.isGone;
    if (run.isGone || isBarred(candidate)) return false;
    await rest(run, leftMs, candidate, ports);
  }
}

/** Nobody is let through to it, however long one would wait in its queue. */
function isBarred(candidate: CandidateState): boolean {
  const reason = candidate.obstacle()?.reason ?? null;
  return reason !== null && reason !== 'cooling' && reason !== 'full';
}

/** Sleeps, but wakes at once when the client leaves or the target's health changes. */
export async function rest(
  run: RequestRun,
  delayMs: number,
  candidate: CandidateState,
  ports: RestPorts,
): Promise<void> {
  const { clock } = ports;
  const wake = new AbortController();
  const stop = listen(run, candidate, ports, () => wake.abort());
  const startedMs = clock.monotonicMs();
  await sleep(clock, delayMs, wake.signal);
  stop();
  const sleptMs = clock.monotonicMs() - startedMs;
  candidate.sleptMs += sleptMs;
  run.addBackoff(sleptMs);
}

/** A place in the target's queue is given up as soon as the client leaves or nobody is let through any more. */
export async function queueFor(
  run: RequestRun,
  candidate: CandidateState,
  withinMs: number,
  ports: RestPorts,
): Promise<Slot | SlotRefusal> {
  const leave = new AbortController();
  const look = (): void => {
    if (run.isGone || isBarred(candidate)) leave.abort();
  };
  const stop = listen(run, candidate, ports, look);
  look();
  const slot = await candidate.health.acquire(leave.signal, withinMs);
  stop();
  return slot;
}

/** Calls `onChange` when the client leaves, and when the target may be askable or no longer is. */
function listen(
  run: RequestRun,
  candidate: CandidateState,
  ports: RestPorts,
  onChange: () => void,
): () => void {
  const stopListening = candidate.health.onChange(onChange);
  const stopOverrides = ports.overrides.onChange(onChange);
  run.request.signal.addEventListener('abort', onChange, { once: true });
  return () => {
    run.request.signal.removeEventListener('abort', onChange);
    stopListening();
    stopOverrides();
  };
}
