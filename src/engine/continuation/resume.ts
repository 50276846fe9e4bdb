/** Finds who writes the rest of a stream that broke: the loop of `failover`, for an answer that has begun. */
import type { CandidateState } from '../candidate-state.ts';
import type { EnginePorts } from '../failover.ts';
import type { Writer } from '../flow.ts';
import type { AttemptStep } from '../history.ts';
import { launch, placeFor, settleAsked, writerOf } from '../launch.ts';
import { nextStep } from '../next-step.ts';
import type { RequestRun } from '../request-run.ts';
import { restFully, waitFor } from '../rest.ts';

/** Who writes the rest of the stream that broke; null: nobody, it fails forward. */
export async function resume(run: RequestRun, ports: EnginePorts): Promise<Writer | null> {
  while (!run.isGone && run.maySeekRest) {
    const decision = nextStep(run.history(), ports.random);
    run.leave(decision.leave);
    const { step } = decision;
    if (step.kind === 'finish') return null;
    if (step.kind === 'wait') {
      if (!(await waitFor(run, step, ports))) return null;
      continue;
    }
    const candidate = run.candidateAt(step.candidate);
    const isRested = await restFully(run, step.delayMs, candidate, ports);
    const writer = isRested ? await askForRest(run, candidate, step, ports) : null;
    if (writer !== null) return writer;
  }
  return null;
}

/** A target that takes no prefill is asked again, in words, at once. */
async function askForRest(
  run: RequestRun,
  candidate: CandidateState,
  step: AttemptStep,
  ports: EnginePorts,
): Promise<Writer | null> {
  const mode = run.continuation?.modeFor(candidate);
  const place = await placeFor(run, candidate, ports);
  const asked = place === null ? null : launch(run, candidate, { ...step, ...place }, ports);
  if (asked === null) return null;
  const answer = settleAsked(run, asked, await asked.result);
  if (answer !== null) return writerOf(run, asked, answer);
  const isAskedInWords = mode !== run.continuation?.modeFor(candidate) && !run.isGone;
  const again = { ...step, delayMs: 0, delayReason: null };
  return isAskedInWords ? askForRest(run, candidate, again, ports) : null;
}
