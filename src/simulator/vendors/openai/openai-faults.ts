/** Errors in OpenAI's form: `{"error":{"message","type","param","code"}}`. */
import type { FaultDetail, FaultReplyKind, VendorFault } from '../vendor.ts';
import { faultOf } from '../vendor.ts';

export function refusal(
  message: string,
  param: string | null = null,
  code: string | null = null,
): VendorFault {
  return faultOf({ status: 400, type: 'invalid_request_error', message, param, code });
}

export function openaiPlainFault(status: number, message: string): VendorFault {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return faultOf({ status, type, message });
}

export function openaiErrorBody(fault: VendorFault): string {
  const { message, type, param, code } = fault;
  return `${JSON.stringify({ error: { message, type, param, code } }, null, 2)}\n`;
}

export function openaiErrorEvent(fault: VendorFault, eol: string): string {
  const { message, type, param, code } = fault;
  return `data: ${JSON.stringify({ error: { message, type, param, code } })}${eol}${eol}`;
}

const faults = {
  overload: () =>
    faultOf({
      status: 503,
      type: 'service_unavailable_error',
      code: 'server_is_overloaded',
      message: 'The engine is currently overloaded, please try again later.',
    }),
  rate_limit: ({ model, retryAfterMs }) =>
    faultOf({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: `Rate limit reached for ${model} on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in ${retryAfterMs}ms.`,
      headers: {
        'retry-after': String(Math.ceil(retryAfterMs / 1000)),
        'retry-after-ms': String(Math.ceil(retryAfterMs)),
        'x-ratelimit-limit-requests': '500',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': `${Math.ceil(retryAfterMs)}ms`,
      },
    }),
  quota: () =>
    faultOf({
      status: 429,
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: 'You exceeded your current quota, please check your plan and billing details.',
    }),
  auth: () =>
    faultOf({
      status: 401,
      type: 'invalid_request_error',
      code: 'invalid_api_key',
      message: 'Incorrect API key provided.',
    }),
  permission: () =>
    faultOf({
      status: 403,
      type: 'invalid_request_error',
      code: 'unsupported_country_region_territory',
      message: 'Country, region, or territory not supported.',
    }),
  not_found: ({ model }) =>
    faultOf({
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      message: `The model \`${model}\` does not exist or you do not have access to it.`,
    }),
  context_length: () =>
    faultOf({
      status: 400,
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens.",
    }),
  content_policy: () =>
    faultOf({
      status: 400,
      type: 'invalid_request_error',
      code: 'content_policy_violation',
      message: 'The request was rejected by the safety system.',
    }),
  prefill: () =>
    faultOf({
      status: 400,
      type: 'invalid_request_error',
      param: 'messages',
      message: "Invalid 'messages': the last message must have role 'user' or 'tool'.",
    }),
  server_error: () =>
    faultOf({
      status: 500,
      type: 'server_error',
      message: 'The server had an error while processing your request.',
    }),
} satisfies { readonly [kind in FaultReplyKind]: (detail: FaultDetail) => VendorFault };

export function openaiFault(kind: FaultReplyKind, detail: FaultDetail): VendorFault {
  return faults[kind](detail);
}
