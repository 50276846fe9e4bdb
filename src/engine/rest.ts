/** How a request sleeps: measured, and woken by whatever makes the wait pointless. */
import { type Clock, sleep } from '../base/clock.ts';
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

/** A wait is never cut short but by the client or by a target that can no longer be asked. */
export async function restFully(
  run: RequestRun,
  delayMs: number,
  candidate: CandidateState,
  ports: RestPorts,
): Promise<void> {
  const { clock } = ports;
  const untilMs = clock.monotonicMs() + delayMs;
  for (;;) {
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0 || run.isGone || isBarred(candidate)) return;
    await rest(run, leftMs, candidate, ports);
  }
}

function isBarred(candidate: CandidateState): boolean {
  const obstacle = candidate.obstacle();
  return obstacle !== null && obstacle.reason !== 'cooling';
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
  const onGone = (): void => wake.abort();
  const stopListening = candidate.health.onChange(onGone);
  const stopOverrides = ports.overrides.onChange(onGone);
  run.request.signal.addEventListener('abort', onGone, { once: true });
  const startedMs = clock.monotonicMs();
  await sleep(clock, delayMs, wake.signal);
  run.request.signal.removeEventListener('abort', onGone);
  stopListening();
  stopOverrides();
  const sleptMs = clock.monotonicMs() - startedMs;
  candidate.sleptMs += sleptMs;
  run.addBackoff(sleptMs);
}
