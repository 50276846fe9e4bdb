/** Errors as this dialect's clients read them. */
import type { JsonObject } from '../../base/json.ts';
import { isRetryable, type RequestFailure } from '../../failure/request-failure.ts';

export function encodeError(failure: RequestFailure): string {
  const { failureClass, status, requestId } = failure;
  const message = `${opening(failure)}${failure.message} (request ${requestId})`;
  return JSON.stringify({
    error: {
      code: status,
      message,
      status: statusWord(status),
      details: detailsOf(failure),
      tiergate: {
        request_id: requestId,
        client_request_id: failure.clientRequestId,
        class: failureClass,
        retryable: isRetryable(failure),
        attempts: failure.attempts,
        ...(failure.regenerate ? { regenerate: true } : {}),
        ...(failure.maybeExecuted === true ? { maybe_executed: true } : {}),
      },
    },
  });
}

const ownOpening = /^The input token count/;

/** Agents look for these words to know that they must shorten the conversation. */
function opening({ failureClass, tokens, message }: RequestFailure): string {
  if (failureClass !== 'context_length' || ownOpening.test(message)) return '';
  const limit = tokens?.limit ?? null;
  const requested = tokens?.requested ?? null;
  const asked = requested === null ? '' : ` (${requested})`;
  const window = limit === null ? '' : ` (${limit})`;
  return `The input token count${asked} exceeds the maximum number of tokens allowed${window}. `;
}

function statusWord(status: number): string {
  switch (status) {
    case 401:
      return 'UNAUTHENTICATED';
    case 403:
      return 'PERMISSION_DENIED';
    case 404:
      return 'NOT_FOUND';
    case 409:
      return 'ABORTED';
    case 429:
      return 'RESOURCE_EXHAUSTED';
    case 503:
      return 'UNAVAILABLE';
    case 504:
      return 'DEADLINE_EXCEEDED';
    default:
      return status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL';
  }
}

const typeUrl = 'type.googleapis.com/google.rpc';

function detailsOf({ failureClass, param, message, retryAfterMs }: RequestFailure): JsonObject[] {
  const details: JsonObject[] = [
    { '@type': `${typeUrl}.ErrorInfo`, reason: failureClass.toUpperCase(), domain: 'tiergate' },
  ];
  if (param !== null) {
    const fieldViolations = [{ field: param, description: message }];
    details.push({ '@type': `${typeUrl}.BadRequest`, fieldViolations });
  }
  if (retryAfterMs !== null) {
    details.push({ '@type': `${typeUrl}.RetryInfo`, retryDelay: `${retryAfterMs / 1000}s` });
  }
  return details;
}
