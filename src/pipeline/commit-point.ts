/** When a stream begins although nothing has come to be shown, and how often it then shows that it lives. */
import { clientPatienceMs } from '../resilience/deadline.ts';

export type CommitPoint = {
  /** Monotonic ms; null = it waits for its first content. */
  readonly atMs: number | null;
  /** Longest silence towards the client, ms. */
  readonly keepAliveEveryMs: number;
};

const keepAliveEveryMsMax = 10_000;
/** So that the head is there before the client's read timeout. */
const marginMs = 1000;

/**
 * The earlier of `stream.commit_after` (0 = off) and the client's read timeout less 1 s; at least half
 * of a timeout that is hardly longer than that.
 */
export function commitPointOf(input: {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly arrivedAtMs: number;
  readonly commitAfterMs: number;
}): CommitPoint {
  const { arrivedAtMs, commitAfterMs } = input;
  const patienceMs = clientPatienceMs(input.headers) ?? Number.POSITIVE_INFINITY;
  const afterMs = Math.min(
    commitAfterMs === 0 ? Number.POSITIVE_INFINITY : commitAfterMs,
    Math.max(patienceMs - marginMs, patienceMs / 2),
  );
  return {
    atMs: Number.isFinite(afterMs) ? arrivedAtMs + afterMs : null,
    keepAliveEveryMs: Math.min(keepAliveEveryMsMax, patienceMs / 2),
  };
}
