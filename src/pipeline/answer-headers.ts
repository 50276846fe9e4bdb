/** The response headers of 2-api: who served, under which version, after how much. */
import type { ClientDialect } from '../dialects/dialect.ts';
import type { AnswerHead } from '../engine/engine-request.ts';
import { isRetryable, type RequestFailure } from '../failure/request-failure.ts';
import type { AnswerHeaders } from './answer.ts';

export type Identity = {
  readonly dialect: ClientDialect;
  readonly id: string;
  readonly clientRequestId: string;
  /** Null while unknown. */
  readonly tier: string | null;
  readonly configVersion: number;
};

/** Milliseconds since arrival, spent where. */
export type Timing = {
  readonly upstreamMs: number;
  readonly backoffMs: number;
  readonly totalMs: number;
};

export function identityHeaders(identity: Identity): AnswerHeaders {
  const headers: AnswerHeaders = {
    'x-client-request-id': identity.clientRequestId,
    'x-tiergate-request-id': identity.id,
    [identity.dialect.requestIdHeader]: identity.id,
    'x-tiergate-config-version': String(identity.configVersion),
  };
  if (identity.tier !== null) headers['x-tiergate-tier'] = identity.tier;
  return headers;
}

export function servedHeaders(
  identity: Identity,
  head: AnswerHead,
  timing: Timing,
  contentType: string,
): AnswerHeaders {
  const headers = earlyHeaders(identity, timing, contentType);
  headers['x-tiergate-served-by'] = head.target;
  if (head.variant !== null) headers['x-tiergate-variant'] = head.variant;
  headers['x-tiergate-attempts'] = String(head.attempts);
  headers['x-tiergate-failovers'] = String(head.failovers);
  if (head.isRestarted) headers['x-tiergate-recovery'] = 'restarted';
  if (head.dropped.length > 0) headers['x-tiergate-dropped'] = head.dropped.join(',');
  return headers;
}

/** Of a stream that begins before it is known who serves it: then the row tells. */
export function earlyHeaders(
  identity: Identity,
  timing: Timing,
  contentType: string,
): AnswerHeaders {
  return {
    ...identityHeaders(identity),
    'content-type': contentType,
    'server-timing': serverTiming(timing),
  };
}

export function failureHeaders(
  identity: Identity,
  failure: RequestFailure,
  timing: Timing,
): AnswerHeaders {
  const headers = identityHeaders(identity);
  headers['content-type'] = 'application/json';
  headers['x-tiergate-attempts'] = String(failure.attempts.length);
  headers['x-should-retry'] = String(isRetryable(failure));
  if (failure.retryAfterMs !== null) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(failure.retryAfterMs / 1000)));
    headers['retry-after-ms'] = String(Math.max(1, Math.ceil(failure.retryAfterMs)));
  }
  headers['server-timing'] = serverTiming(timing);
  return headers;
}

/** Of a count that nobody was there to make. */
export function estimateHeaders(
  identity: Identity,
  attempts: number,
  timing: Timing,
): AnswerHeaders {
  return {
    ...identityHeaders(identity),
    'content-type': 'application/json',
    'x-tiergate-estimate': 'true',
    'x-tiergate-attempts': String(attempts),
    'server-timing': serverTiming(timing),
  };
}

function serverTiming({ upstreamMs, backoffMs, totalMs }: Timing): string {
  const gatewayMs = Math.max(0, totalMs - upstreamMs - backoffMs);
  return `upstream;dur=${upstreamMs.toFixed(1)}, backoff;dur=${backoffMs.toFixed(1)}, gateway;dur=${gatewayMs.toFixed(1)}`;
}
