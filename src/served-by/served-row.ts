/** Rows as the API shows them: the column names, with instants in RFC 3339. */

import type { AttemptRow, RequestRow } from './row.ts';
import type { ServedRow } from './served-query.ts';

/** `attempts` null leaves the field out, as lists do. */
export function servedRowOf(
  request: RequestRow,
  attempts: readonly AttemptRow[] | null,
): ServedRow {
  const shown = { ...request, started_at: rfc3339(request.started_at) };
  return attempts === null ? shown : { ...shown, attempts: attempts.map(shownAttemptOf) };
}

function shownAttemptOf(attempt: AttemptRow): ServedRow {
  return { ...attempt, started_at: rfc3339(attempt.started_at) };
}

function rfc3339(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
