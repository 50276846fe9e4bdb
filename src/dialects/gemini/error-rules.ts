/** Errors of this dialect: how a document is read, which class it means, and when it says to come back. */
import { arrayAt, isJsonObject, numberAt, objectAt, property, stringAt } from '../../base/json.ts';
import type { ErrorFacts, ErrorRule, HintTable } from '../../failure/error-rule.ts';

/** Characters of a document that is no JSON which are worth matching against. */
const textCharactersMax = 2000;
const reasonsMax = 32;

/** What a refused prompt is told as: the service itself calls it a success. */
const promptBlocked = 'prompt_blocked';

/**
 * Reads `{error: {code, message, status, details}}`, the same in an array, and an answer that holds
 * nothing but why the prompt was refused. `reasons`: the status word, ErrorInfo reasons, quota ids.
 */
export function readError(input: {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}): ErrorFacts {
  const document = unwrapped(input.body);
  const blocked = blockedPrompt(document);
  if (blocked !== null) return blocked;
  const error = objectAt(document, 'error');
  const details = arrayAt(error, 'details');
  const message = stringAt(error, 'message') ?? stringAt(document, 'error') ?? textOf(document);
  return {
    status: input.status ?? numberAt(error, 'code'),
    code: details.map((detail) => stringAt(detail, 'reason')).find((each) => each !== null) ?? null,
    type: stringAt(error, 'status'),
    param: fieldAtFault(details) ?? fieldInWords(message),
    message,
    reasons: reasonsOf(error, details),
    upstreamRequestId: input.headers['x-request-id'] ?? null,
    isKnownShape: stringAt(error, 'message') !== null || stringAt(error, 'status') !== null,
  };
}

function unwrapped(body: unknown): unknown {
  return Array.isArray(body) ? (body.find((each) => isJsonObject(each)) ?? null) : body;
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body.slice(0, textCharactersMax) : '';
}

function blockedPrompt(document: unknown): ErrorFacts | null {
  const feedback = objectAt(document, 'promptFeedback');
  const given = property(feedback, 'blockReason');
  if (typeof given !== 'string' && typeof given !== 'number') return null;
  const reason = String(given).slice(0, 80);
  const words = stringAt(feedback, 'blockReasonMessage');
  return {
    status: null,
    code: reason,
    type: promptBlocked,
    param: null,
    message: words ?? `The prompt was blocked (${reason}).`,
    reasons: [reason],
    upstreamRequestId: stringAt(document, 'responseId'),
    isKnownShape: true,
  };
}

function reasonsOf(error: unknown, details: readonly unknown[]): readonly string[] {
  const found = [stringAt(error, 'status')];
  for (const detail of details.slice(0, reasonsMax)) {
    found.push(stringAt(detail, 'reason'));
    for (const violation of arrayAt(detail, 'violations').slice(0, reasonsMax)) {
      found.push(stringAt(violation, 'quotaId'));
    }
  }
  return found.filter((reason) => reason !== null).slice(0, reasonsMax);
}

/** BadRequest details name the field. */
function fieldAtFault(details: readonly unknown[]): string | null {
  for (const detail of details) {
    for (const violation of arrayAt(detail, 'fieldViolations')) {
      const field = stringAt(violation, 'field');
      if (field !== null) return field;
    }
  }
  return null;
}

/** What few models can do is refused without naming the field (recorded of both services, 2025 and 2026). */
function fieldInWords(message: string): string | null {
  const isLogprobs = /^(unable to submit request because )?logprobs is not (enabled|supported)/i;
  return isLogprobs.test(message) ? 'generation_config.response_logprobs' : null;
}

const contextTooLong =
  /input token count.{0,40}exceeds the maximum number of tokens|exceeds the maximum number of tokens allowed/i;
const outOfMoney =
  /prepayment credits are depleted|billing (account )?(is )?(not|disabled|closed)|enable billing|spend(ing)? (cap|limit)/i;

export const rules: readonly ErrorRule[] = [
  { name: 'gemini.prompt-blocked', type: [promptBlocked], errorClass: 'content_policy' },
  {
    name: 'gemini.key',
    reason: ['API_KEY_INVALID', 'API_KEY_EXPIRED', 'ACCESS_TOKEN_EXPIRED', 'CREDENTIALS_MISSING'],
    errorClass: 'auth',
  },
  {
    name: 'gemini.key-words',
    status: [400, 401, 403],
    message: /api key (not valid|expired|not found|was reported as leaked)|reported as leaked/i,
    errorClass: 'auth',
  },
  { name: 'gemini.unauthenticated', type: ['UNAUTHENTICATED'], errorClass: 'auth' },
  // The same words stand for money and for a minute's limit: only the quota's id tells them apart.
  { name: 'gemini.quota-day', reason: /PerDay/i, errorClass: 'quota_exhausted' },
  { name: 'gemini.quota-month', reason: /PerMonth/i, errorClass: 'quota_exhausted' },
  {
    name: 'gemini.quota-none',
    status: [429],
    message: /limit: 0\b/,
    errorClass: 'quota_exhausted',
  },
  { name: 'gemini.quota-minute', reason: /Per(Minute|Second|Hour)/i, errorClass: 'rate_limit' },
  {
    name: 'gemini.capacity',
    reason: ['MODEL_CAPACITY_EXHAUSTED'],
    errorClass: 'overload',
  },
  {
    name: 'gemini.capacity-words',
    message: /no capacity available|model is overloaded|high demand/i,
    errorClass: 'overload',
  },
  {
    name: 'gemini.money',
    status: [400, 402, 403, 429],
    message: outOfMoney,
    errorClass: 'quota_exhausted',
  },
  { name: 'gemini.money-status', status: [402], errorClass: 'quota_exhausted' },
  { name: 'gemini.quota-interactions', code: ['quota_exceeded'], errorClass: 'quota_exhausted' },
  // The shared capacity of the cloud edition, worded unlike a quota of one's own.
  {
    name: 'gemini.shared-capacity',
    status: [429],
    message: /^resource exhausted, please try again later|exceeded the provisioned throughput/i,
    errorClass: 'overload',
  },
  { name: 'gemini.rate-limit', type: ['RESOURCE_EXHAUSTED'], errorClass: 'rate_limit' },
  {
    name: 'gemini.context',
    status: [400, 413],
    message: contextTooLong,
    errorClass: 'context_length',
  },
  {
    name: 'gemini.location',
    type: ['FAILED_PRECONDITION'],
    message: /location is not supported/i,
    errorClass: 'permission',
  },
  { name: 'gemini.permission', type: ['PERMISSION_DENIED'], errorClass: 'permission' },
  { name: 'gemini.not-found', type: ['NOT_FOUND'], errorClass: 'not_found' },
  // We hung up, or something between us and the service did.
  { name: 'gemini.hung-up', status: [499], type: ['CANCELLED'], errorClass: 'connection' },
  { name: 'gemini.cancelled', type: ['CANCELLED'], errorClass: 'connection' },
  { name: 'gemini.deadline', type: ['DEADLINE_EXCEEDED'], errorClass: 'timeout' },
  { name: 'gemini.unavailable', type: ['UNAVAILABLE'], errorClass: 'overload' },
  {
    name: 'gemini.internal',
    type: ['INTERNAL', 'UNKNOWN', 'ABORTED', 'DATA_LOSS'],
    errorClass: 'transient_infra',
  },
  {
    name: 'gemini.invalid',
    type: ['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'OUT_OF_RANGE', 'UNIMPLEMENTED'],
    errorClass: 'invalid_request',
  },
];

export const hints: HintTable = { limits: [], bodyDelay };

/** RetryInfo's delay (`34.4s`, or `{seconds, nanos}`). Beside a quota of a day it is misleadingly short: none. */
function bodyDelay(body: unknown): string | null {
  const error = objectAt(unwrapped(body), 'error');
  const details = arrayAt(error, 'details');
  if (reasonsOf(error, details).some((reason) => /PerDay|PerMonth/i.test(reason))) return null;
  for (const detail of details) {
    const delay = property(detail, 'retryDelay');
    if (typeof delay === 'string') return delay;
    if (!isJsonObject(delay)) continue;
    const seconds = Number(delay['seconds'] ?? 0) + Number(delay['nanos'] ?? 0) / 1e9;
    if (Number.isFinite(seconds) && seconds >= 0) return `${seconds.toFixed(3)}s`;
  }
  return null;
}
