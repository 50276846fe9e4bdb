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
    if (failure.errorClass === 'internal') return failure;
    const input = inputOf(request);
    const { outcomes } = candidate.health;
    const { errorClass, status, code } = failure;
    this.#table.note({
      ...input,
      target: candidate.target.id,
      errorClass,
      status,
      code,
      isTargetHealthy: outcomes.areOthersHealthy(input, nowMs),
      nowMs,
    });
    outcomes.record({ ...input, isSuccess: false, atMs: nowMs });
    const isSuspect = mayBePoison(failure);
    if (!isSuspect || this.#table.verdict(input.fingerprint, nowMs) === 'clean') return failure;
    return {
      ...failure,
      errorClass: 'poisoned',
      rule: `poisoned:${failure.rule}`,
      message: `this input reproduces the fault (${failure.message})`,
    };
  }

  /** Hashed only where an input of that length has lately failed: a healthy process hashes nothing. */
  noteSuccess(candidate: CandidateState, request: EngineRequest, nowMs: number): void {
    const bytes = request.chat.original.bytes.length;
    const isKnown = this.#table.mayHold(bytes, nowMs);
    const input = isKnown ? inputOf(request) : { fingerprint: null, bytes };
    candidate.health.outcomes.record({ ...input, isSuccess: true, atMs: nowMs });
    if (input.fingerprint === null) return;
    const { fingerprint } = input;
    this.#table.noteSuccess({ fingerprint, target: candidate.target.id, nowMs });
  }
}

function inputOf({ chat }: EngineRequest) {
  const { bytes } = chat.original;
  return { fingerprint: fingerprintOf(bytes), bytes: bytes.length };
}

/** A fault inside the provider, as an input can cause it. */
export function mayBePoison({ errorClass, status }: AttemptFailure): boolean {
  if (errorClass === 'poisoned') return true;
  return (
    status !== null && (errorClass === 'transient_infra' || errorClass === 'malformed_response')
  );
}
