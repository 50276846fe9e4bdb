/** A recorder that keeps traces where a test reads them. */
import type { RequestTrace } from '../../src/engine/trace.ts';
import type { Recorder, RecordOutcome } from '../../src/served-by/recorder.ts';

export type MemoryRecorder = Recorder & {
  readonly traces: readonly RequestTrace[];
  /** Ids given to `begin` and not yet recorded. */
  readonly underWay: ReadonlySet<string>;
  /** What `record` resolves with from now on; a reason makes the log degraded. */
  readonly answerWith: (outcome: RecordOutcome, degradedReason?: string | null) => void;
};

export function createMemoryRecorder(): MemoryRecorder {
  const traces: RequestTrace[] = [];
  const underWay = new Set<string>();
  let outcome: RecordOutcome = 'committed';
  let reason: string | null = null;
  return {
    traces,
    underWay,
    answerWith: (next, degradedReason = null) => {
      outcome = next;
      reason = degradedReason;
    },
    record: (trace) => {
      traces.push(trace);
      underWay.delete(trace.id);
      return Promise.resolve(outcome);
    },
    begin: ({ id }) => {
      underWay.add(id);
    },
    degradedReason: () => reason,
    close: () => Promise.resolve(),
  };
}
