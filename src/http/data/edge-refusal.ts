/** An error that the edge itself gives to a data-plane client, in the client's own dialect. */
import type { IncomingHttpHeaders } from 'node:http';
import { uuidv7 } from '../../base/ids.ts';
import type { ClientDialect } from '../../dialects/dialect.ts';
import {
  type FailureClass,
  isRetryable,
  type RequestFailure,
} from '../../failure/request-failure.ts';

export type Refusal = {
  readonly status: number;
  readonly failureClass: FailureClass;
  /** What is wrong and what to do about it; holds nothing the client sent. */
  readonly message: string;
  /** For 503: when to come back. */
  readonly retryAfterMs?: number;
  /** Headers beyond the usual ones (`allow`, `www-authenticate`). */
  readonly headers?: Readonly<Record<string, string>>;
};

export type EncodedRefusal = {
  readonly failure: RequestFailure;
  readonly headers: Record<string, string>;
  readonly body: string;
};

/** The failure, its headers and its body, for a client of `dialect`. No row is made of it. */
export function encodeRefusal(
  refusal: Refusal,
  dialect: ClientDialect,
  request: { readonly headers: IncomingHttpHeaders; readonly wallMs: number },
): EncodedRefusal {
  const requestId = uuidv7(request.wallMs);
  const failure: RequestFailure = {
    failureClass: refusal.failureClass,
    status: refusal.status,
    message: refusal.message,
    param: null,
    retryAfterMs: refusal.retryAfterMs ?? null,
    attempts: [],
    requestId,
    clientRequestId: clientRequestId(request.headers) ?? uuidv7(request.wallMs),
    tokens: null,
    regenerate: false,
  };
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-client-request-id': failure.clientRequestId,
    'x-tiergate-request-id': requestId,
    [dialect.requestIdHeader]: requestId,
    'x-should-retry': String(isRetryable(failure)),
    ...refusal.headers,
  };
  if (failure.retryAfterMs !== null) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(failure.retryAfterMs / 1000)));
    headers['retry-after-ms'] = String(Math.ceil(failure.retryAfterMs));
  }
  return { failure, headers, body: dialect.encodeError(failure) };
}

/** 1 to 128 printable ASCII characters, else null: then it is replaced. */
function clientRequestId(headers: IncomingHttpHeaders): string | null {
  const sent = headers['x-client-request-id'];
  return typeof sent === 'string' && /^[\x20-\x7e]{1,128}$/.test(sent) ? sent : null;
}
