/** Tells an input that reproduces a fault from a target that is ill: see 4-resilience, Poisoned requests. */
import type { AttemptFailure } from '../failure/attempt-failure.ts';
import { fingerprintOf } from '../resilience/fingerprint.ts';
import { PoisonTable } from '../resilience/poison-table.ts';
import type { CandidateState } from './candidate-state.ts';
import type { EngineRequest } from './engine-request.ts';

export class PoisonWatch {
  readonly #table = new PoisonTable();

  /**
   * The failure as it counts: of class `poisoned` once the input is known to reproduce it. The body is
   * hashed here, so after a failure only; the hash is of what the client sent, so that targets share it.
   */
  judge(
    candidate: CandidateState,
    request: EngineRequest,
    failure: AttemptFailure,
    nowMs: number,
  ): AttemptFailure {
    if (!mayBePoison(failure)) {
      candidate.health.outcomes.record({ isSuccess: false, fingerprint: null, atMs: nowMs });
      return failure;
    }
    const fingerprint = fingerprintOf(request.chat.original.bytes);
    const { outcomes } = candidate.health;
    const { errorClass, status, code } = failure;
    this.#table.note({
      fingerprint,
      target: candidate.target.id,
      errorClass,
      status,
      code,
      isTargetHealthy: outcomes.areOthersHealthy(fingerprint, nowMs),
      nowMs,
    });
    outcomes.record({ isSuccess: false, fingerprint, atMs: nowMs });
    if (this.#table.verdict(fingerprint, nowMs) === 'clean') return failure;
    return {
      ...failure,
      errorClass: 'poisoned',
      rule: `poisoned:${failure.rule}`,
      message: `this input reproduces the fault (${failure.message})`,
    };
  }
}

/** A fault inside the provider, as an input can cause it. */
export function mayBePoison({ errorClass, status }: AttemptFailure): boolean {
  if (errorClass === 'poisoned') return true;
  return (
    status !== null && (errorClass === 'transient_infra' || errorClass === 'malformed_response')
  );
}
