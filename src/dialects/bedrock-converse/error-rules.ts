/** Errors of this dialect: how a document is read, and which class it means. It says nothing of when to come back. */
import { objectAt, stringAt } from '../../base/json.ts';
import type { ErrorFacts, ErrorRule, HintTable } from '../../failure/error-rule.ts';

/** Bytes of a document that is no JSON which are worth matching against. */
const textCharactersMax = 2000;

/**
 * Reads `{message}`, the class of which stands in a header alone; an exception inside a stream, to which
 * its decoder gave its class as `__type`; and `{Output: {__type}}`, as the front end words its own.
 */
export function readError(input: {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}): ErrorFacts {
  const { headers, body } = input;
  const named =
    headers['x-amzn-errortype'] ??
    stringAt(body, '__type') ??
    stringAt(objectAt(body, 'Output'), '__type') ??
    stringAt(body, 'code');
  const type = named === null ? null : classNameOf(named);
  const message = messageIn(body);
  return {
    status: input.status,
    code: null,
    type,
    param: null,
    message: message ?? (typeof body === 'string' ? body.slice(0, textCharactersMax) : ''),
    reasons: [],
    upstreamRequestId: headers['x-amzn-requestid'] ?? null,
    isKnownShape: message !== null || type !== null,
  };
}

function messageIn(body: unknown): string | null {
  const said = stringAt(body, 'message') ?? stringAt(body, 'Message');
  const original = stringAt(body, 'originalMessage');
  if (said === null || original === null || said.includes(original)) return said ?? original;
  return `${said} (${original})`;
}

/**
 * `ThrottlingException` out of `ThrottlingException:http://...`, `com.amazon.coral.service#Throttling...`
 * and, in a stream, `throttlingException`.
 */
function classNameOf(named: string): string {
  const bare = (named.split('#').at(-1) ?? '').split(':')[0]?.trim() ?? '';
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}

const contextTooLong =
  /input is too long|input tokens exceeded|prompt is too long|too many input tokens|input length and `?max_tokens`? exceed|exceeds? the (model's )?(maximum )?context/i;
const noSuchModel =
  /model identifier is invalid|on-demand throughput isn.t supported|invalid model (id|identifier)/i;

const credentialFaults = [
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'ExpiredTokenException',
  'ExpiredToken',
  'InvalidClientTokenId',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'IncompleteSignature',
  'IncompleteSignatureException',
  'RequestExpired',
];

/** What the service answers an exception with where it has not begun a stream. */
const exceptionStatuses: ReadonlyMap<string, number> = new Map([
  ['ValidationException', 400],
  ['AccessDeniedException', 403],
  ['ResourceNotFoundException', 404],
  ['ModelTimeoutException', 408],
  ['ModelErrorException', 424],
  ['ModelStreamErrorException', 424],
  ['ThrottlingException', 429],
  ['ModelNotReadyException', 429],
  ['InternalServerException', 500],
  ['InternalServerError', 500],
  ['ServiceUnavailableException', 503],
]);

/** Of an exception inside a stream, as it names itself; null = unknown. */
export function exceptionStatus(name: string): number | null {
  return exceptionStatuses.get(classNameOf(name)) ?? null;
}

export const rules: readonly ErrorRule[] = [
  {
    name: 'bedrock-converse.per-day',
    type: ['ThrottlingException'],
    message: /per day|daily/i,
    errorClass: 'quota_exhausted',
  },
  {
    name: 'bedrock-converse.throttling',
    type: ['ThrottlingException', 'TooManyRequestsException'],
    errorClass: 'rate_limit',
  },
  {
    name: 'bedrock-converse.quota',
    type: ['ServiceQuotaExceededException'],
    errorClass: 'quota_exhausted',
  },
  {
    name: 'bedrock-converse.not-ready',
    type: ['ModelNotReadyException'],
    errorClass: 'transient_infra',
  },
  {
    name: 'bedrock-converse.model-timeout',
    type: ['ModelTimeoutException'],
    errorClass: 'timeout',
  },
  {
    name: 'bedrock-converse.model-error',
    status: [424],
    type: ['ModelErrorException', 'ModelStreamErrorException'],
    errorClass: 'transient_infra',
  },
  {
    name: 'bedrock-converse.unavailable',
    type: ['ServiceUnavailableException'],
    errorClass: 'overload',
  },
  {
    name: 'bedrock-converse.internal',
    type: ['InternalServerException', 'InternalServerError', 'InternalFailure'],
    errorClass: 'transient_infra',
  },
  { name: 'bedrock-converse.credentials', type: credentialFaults, errorClass: 'auth' },
  // What a signed request with a wrong key gets, and one with a wrong bearer token.
  {
    name: 'bedrock-converse.token',
    status: [401, 403],
    message:
      /security token (included in the request )?is (invalid|expired)|signature (we calculated|expired|not yet)|authentication failed|api key (is )?(not valid|invalid|expired)|bearer token/i,
    errorClass: 'auth',
  },
  {
    name: 'bedrock-converse.permission',
    type: ['AccessDeniedException', 'AccessDenied'],
    errorClass: 'permission',
  },
  {
    name: 'bedrock-converse.not-found',
    type: ['ResourceNotFoundException', 'UnknownOperationException'],
    errorClass: 'not_found',
  },
  {
    name: 'bedrock-converse.context',
    status: [400, 413],
    message: contextTooLong,
    errorClass: 'context_length',
  },
  {
    name: 'bedrock-converse.no-such-model',
    status: [400],
    message: noSuchModel,
    errorClass: 'not_found',
  },
  {
    name: 'bedrock-converse.conflict',
    type: ['ConflictException'],
    errorClass: 'invalid_request',
  },
  // Where a model's own words say more, the patterns of all vendors have read them before.
];

export const hints: HintTable = { limits: [], bodyDelay: () => null };
