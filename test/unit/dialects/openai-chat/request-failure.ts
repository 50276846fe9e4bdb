import type { RequestFailure } from '../../../../src/failure/request-failure.ts';

export function failureWith(change: Partial<RequestFailure>): RequestFailure {
  return {
    failureClass: 'upstream_failed',
    status: 502,
    message: 'No target answered.',
    param: null,
    retryAfterMs: null,
    attempts: [],
    requestId: 'req-1',
    clientRequestId: 'client-1',
    tokens: null,
    regenerate: false,
    ...change,
  };
}
