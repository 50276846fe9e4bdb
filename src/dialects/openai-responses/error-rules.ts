/** Errors of this dialect: how a document is read, which class it means, when it says to come back. */
import { isJsonObject, objectAt, stringAt } from '../../base/json.ts';
import type { ErrorFacts, ErrorRule, HintTable, LimitHeader } from '../../failure/error-rule.ts';
import {
  type FoundError,
  findError,
  isFilled,
  messageOf,
  statedStatus,
  wordAt,
} from '../error-document.ts';

/** The first present one counts; clouds and routers in front of a service name theirs. */
const requestIdHeaders = [
  'x-request-id',
  'apim-request-id',
  'x-ds-trace-id',
  'x-generation-id',
  'cf-ray',
] as const;

/**
 * Reads `{error: {...}}` as an HTTP answer, a nested or flat `error` event, a failed response (whole,
 * or inside its event), and what compatible servers send in place of them.
 */
export function readError(input: {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}): ErrorFacts {
  const found = foundIn(input.body);
  const { error, document } = found;
  const code = wordAt(error, 'code') ?? wordAt(document, 'code');
  const type = typeOf(error) ?? typeOf(document);
  return {
    status: input.status ?? statedStatus(found) ?? statusOf(code) ?? statusOf(type),
    code,
    type,
    param: stringAt(error, 'param') ?? stringAt(document, 'param'),
    message: messageOf(found),
    reasons: [stringAt(objectAt(error, 'innererror'), 'code')].filter((word) => word !== null),
    upstreamRequestId: requestIdOf(input.headers),
    isKnownShape: isErrorDocument(input.body),
  };
}

/** A failed response lies inside its event. */
function foundIn(body: unknown): FoundError {
  return findError(objectAt(body, 'response') ?? body);
}

/** The shells' own types say nothing. */
function typeOf(value: unknown): string | null {
  const type = wordAt(value, 'type');
  return type === 'error' || type?.startsWith('response.') === true ? null : type;
}

function requestIdOf(headers: Readonly<Record<string, string>>): string | null {
  for (const name of requestIdHeaders) {
    const id = headers[name];
    if (id !== undefined && id !== '') return id;
  }
  return null;
}

/** Whether `body` is an error in place of an answer. */
export function isErrorDocument(body: unknown): boolean {
  if (Array.isArray(body)) return isErrorDocument(body[0]);
  if (!isJsonObject(body)) return false;
  if (body['type'] === 'error' || body['type'] === 'response.failed') return true;
  if (isFilled(body['error'])) return true;
  if (Array.isArray(body['output'])) return body['status'] === 'failed';
  return typeof body['message'] === 'string' || isFilled(body['detail']);
}

/** Whether the machine words of an `error` event say by themselves what happened. */
export function isTelling(event: unknown): boolean {
  const { code, type } = readError({ status: null, headers: {}, body: event });
  return [code, type].some((word) => word !== null && Object.hasOwn(statusOfWord, word));
}

function statusOf(word: string | null): number | null {
  return word !== null && Object.hasOwn(statusOfWord, word) ? (statusOfWord[word] ?? null) : null;
}

/** What a word inside a 200 would have been as an answer of its own. */
const statusOfWord: { readonly [word: string]: number } = {
  server_error: 500,
  rate_limit_exceeded: 429,
  tokens: 429,
  requests: 429,
  insufficient_quota: 429,
  server_is_overloaded: 503,
  service_unavailable_error: 503,
  slow_down: 429,
  vector_store_timeout: 504,
  invalid_request_error: 400,
  context_length_exceeded: 400,
  invalid_prompt: 400,
  bio_policy: 400,
  misalignment_policy_violation: 400,
  image_content_policy_violation: 400,
  data_residency_mismatch: 403,
  invalid_image: 400,
  invalid_image_format: 400,
  invalid_base64_image: 400,
  invalid_image_url: 400,
  image_too_large: 400,
  image_too_small: 400,
  image_parse_error: 400,
  invalid_image_mode: 400,
  image_file_too_large: 400,
  unsupported_image_media_type: 400,
  empty_image_file: 400,
  failed_to_download_image: 400,
  image_file_not_found: 400,
  invalid_encrypted_content: 400,
};

/** Codes stand in `code` on some servers and in `type` on others: each list is asked of both. */
function rulesFor(
  name: string,
  errorClass: ErrorRule['errorClass'],
  words: readonly string[],
): readonly ErrorRule[] {
  return [
    { name: `openai-responses.${name}`, code: words, errorClass },
    { name: `openai-responses.${name}-type`, type: words, errorClass },
  ];
}

/**
 * Only what machine words say. Sentences and bare statuses are judged after these, by patterns that all
 * dialects share; `rate_limit_exceeded` among them, since capacity, money and a prompt that is too
 * large come under it too.
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
  ]),
  ...rulesFor('context', 'context_length', ['context_length_exceeded', 'string_above_max_length']),
  ...rulesFor('content', 'content_policy', [
    'content_policy_violation',
    'content_filter',
    'bio_policy',
    'misalignment_policy_violation',
    'image_content_policy_violation',
  ]),
  {
    name: 'openai-responses.invalid-prompt',
    code: ['invalid_prompt'],
    message: /flagged|usage polic|policy/i,
    errorClass: 'content_policy',
  },
  {
    name: 'openai-responses.filtered',
    reason: ['ResponsibleAIPolicyViolation'],
    errorClass: 'content_policy',
  },
  ...rulesFor('key', 'auth', ['invalid_api_key', 'ip_not_authorized']),
  {
    name: 'openai-responses.no-access',
    status: [403],
    code: ['model_not_found'],
    errorClass: 'permission',
  },
  ...rulesFor('region', 'permission', [
    'unsupported_country_region_territory',
    'blocked_api_access',
    'data_residency_mismatch',
  ]),
  // 400 here, where chat completions says 404.
  ...rulesFor('model', 'not_found', ['model_not_found', 'DeploymentNotFound', 'unknown_model']),
  ...rulesFor('overload', 'overload', [
    'server_is_overloaded',
    'service_unavailable_error',
    'slow_down',
    'overloaded_error',
  ]),
  ...rulesFor('timeout', 'timeout', ['vector_store_timeout', 'timeout']),
  // Such messages repeat what the client sent, which patterns may find anything in.
  {
    name: 'openai-responses.parameter',
    status: [400],
    code: /^(integer|decimal|array|object)_(above|below)_|^(empty_array|(unknown|missing_required|unsupported)_parameter|unsupported_(value|file)|invalid_(value|type|json_schema|function_parameters|image\w*|encrypted_content))$/,
    errorClass: 'invalid_request',
  },
];

function limit(name: string): LimitHeader {
  return {
    remaining: `x-ratelimit-remaining-${name}`,
    reset: `x-ratelimit-reset-${name}`,
    format: 'duration',
  };
}

/** The body tells no delay but in its words, which are read for all dialects. */
export const hints: HintTable = {
  limits: ['requests', 'tokens', 'tokens_usage_based', 'input-images'].map(limit),
  bodyDelay: () => null,
};
