/** Errors in Google's form: `{"error":{"code","message","status","details"}}`. */
import type { FaultDetail, FaultReplyKind, VendorFault } from '../vendor.ts';
import { faultOf } from '../vendor.ts';

const rpc = 'type.googleapis.com/google.rpc';

export function refusal(message: string): VendorFault {
  return faultOf({ status: 400, type: 'INVALID_ARGUMENT', message });
}

const statusNames: { readonly [status: number]: string } = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

export function geminiPlainFault(status: number, message: string): VendorFault {
  const fallback = status >= 500 ? 'UNKNOWN' : 'INVALID_ARGUMENT';
  return faultOf({ status, type: statusNames[status] ?? fallback, message });
}

export function geminiErrorBody(fault: VendorFault): string {
  return `${JSON.stringify({ error: errorOf(fault) }, null, 2)}\n`;
}

export function geminiErrorEvent(fault: VendorFault, eol: string): string {
  return `data: ${JSON.stringify({ error: errorOf(fault) })}${eol}${eol}`;
}

function errorOf(fault: VendorFault) {
  const details = fault.details.length > 0 ? { details: fault.details } : {};
  return { code: fault.status, message: fault.message, status: fault.type, ...details };
}

function quotaViolation(quotaId: string, model: string) {
  return {
    '@type': `${rpc}.QuotaFailure`,
    violations: [
      {
        quotaMetric: 'generativelanguage.googleapis.com/generate_content_requests',
        quotaId,
        quotaDimensions: { location: 'global', model },
      },
    ],
  };
}

function retryInfo(retryAfterMs: number) {
  return { '@type': `${rpc}.RetryInfo`, retryDelay: `${retryAfterMs / 1000}s` };
}

const faults = {
  overload: () =>
    faultOf({
      status: 503,
      type: 'UNAVAILABLE',
      message: 'The model is overloaded. Please try again later.',
    }),
  rate_limit: ({ model, retryAfterMs }) =>
    faultOf({
      status: 429,
      type: 'RESOURCE_EXHAUSTED',
      message: `You exceeded your current quota, please check your plan and billing details. Please retry in ${retryAfterMs / 1000}s.`,
      details: [
        quotaViolation('GenerateRequestsPerMinutePerProjectPerModel', model),
        retryInfo(retryAfterMs),
      ],
    }),
  quota: ({ model }) =>
    faultOf({
      status: 429,
      type: 'RESOURCE_EXHAUSTED',
      message: 'You exceeded your current quota, please check your plan and billing details.',
      details: [
        quotaViolation('GenerateRequestsPerDayPerProjectPerModel', model),
        retryInfo(20_000),
      ],
    }),
  auth: () =>
    faultOf({
      status: 400,
      type: 'INVALID_ARGUMENT',
      message: 'API key not valid. Please pass a valid API key.',
      details: [
        {
          '@type': `${rpc}.ErrorInfo`,
          reason: 'API_KEY_INVALID',
          domain: 'googleapis.com',
          metadata: { service: 'generativelanguage.googleapis.com' },
        },
      ],
    }),
  permission: () =>
    faultOf({
      status: 403,
      type: 'PERMISSION_DENIED',
      message: 'Requests to this API are blocked for this project.',
      details: [
        {
          '@type': `${rpc}.ErrorInfo`,
          reason: 'API_KEY_SERVICE_BLOCKED',
          domain: 'googleapis.com',
        },
      ],
    }),
  not_found: ({ model }) =>
    faultOf({
      status: 404,
      type: 'NOT_FOUND',
      message: `models/${model} is not found for API version v1beta, or is not supported for generateContent.`,
    }),
  context_length: () =>
    refusal(
      'The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).',
    ),
  content_policy: () => refusal('The prompt was blocked by the content policy.'),
  prefill: () =>
    refusal('Please ensure that multiturn requests end with a user role or a function response.'),
  server_error: () =>
    faultOf({ status: 500, type: 'INTERNAL', message: 'An internal error has occurred.' }),
} satisfies { readonly [kind in FaultReplyKind]: (detail: FaultDetail) => VendorFault };

export function geminiFault(kind: FaultReplyKind, detail: FaultDetail): VendorFault {
  return faults[kind](detail);
}
