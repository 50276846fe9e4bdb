/** The error document of the vendor whose two client dialects share it. */
import type { JsonObject } from '../base/json.ts';
import { type FailureClass, isRetryable, type RequestFailure } from '../failure/request-failure.ts';

/** What stands under `error`. */
export type OpenaiError = {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
  readonly tiergate: JsonObject;
};

export function openaiError(failure: RequestFailure): OpenaiError {
  const { failureClass, status, requestId } = failure;
  return {
    message: openaiErrorMessage(failure),
    type: typeOf(failureClass, status),
    param: failure.param,
    code: openaiErrorCode(failureClass),
    tiergate: {
      request_id: requestId,
      client_request_id: failure.clientRequestId,
      class: failureClass,
      retryable: isRetryable(failure),
      attempts: failure.attempts,
      ...(failure.regenerate ? { regenerate: true } : {}),
      ...(failure.maybeExecuted === true ? { maybe_executed: true } : {}),
    },
  };
}

export function openaiErrorMessage(failure: RequestFailure): string {
  return `${opening(failure)}${failure.message} (request ${failure.requestId})`;
}

const ownOpening = /^This (model|endpoint)'s maximum context length/;

/** Agents look for these words to know that they must shorten the conversation. */
function opening({ failureClass, tokens, message }: RequestFailure): string {
  if (failureClass !== 'context_length' || ownOpening.test(message)) return '';
  const limit = tokens?.limit ?? null;
  const requested = tokens?.requested ?? null;
  const window =
    limit === null
      ? "This model's maximum context length is exceeded."
      : `This model's maximum context length is ${limit} tokens.`;
  const asked =
    requested === null
      ? 'However, your messages are longer.'
      : `However, your messages resulted in ${requested} tokens.`;
  return `${window} ${asked} `;
}

export function openaiErrorCode(failureClass: FailureClass): string {
  switch (failureClass) {
    case 'context_length':
      return 'context_length_exceeded';
    case 'unknown_tier':
      return 'model_not_found';
    case 'unauthenticated':
      return 'invalid_api_key';
    case 'rate_limited':
      return 'rate_limit_exceeded';
    default:
      return failureClass;
  }
}

function typeOf(failureClass: FailureClass, status: number): string {
  if (failureClass === 'rate_limited') return 'rate_limit_error';
  if (failureClass === 'forbidden') return 'permission_error';
  return status < 500 && failureClass !== 'stream_interrupted'
    ? 'invalid_request_error'
    : 'server_error';
}
