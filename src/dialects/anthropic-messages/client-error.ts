/** Errors as this dialect's clients read them. */
import type { JsonObject } from '../../base/json.ts';
import { isRetryable, type RequestFailure } from '../../failure/request-failure.ts';

export function encodeError(failure: RequestFailure): string {
  return JSON.stringify(errorDocument(failure));
}

/** Nothing follows it: no `message_stop`, since the message did not end. */
export function encodeStreamError(failure: RequestFailure): string {
  return `event: error\ndata: ${JSON.stringify(errorDocument(failure))}\n\n`;
}

function errorDocument(failure: RequestFailure): JsonObject {
  const { requestId, details } = failure;
  return {
    type: 'error',
    error: {
      type: typeOf(failure.status),
      message: `${opening(failure)}${failure.message} (request ${requestId})`,
      ...(details === undefined ? {} : { details }),
      tiergate: {
        request_id: requestId,
        client_request_id: failure.clientRequestId,
        class: failure.failureClass,
        retryable: isRetryable(failure),
        attempts: failure.attempts,
        ...(failure.regenerate ? { regenerate: true } : {}),
        ...(failure.maybeExecuted === true ? { maybe_executed: true } : {}),
      },
    },
    request_id: requestId,
  };
}

/** Agents look for these words to know that they must shorten the conversation. */
function opening({ failureClass, tokens, message }: RequestFailure): string {
  if (failureClass !== 'context_length' || /^prompt is too long/i.test(message)) return '';
  const limit = tokens?.limit ?? null;
  const requested = tokens?.requested ?? null;
  if (limit === null) return 'prompt is too long. ';
  // Some read both numbers: where the size is not known, it is more than the limit at least.
  return `prompt is too long: ${requested ?? limit + 1} tokens > ${limit} maximum. `;
}

function typeOf(status: number): string {
  switch (status) {
    case 400:
    case 409:
    case 422:
      return 'invalid_request_error';
    case 401:
      return 'authentication_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 413:
      return 'request_too_large';
    case 429:
      return 'rate_limit_error';
    case 504:
      return 'timeout_error';
    default:
      return 'api_error';
  }
}
