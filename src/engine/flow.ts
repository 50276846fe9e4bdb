/** A committed stream on its way to the client: batch by batch, whoever writes it, to its end or its honest failure. */
import type { StreamPart } from '../chat/stream-event.ts';
import type { Joint } from '../dialects/dialect.ts';
import { noteTally } from './attempt.ts';
import type { AttemptStream, Break, StreamStep } from './attempt-stream.ts';
import type { Joiner } from './continuation/joiner.ts';
import type { AnswerBatch } from './engine-request.ts';
import type { RequestRun, Serving } from './request-run.ts';
import type { TargetPermit } from './target-health.ts';

type Batches = AsyncGenerator<AnswerBatch, void, undefined>;

/** One answer that flows, or the rest of one. */
export type Writer = {
  readonly serving: Serving;
  readonly permit: TargetPermit;
  /** What was held back until now. */
  readonly parts: readonly StreamPart[];
  /** What is still to come; null: nothing. */
  readonly stream: AttemptStream | null;
  /** Makes its parts those of the stream that it goes on with; null: it began the stream. */
  readonly joiner: Joiner | null;
  /** Called once, however its part of the flow ends. */
  readonly onEnd: () => void;
};

export type FlowPorts = {
  /** Who writes the rest of the stream that broke; null: nobody does. */
  readonly resume: () => Promise<Writer | null>;
};

/**
 * Ends without a last batch when the client has gone; whoever stops early must call `return()`, also
 * when nothing was pulled yet.
 */
export function flowOf(run: RequestRun, first: Writer, ports: FlowPorts): Batches {
  const flow = new Flow(run, first, ports);
  return endedUnpulled(flow.batches(), () => flow.end());
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

class Flow {
  readonly #run: RequestRun;
  readonly #ports: FlowPorts;
  #writer: Writer;
  #isClosed = false;
  /** Told with the next batch. */
  #joint: Joint | null = null;

  constructor(run: RequestRun, first: Writer, ports: FlowPorts) {
    this.#run = run;
    this.#writer = first;
    this.#ports = ports;
  }

  end(): void {
    this.#close();
    this.#run.endUnlessEnded(this.#writer.serving);
  }

  async *batches(): Batches {
    try {
      let step = this.#firstStep();
      for (;;) {
        const batch = this.#batchOf(step);
        if (batch !== null) yield batch;
        if (batch?.isLast === true) return;
        if (step.kind === 'broken') {
          if (!(await this.#isRescued(step.cause))) {
            if (!this.#run.isGone) yield this.#failed();
            return;
          }
          step = this.#firstStep();
        } else if (this.#writer.joiner?.isUnjoinable === true) {
          step = { kind: 'broken', parts: [], cause: { why: 'unjoinable' } };
        } else {
          step = await this.#nextStep();
        }
        if (this.#run.isGone) return;
      }
    } finally {
      this.end();
    }
  }

  #firstStep(): StreamStep {
    const { parts, stream } = this.#writer;
    return { kind: stream === null ? 'ended' : 'parts', parts };
  }

  #nextStep(): Promise<StreamStep> {
    const { stream } = this.#writer;
    if (stream === null) throw new Error('an answer that has ended is read on');
    return stream.next(null);
  }

  #batchOf(step: StreamStep): AnswerBatch | null {
    if (step.kind === 'held') return null;
    const { joiner, serving } = this.#writer;
    const parts = joiner === null ? step.parts : joiner.take(step.parts);
    // What it says cannot be shown: its end is none.
    const isLast = step.kind === 'ended' && joiner?.isUnjoinable !== true;
    if (isLast) this.#serve(serving);
    if (parts.length === 0 && !isLast) return null;
    this.#note(parts);
    const joint = this.#joint;
    this.#joint = null;
    return { parts, isLast, failure: null, ...(joint === null ? {} : { joint }) };
  }

  #note(parts: readonly StreamPart[]): void {
    const { continuation } = this.#run;
    if (continuation === null || !continuation.keepsText) return;
    continuation.sent.note(parts);
    if (this.#writer.joiner?.isUncertain === true) continuation.sent.doubt();
  }

  #serve(serving: Serving): void {
    const { candidate, record, tally } = serving;
    noteTally(record, tally);
    record.end('served', candidate.breakerStanding());
    this.#run.serve(serving);
  }

  /** Whether somebody else, or the same target anew, writes on. */
  async #isRescued(cause: Break): Promise<boolean> {
    const { serving, permit } = this.#writer;
    noteTally(serving.record, serving.tally);
    const mayGoOn = this.#run.noteBreak(serving, permit, cause);
    this.#close();
    if (!mayGoOn) return false;
    const next = await this.#ports.resume();
    if (next === null) return false;
    this.#joint = {
      from: serving.candidate.target.id,
      to: next.serving.candidate.target.id,
    };
    this.#writer = next;
    this.#isClosed = false;
    return true;
  }

  #failed(): AnswerBatch {
    return { parts: [], isLast: true, failure: this.#run.failForward() };
  }

  #close(): void {
    const { serving, stream, permit, onEnd } = this.#writer;
    if (this.#isClosed) return;
    this.#isClosed = true;
    stream?.cancel();
    permit.release();
    noteTally(serving.record, serving.tally);
    onEnd();
  }
}
