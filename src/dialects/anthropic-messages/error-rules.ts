/** Errors of this dialect: how a document is read, which class it means, and when it says to come back. */
import { isJsonObject, numberAt, objectAt, stringAt } from '../../base/json.ts';
import type { ErrorFacts, ErrorRule, HintTable } from '../../failure/error-rule.ts';

/** Bytes of a document that is no JSON which are worth matching against. */
const textCharactersMax = 2000;

/**
 * Reads `{type: "error", error: {type, message, details}, request_id}`, the same without its shell, and
 * the documents that clouds and compatible servers put in its place (`code`, `status`).
 */
export function readError(input: {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}): ErrorFacts {
  const { headers, body } = input;
  const error = objectAt(body, 'error') ?? (isJsonObject(body) ? body : null);
  const details = objectAt(error, 'details');
  const stated = numberAt(error, 'code') ?? numberAt(error, 'status');
  const reasons = [stringAt(details, 'error_code'), stringAt(error, 'status')];
  const message = stringAt(error, 'message') ?? stringAt(body, 'error') ?? textOf(body);
  return {
    status: input.status ?? stated,
    code: stringAt(error, 'code') ?? stringAt(details, 'error_code'),
    type: typeOf(error),
    param: stringAt(error, 'param'),
    message,
    reasons: reasons.filter((reason) => reason !== null),
    upstreamRequestId: headers['request-id'] ?? stringAt(body, 'request_id'),
    isKnownShape: stringAt(error, 'message') !== null || typeOf(error) !== null,
  };
}

/** The shell's own `type` is always "error" and says nothing. */
function typeOf(error: unknown): string | null {
  const type = stringAt(error, 'type');
  return type === 'error' ? null : type;
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body.slice(0, textCharactersMax) : '';
}

const contextTooLong =
  /prompt is too long|input length and `?max_tokens`? exceed context limit|exceeds? the (model's )?context window/i;
const outOfMoney =
  /credit balance is too low|reached your specified api usage limits|extra usage is required|spend(ing)? limit|out of (extra )?usage/i;

export const rules: readonly ErrorRule[] = [
  {
    name: 'anthropic-messages.spent',
    reason: [
      'organization_on_hold',
      'contract_spend_limit_reached',
      'enforced_spend_limit_reached',
    ],
    errorClass: 'quota_exhausted',
  },
  { name: 'anthropic-messages.billing', type: ['billing_error'], errorClass: 'quota_exhausted' },
  {
    name: 'anthropic-messages.credit',
    status: [400, 402, 403, 429],
    message: outOfMoney,
    errorClass: 'quota_exhausted',
  },
  {
    name: 'anthropic-messages.restarted',
    type: ['stream_restarted'],
    errorClass: 'stream_interrupted',
  },
  { name: 'anthropic-messages.overloaded', type: ['overloaded_error'], errorClass: 'overload' },
  {
    name: 'anthropic-messages.compaction',
    reason: ['compaction_unavailable'],
    errorClass: 'overload',
  },
  { name: 'anthropic-messages.rate-limit', type: ['rate_limit_error'], errorClass: 'rate_limit' },
  // A compatible front end of the service: the useful word stands in `code`, `type` misleads.
  {
    name: 'anthropic-messages.rate-limit-code',
    code: ['rate_limit_error'],
    errorClass: 'rate_limit',
  },
  { name: 'anthropic-messages.auth', type: ['authentication_error'], errorClass: 'auth' },
  { name: 'anthropic-messages.permission', type: ['permission_error'], errorClass: 'permission' },
  { name: 'anthropic-messages.not-found', type: ['not_found_error'], errorClass: 'not_found' },
  {
    name: 'anthropic-messages.context',
    status: [400, 413],
    message: contextTooLong,
    errorClass: 'context_length',
  },
  {
    name: 'anthropic-messages.too-large',
    type: ['request_too_large'],
    errorClass: 'context_length',
  },
  {
    name: 'anthropic-messages.filtered',
    status: [400],
    message: /output blocked by content filtering policy|content filtering policy/i,
    errorClass: 'content_policy',
  },
  { name: 'anthropic-messages.conflict', type: ['conflict_error'], errorClass: 'invalid_request' },
  { name: 'anthropic-messages.timeout', type: ['timeout_error'], errorClass: 'timeout' },
  { name: 'anthropic-messages.api-error', type: ['api_error'], errorClass: 'transient_infra' },
  { name: 'anthropic-messages.status-529', status: [529], errorClass: 'overload' },
  {
    name: 'anthropic-messages.invalid',
    type: ['invalid_request_error'],
    errorClass: 'invalid_request',
  },
];

const limitNames = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const;
const unifiedNames = ['unified', 'unified-5h', 'unified-7d'] as const;

export const hints: HintTable = {
  limits: [
    ...limitNames.map((name) => ({
      remaining: `anthropic-ratelimit-${name}-remaining`,
      reset: `anthropic-ratelimit-${name}-reset`,
      format: 'rfc3339' as const,
    })),
    ...unifiedNames.map((name) => ({
      remaining: `anthropic-ratelimit-${name}-remaining`,
      reset: `anthropic-ratelimit-${name}-reset`,
      format: 'epoch_seconds' as const,
    })),
  ],
  bodyDelay: () => null,
};
