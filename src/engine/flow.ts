/** A committed stream on its way to the client: batch by batch, to its end or its honest failure. */
import type { StreamPart } from '../chat/stream-event.ts';
import { type AttemptResult, noteTally } from './attempt.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { StreamStep } from './attempt-stream.ts';
import type { CandidateState } from './candidate-state.ts';
import type { AnswerBatch } from './engine-request.ts';
import type { RequestRun, Serving } from './request-run.ts';
import type { TargetPermit } from './target-health.ts';

type Committed = Extract<AttemptResult, { kind: 'stream' }>;

type Batches = AsyncGenerator<AnswerBatch, void, undefined>;

/** `onEnd` is called once, however the flow ends. */
export type FlowInput = {
  readonly candidate: CandidateState;
  readonly record: AttemptRecord;
  readonly permit: TargetPermit;
  readonly committed: Committed;
  readonly onEnd: () => void;
};

/**
 * Ends without a last batch when the client has gone; whoever stops early must call `return()`, also
 * when nothing was pulled yet.
 */
export function flowOf(run: RequestRun, input: FlowInput): Batches {
  const { candidate, record, committed } = input;
  const { stream } = committed;
  const serving = { candidate, record, tally: stream.tally };
  const end = (): void => {
    stream.cancel();
    input.permit.release();
    noteTally(record, stream.tally);
    run.endUnlessEnded(serving);
    input.onEnd();
  };
  return endedUnpulled(batchesOf(run, { ...input, serving, end }), end);
}

/** A generator that nobody ever pulled would run no `finally` when it is told to return. */
function endedUnpulled(batches: Batches, end: () => void): Batches {
  let isPulled = false;
  const stop = (): Promise<IteratorResult<AnswerBatch, void>> => {
    if (!isPulled) end();
    return batches.return();
  };
  return {
    next: () => {
      isPulled = true;
      return batches.next();
    },
    return: stop,
    throw: async (error) => {
      await stop();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}

async function* batchesOf(
  run: RequestRun,
  flow: FlowInput & { readonly serving: Serving; readonly end: () => void },
): Batches {
  const { permit, committed, serving } = flow;
  const { stream } = committed;
  try {
    if (committed.isComplete) {
      yield ended(run, serving, committed.parts);
      return;
    }
    yield { parts: committed.parts, isLast: false, failure: null };
    for (;;) {
      const step = await stream.next(null);
      if (run.isGone) return;
      const batch = batchOf(run, serving, permit, step);
      if (batch === null) continue;
      yield batch;
      if (batch.isLast) return;
    }
  } finally {
    flow.end();
  }
}

function batchOf(
  run: RequestRun,
  serving: Serving,
  permit: TargetPermit,
  step: StreamStep,
): AnswerBatch | null {
  switch (step.kind) {
    case 'held':
      return null;
    case 'parts':
      return { parts: step.parts, isLast: false, failure: null };
    case 'ended':
      return ended(run, serving, step.parts);
    case 'broken': {
      noteTally(serving.record, serving.tally);
      return {
        parts: step.parts,
        isLast: true,
        failure: run.breakStream(serving, permit, step.cause),
      };
    }
  }
}

function ended(run: RequestRun, serving: Serving, parts: readonly StreamPart[]): AnswerBatch {
  const { candidate, record, tally } = serving;
  noteTally(record, tally);
  record.end('served', candidate.breakerStanding());
  run.serve(candidate, record, tally);
  return { parts, isLast: true, failure: null };
}
