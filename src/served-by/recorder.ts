/** The port to the served-by log's writer. */
import type { RequestTrace } from '../engine/trace.ts';

/** `committed`: the rows are durable. `spilled`: they are on disk, outside the database. `lost`: counted. */
export type RecordOutcome = 'committed' | 'spilled' | 'lost';

export type Recorder = {
  /** Resolves when the request's row and its attempts are durable; never rejects. */
  readonly record: (trace: RequestTrace) => Promise<RecordOutcome>;
  /**
   * Called for every request at its arrival, cheap, not awaited. One that lives over 200 ms is marked:
   * a row `lost` is made of it should the process die before `record`.
   */
  readonly begin: (started: {
    readonly id: string;
    readonly clientRequestId?: string;
    readonly startedAtMs: number;
    readonly tier: string;
    readonly keyId: string | null;
  }) => void;
  /** Null when healthy; else why the log is degraded. */
  readonly degradedReason: () => string | null;
  /** Flushes what is queued, then closes. */
  readonly close: () => Promise<void>;
};
