/** Errors of this dialect and of the many servers that speak it: how a document is read, what class it means, when to come back. */
import { arrayAt, isJsonObject, objectAt, property, stringAt } from '../../base/json.ts';
import type { ErrorFacts, ErrorRule, HintTable, LimitHeader } from '../../failure/error-rule.ts';
import { findError, isErrorDocument, messageOf, statedStatus, wordAt } from '../error-document.ts';

/** Headers under which one vendor or another names a request; the first present one counts. */
const requestIdHeaders = [
  'x-request-id',
  'request-id',
  'apim-request-id',
  'x-kong-request-id',
  'mistral-correlation-id',
  'x-ds-trace-id',
  'x-generation-id',
  'cf-ray',
] as const;

export function readError(input: {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}): ErrorFacts {
  const { headers, body } = input;
  const found = findError(body);
  const { error, document } = found;
  return {
    status: input.status ?? statedStatus(found),
    code: wordAt(error, 'code') ?? wordAt(document, 'code'),
    type: wordAt(error, 'type') ?? wordAt(document, 'type'),
    param: stringAt(error, 'param') ?? stringAt(document, 'param'),
    message: messageOf(found),
    reasons: reasonsIn(error),
    upstreamRequestId: requestIdOf(headers, error, document),
    isKnownShape: isErrorDocument(body),
  };
}

/** Machine words that stand deeper: a filter's verdict, a router's kind of error, a status word. */
function reasonsIn(error: unknown): readonly string[] {
  const inner = objectAt(error, 'innererror') ?? objectAt(error, 'inner_error');
  const metadata = objectAt(error, 'metadata');
  const words = [
    stringAt(inner, 'code'),
    stringAt(metadata, 'error_type'),
    stringAt(error, 'status'),
    stringAt(objectAt(error, 'availability'), 'code'),
    // A router's answer to a prompt that its moderation flagged (OpenRouter, documented).
    property(metadata, 'flagged_input') === undefined ? null : 'moderation',
  ];
  for (const detail of arrayAt(error, 'details').slice(0, 10))
    words.push(stringAt(detail, 'reason'));
  return words.filter((word) => word !== null);
}

function requestIdOf(
  headers: Readonly<Record<string, string>>,
  error: unknown,
  document: unknown,
): string | null {
  for (const name of requestIdHeaders) {
    const id = headers[name];
    if (id !== undefined && id !== '') return id;
  }
  return (
    stringAt(document, 'request_id') ??
    stringAt(error, 'request_id') ??
    stringAt(objectAt(document, 'x_groq'), 'id')
  );
}

/** Codes stand in `code` on some servers and in `type` on others: each list is asked of both. */
function rulesFor(
  name: string,
  errorClass: ErrorRule['errorClass'],
  words: readonly string[],
  status?: readonly number[],
): readonly ErrorRule[] {
  const when = status === undefined ? {} : { status };
  return [
    { name: `openai-chat.${name}`, code: words, errorClass, ...when },
    { name: `openai-chat.${name}-type`, type: words, errorClass, ...when },
  ];
}

/**
 * Only what machine words say. Sentences and bare statuses are judged after these, by patterns that all
 * dialects share.
 */
export const rules: readonly ErrorRule[] = [
  ...rulesFor('quota', 'quota_exhausted', [
    'insufficient_quota',
    'credit_balance_exhausted',
    'organization_spend_limit_exceeded',
    'project_spend_limit_exceeded',
    'organization_usage_limit_exceeded',
    'billing_hard_limit_reached',
    'billing_not_active',
    'exceeded_current_quota_error',
    'insufficient_balance',
    'Arrearage',
    '1113',
  ]),
  ...rulesFor('context', 'context_length', [
    'context_length_exceeded',
    'string_above_max_length',
    'too_many_prompt_tokens',
    'exceed_context_size_error',
    '3051',
  ]),
  // The model's own call or JSON was broken: its fault, not the client's.
  ...rulesFor('output-fault', 'malformed_response', [
    'tool_use_failed',
    'json_validate_failed',
    'output_parse_failed',
    'finish_reason_error',
  ]),
  ...rulesFor('content', 'content_policy', [
    'content_policy_violation',
    'content_filter',
    'bio_policy',
    'data_inspection_failed',
    'DataInspectionFailed',
  ]),
  {
    name: 'openai-chat.invalid-prompt',
    code: ['invalid_prompt'],
    message: /flagged|usage polic|policy/i,
    errorClass: 'content_policy',
  },
  {
    name: 'openai-chat.moderation',
    reason: ['moderation', 'ResponsibleAIPolicyViolation'],
    errorClass: 'content_policy',
  },
  ...rulesFor('key', 'auth', [
    'invalid_api_key',
    'invalid_authentication_error',
    'ip_not_authorized',
  ]),
  {
    name: 'openai-chat.no-access',
    status: [403],
    code: ['model_not_found'],
    errorClass: 'permission',
  },
  ...rulesFor('region', 'permission', [
    'unsupported_country_region_territory',
    'blocked_api_access',
  ]),
  ...rulesFor('model', 'not_found', [
    'model_not_found',
    'DeploymentNotFound',
    'model_not_available',
    'model_decommissioned',
    'unknown_model',
  ]),
  ...rulesFor('overload', 'overload', [
    'slow_down',
    'server_is_overloaded',
    'service_unavailable_error',
    'engine_overloaded_error',
    'overloaded_error',
    'capacity_exceeded',
    'queue_exceeded',
    'insufficient_system_resource',
    '3505',
  ]),
  // Whatever limit it is said to be: words of capacity or money come first (shared patterns), so a
  // status of 429 alone is left to them.
  ...rulesFor('timeout', 'timeout', ['timeout', 'request_timeout', 'timeout_error']),
  ...rulesFor(
    'network',
    'transient_infra',
    ['network_error', 'server_error', 'internal_error'],
    [500, 502, 503, 504, 0],
  ),
  ...rulesFor(
    'rate',
    'rate_limit',
    ['rate_limit_exceeded', 'rate_limit_error', 'rate_limited', '429'],
    [0],
  ),
  // What is left of the window for the answer is less than nothing (Together).
  {
    name: 'openai-chat.no-room',
    status: [400, 422],
    message: /tokens \+ `?max_new_tokens`? must be <= \d/i,
    errorClass: 'context_length',
  },
  // A router that knows nobody who serves the model (OpenRouter).
  {
    name: 'openai-chat.no-endpoint',
    status: [404],
    message: /^no (?:endpoints found|allowed providers)/i,
    errorClass: 'not_found',
  },
  // A local server that is starting.
  {
    name: 'openai-chat.loading',
    status: [503],
    message: /^loading model/i,
    errorClass: 'overload',
  },
  { name: 'openai-chat.flex', status: [498], errorClass: 'overload' },
  { name: 'openai-chat.gone', status: [410], errorClass: 'not_found' },
];

function limit(name: string): LimitHeader {
  return {
    remaining: `x-ratelimit-remaining-${name}`,
    reset: `x-ratelimit-reset-${name}`,
    format: 'duration',
  };
}

export const hints: HintTable = {
  limits: [
    ...[
      'requests',
      'tokens',
      'tokens_usage_based',
      'input-images',
      'requests-day',
      'requests-minute',
      'tokens-day',
      'tokens-minute',
    ].map(limit),
    { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset', format: 'epoch_seconds' },
  ],
  bodyDelay,
};

/** `error.details[].retryDelay` ("34.4s"), or a router's `retry_after` (seconds). */
function bodyDelay(body: unknown): string | null {
  const { error } = findError(body);
  for (const detail of arrayAt(error, 'details').slice(0, 10)) {
    const delay = stringAt(detail, 'retryDelay');
    if (delay !== null) return delay;
  }
  const holder = objectAt(error, 'availability') ?? objectAt(error, 'metadata');
  const seconds = isJsonObject(holder) ? wordAt(holder, 'retry_after') : null;
  return seconds;
}
