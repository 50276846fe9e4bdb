/** Asks one candidate, once a place is found among its requests in flight, and settles what comes of it. */
import type { EncodedCall } from '../dialects/dialect.ts';
import { thrownFailure } from '../failure/attempt-failures.ts';
import type { Slot } from '../resilience/concurrency-limit.ts';
import { type AttemptBounds, type AttemptResult, attempt } from './attempt.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { CandidateState } from './candidate-state.ts';
import type { EnginePorts } from './failover.ts';
import type { Writer } from './flow.ts';
import type { AttemptStep } from './history.ts';
import { prepareCall, upstreamRequestOf } from './prepare.ts';
import { mayWrite } from './provider-tools.ts';
import type { RequestRun } from './request-run.ts';
import { queueFor, type RestPorts } from './rest.ts';
import type { TargetPermit } from './target-health.ts';

/** A slot among the target's requests in flight; null: none within its queue wait, or nobody is let through. */
export async function placeFor(
  run: RequestRun,
  candidate: CandidateState,
  ports: RestPorts,
): Promise<{ readonly slot: Slot; readonly queuedMs: number } | null> {
  const free = candidate.health.tryAcquire();
  if (free !== null) return { slot: free, queuedMs: 0 };
  const { clock } = ports;
  const startedMs = clock.monotonicMs();
  const leftMs = run.deadlineAtMs - startedMs;
  const slot = await queueFor(run, candidate, leftMs, ports);
  const queuedMs = clock.monotonicMs() - startedMs;
  if (typeof slot === 'object') {
    if (queuedMs < leftMs) return { slot, queuedMs };
    slot.release('neutral');
  } else if (slot !== 'aborted') {
    // The request goes on without it.
    candidate.hadNoRoom = true;
    run.skipList.note(candidate.target.id, 'full');
  }
  run.forgetLast();
  return null;
}

type Launch = AttemptStep & {
  readonly slot: Slot;
  readonly queuedMs: number;
  readonly isHedge?: boolean;
};

/** One attempt under way. */
export type Asked = {
  readonly candidate: CandidateState;
  readonly record: AttemptRecord;
  readonly permit: TargetPermit;
  readonly bounds: AttemptBounds;
  readonly result: Promise<AttemptResult>;
  /** Ends the attempt, whatever it has come to. */
  readonly cancel: () => void;
  /** The attempt is over: the client's leaving has nothing to end any more. */
  readonly unlink: () => void;
};

/** Null: it could not be asked; its slot has been given back. */
export function launch(
  run: RequestRun,
  candidate: CandidateState,
  step: Launch,
  ports: EnginePorts,
): Asked | null {
  const prepared = prepareOrRelease(run, candidate, step.slot);
  // While this request slept or queued, its target may have been taken away from it.
  const key = candidate.pickKey();
  const isRefused = prepared === null || !candidate.isAskable;
  const permit = isRefused ? null : run.admit(candidate, step, key, step.slot);
  if (prepared === null || permit === null) {
    step.slot.release('neutral');
    run.forgetLast();
    return null;
  }
  const record = run.begin(candidate, step, key?.alias ?? null, permit.isProbe);
  const bounds = run.boundsFor(candidate, record);
  const patienceMs = bounds.ownLimitMs;
  const upstream = upstreamRequestOf(run, candidate, prepared, { key, patienceMs });
  const { signal, cancel, unlink } = linkTo(
    run.request.signal,
    step.isHedge === true || run.mayHedge,
  );
  const result: Promise<AttemptResult> = upstream.ok
    ? attempt(
        {
          target: candidate.target,
          upstream: upstream.value,
          authorize: key?.authorize ?? null,
          renew: key?.renew ?? null,
          isStream: run.request.chat.isStream,
          choices: run.request.chat.parameters.n ?? 1,
          bounds,
          isOnceOnly: mayWrite(run.request, candidate.target),
          record,
          signal,
        },
        ports,
      ).catch(asFailed)
    : Promise.resolve({ kind: 'failed', failure: upstream.fault, hadContent: false });
  return { candidate, record, permit, bounds, result, cancel, unlink };
}

/** A bug of ours ends the request, not the place that it holds. */
function prepareOrRelease(
  run: RequestRun,
  candidate: CandidateState,
  slot: Slot,
): EncodedCall | null {
  try {
    return prepareCall(run, candidate);
  } catch (error) {
    slot.release('neutral');
    throw error;
  }
}

function asFailed(error: unknown): AttemptResult {
  return { kind: 'failed', failure: thrownFailure(error), hadContent: false };
}

/** Only a racer is ever ended before the request is: another attempt goes by the request's own signal. */
function linkTo(
  signal: AbortSignal,
  isRacer: boolean,
): { readonly signal: AbortSignal; readonly cancel: () => void; readonly unlink: () => void } {
  if (!isRacer) return { signal, cancel: () => undefined, unlink: () => undefined };
  const abort = new AbortController();
  const cancel = (): void => abort.abort();
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  return {
    signal: abort.signal,
    cancel,
    unlink: () => signal.removeEventListener('abort', cancel),
  };
}

export type AttemptAnswer = Extract<AttemptResult, { kind: 'whole' | 'stream' }>;

/** Null: it did not answer, and what that means for its target is noted. */
export function settleAsked(
  run: RequestRun,
  asked: Asked,
  result: AttemptResult,
): AttemptAnswer | null {
  const { candidate, record, permit, unlink } = asked;
  if (result.kind !== 'stream') unlink();
  switch (result.kind) {
    case 'gone':
      permit.abandon();
      record.end('client_gone', candidate.breakerStanding());
      return null;
    case 'failed': {
      const failure = run.judge(candidate, result.failure);
      record.failure = failure;
      permit.fail(record, failure, run.isLastClosed(candidate));
      record.end('failed', candidate.breakerStanding());
      if (run.continuation?.isPrefillRefusal(candidate, failure) !== true) {
        run.noteFailure(candidate, record, failure, result.hadContent);
        if (failure.errorClass === 'context_length') skipNoLarger(run, candidate);
      }
      return null;
    }
    case 'whole':
    case 'stream':
      permit.succeed(record, run.request.chat.isStream);
      run.noteAnswer(candidate);
      // Also where a whole reply is the answer to a stream.
      if (result.kind === 'whole') permit.release();
      return result;
  }
}

/** Where a prompt was too long, a window that is no larger is too small for it as well. */
function skipNoLarger({ candidates, skipList }: RequestRun, tooSmall: CandidateState): void {
  const { contextWindow: most } = tooSmall.target;
  for (const other of candidates) {
    const { contextWindow } = other.target;
    const isNoLarger = most !== null && contextWindow !== null && contextWindow <= most;
    if (isNoLarger && other.attempts === 0) skipList.skip(other, 'context_window');
  }
}

/** The answer, or the rest of one, as it flows. */
export function writerOf(run: RequestRun, asked: Asked, answer: AttemptAnswer): Writer {
  const { candidate, record, permit, unlink } = asked;
  const { parts } = answer;
  const isWhole = answer.kind === 'whole';
  const tally = isWhole ? answer.tally : answer.stream.tally;
  const serving = { candidate, record, tally };
  const joiner = run.commit(serving, isWhole ? null : answer.stream);
  const stream = isWhole || answer.isComplete ? null : answer.stream;
  return { serving, permit, parts, stream, joiner, onEnd: unlink };
}
