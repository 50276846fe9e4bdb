/** Errors in Bedrock's form: `{"message"}`, the class of which stands in a header alone. */
import type { FaultDetail, FaultReplyKind, VendorFault } from '../vendor.ts';
import { faultOf } from '../vendor.ts';
import { exceptionFrame } from './bedrock-frames.ts';

export function bedrockFaultOf(status: number, type: string, message: string): VendorFault {
  const headers = {
    'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  };
  return faultOf({ status, type, message, headers });
}

export function refusal(message: string): VendorFault {
  return bedrockFaultOf(400, 'ValidationException', message);
}

const typeByStatus: { readonly [status: number]: string } = {
  403: 'AccessDeniedException',
  404: 'UnknownOperationException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
};

export function bedrockPlainFault(status: number, message: string): VendorFault {
  const fallback = status >= 500 ? 'InternalServerException' : 'ValidationException';
  return bedrockFaultOf(status, typeByStatus[status] ?? fallback, message);
}

export function bedrockErrorBody({ message }: VendorFault): string {
  return JSON.stringify({ message });
}

/** In a stream the class begins with a small letter, and nothing follows. */
export function bedrockErrorEvent({ type, message }: VendorFault): string {
  return exceptionFrame(type.charAt(0).toLowerCase() + type.slice(1), { message });
}

const faults = {
  overload: () =>
    bedrockFaultOf(
      503,
      'ServiceUnavailableException',
      'Bedrock is unable to process your request.',
    ),
  rate_limit: () =>
    bedrockFaultOf(
      429,
      'ThrottlingException',
      'Too many requests, please wait before trying again.',
    ),
  quota: () =>
    bedrockFaultOf(
      429,
      'ThrottlingException',
      'Too many tokens per day, please wait before trying again.',
    ),
  auth: () =>
    bedrockFaultOf(
      403,
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
    ),
  permission: () =>
    bedrockFaultOf(
      403,
      'AccessDeniedException',
      "You don't have access to the model with the specified model ID.",
    ),
  not_found: () => refusal('The provided model identifier is invalid.'),
  context_length: () => refusal('Input is too long for requested model.'),
  content_policy: () =>
    refusal('The model returned the following errors: Output blocked by content filtering policy'),
  prefill: () =>
    refusal(
      'The model returned the following errors: This model does not support assistant message prefill. The conversation must end with a user message.',
    ),
  server_error: () =>
    bedrockFaultOf(
      500,
      'InternalServerException',
      'The system encountered an unexpected error during processing. Try your request again.',
    ),
} satisfies { readonly [kind in FaultReplyKind]: (detail: FaultDetail) => VendorFault };

export function bedrockFault(kind: FaultReplyKind): VendorFault {
  return faults[kind]();
}
