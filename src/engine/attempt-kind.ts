/** What an attempt is in its request's story; the first that holds. */
import type { AttemptKind } from './trace.ts';

export function attemptKind(attempt: {
  readonly isContinuing: boolean;
  readonly isHedge: boolean;
  readonly isProbe: boolean;
  /** The target whose failure led here. */
  readonly previous: string | null;
  readonly target: string;
}): AttemptKind {
  if (attempt.isContinuing) return 'continuation';
  if (attempt.isHedge) return 'hedge';
  if (attempt.isProbe) return 'probe';
  if (attempt.previous === null) return 'first';
  return attempt.previous === attempt.target ? 'retry' : 'failover';
}
