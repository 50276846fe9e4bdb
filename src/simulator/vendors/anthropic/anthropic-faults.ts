/** Errors in Anthropic's form: `{"type":"error","error":{"type","message"},"request_id"}`. */
import type { FaultDetail, FaultReplyKind, VendorFault } from '../vendor.ts';
import { faultOf } from '../vendor.ts';

export function refusal(message: string): VendorFault {
  return faultOf({ status: 400, type: 'invalid_request_error', message });
}

const typeByStatus: { readonly [status: number]: string } = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export function anthropicPlainFault(status: number, message: string): VendorFault {
  const fallback = status >= 500 ? 'api_error' : 'invalid_request_error';
  return faultOf({ status, type: typeByStatus[status] ?? fallback, message });
}

export function anthropicErrorBody(fault: VendorFault, requestId: string): string {
  const { type, message } = fault;
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId });
}

export function anthropicErrorEvent(fault: VendorFault, requestId: string, eol: string): string {
  const { type, message } = fault;
  const data = { type: 'error', error: { details: null, type, message }, request_id: requestId };
  return `event: error${eol}data: ${JSON.stringify(data)}${eol}${eol}`;
}

const again = { 'x-should-retry': 'true' };
const final = { 'x-should-retry': 'false' };

const faults = {
  overload: () =>
    faultOf({ status: 529, type: 'overloaded_error', message: 'Overloaded', headers: again }),
  rate_limit: ({ retryAfterMs }) =>
    faultOf({
      status: 429,
      type: 'rate_limit_error',
      message: 'Number of requests has exceeded your per-minute rate limit.',
      headers: {
        ...again,
        'retry-after': String(Math.ceil(retryAfterMs / 1000)),
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-remaining': '0',
      },
    }),
  quota: () =>
    faultOf({
      status: 400,
      type: 'invalid_request_error',
      message: 'Your credit balance is too low to access the Anthropic API.',
      headers: final,
    }),
  auth: () =>
    faultOf({
      status: 401,
      type: 'authentication_error',
      message: 'invalid x-api-key',
      headers: final,
    }),
  permission: () =>
    faultOf({
      status: 403,
      type: 'permission_error',
      message: 'Your account does not have access to this model.',
    }),
  not_found: ({ model }) =>
    faultOf({ status: 404, type: 'not_found_error', message: `model: ${model}` }),
  context_length: () =>
    faultOf({
      status: 400,
      type: 'invalid_request_error',
      message: 'prompt is too long: 250000 tokens > 200000 maximum',
    }),
  content_policy: () =>
    faultOf({
      status: 400,
      type: 'invalid_request_error',
      message: 'Output blocked by content filtering policy',
    }),
  prefill: () =>
    refusal(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    ),
  server_error: () =>
    faultOf({ status: 500, type: 'api_error', message: 'Internal server error', headers: again }),
} satisfies { readonly [kind in FaultReplyKind]: (detail: FaultDetail) => VendorFault };

export function anthropicFault(kind: FaultReplyKind, detail: FaultDetail): VendorFault {
  return faults[kind](detail);
}
