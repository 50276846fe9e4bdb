/** Which class an error answer belongs to, and by which rule: the order of judging. */
import type { ErrorClass } from './attempt-failure.ts';
import type { ErrorFacts, ErrorRule } from './error-rule.ts';
import { exceedsLimitAlone, messagePatterns } from './message-patterns.ts';
import { isHtml } from './unknown-shapes.ts';

export type Evidence = {
  readonly facts: ErrorFacts;
  /** Whether `body` is parsed JSON; otherwise it is the raw text. */
  readonly isJson: boolean;
  readonly body: unknown;
  /** The dialect's rules, read top to bottom. */
  readonly rules: readonly ErrorRule[];
  /** `providers.NAME.rules`: these win. */
  readonly operatorRules: readonly ErrorRule[];
};

export type Verdict = {
  readonly errorClass: ErrorClass;
  readonly rule: string;
  /** Set by an operator's rule. */
  readonly retry: boolean | null;
};

/**
 * The first that holds: an operator's rule, the dialect's rules, machine words and message patterns, the
 * dialect's rules on the status alone, the status. `message` is the provider's, bounded.
 */
export function judge(answer: Evidence, message: string): Verdict {
  const operatorRule = answer.operatorRules.find((rule) => matches(rule, answer.facts, message));
  if (operatorRule !== undefined) {
    const { errorClass, name, retry } = operatorRule;
    return { errorClass, rule: `operator:${name}`, retry: retry ?? null };
  }
  const statusOnly = answer.rules.filter(isOnStatusAlone);
  const named = answer.rules.filter((rule) => !isOnStatusAlone(rule));
  return (
    dialectVerdict(answer, named, message) ??
    patternVerdict(answer, message) ??
    dialectVerdict(answer, statusOnly, message) ??
    statusVerdict(answer)
  );
}

function isOnStatusAlone(rule: ErrorRule): boolean {
  return (
    rule.code === undefined &&
    rule.type === undefined &&
    rule.reason === undefined &&
    rule.message === undefined
  );
}

function dialectVerdict(
  answer: Evidence,
  rules: readonly ErrorRule[],
  message: string,
): Verdict | null {
  const { status } = answer.facts;
  const rule = rules.find(
    (candidate) =>
      matches(candidate, answer.facts, message) && isAllowedRefinement(status, candidate),
  );
  return rule === undefined ? null : { errorClass: rule.errorClass, rule: rule.name, retry: null };
}

function matches(rule: ErrorRule, facts: ErrorFacts, message: string): boolean {
  if (rule.status !== undefined && !rule.status.includes(facts.status ?? 0)) return false;
  if (rule.code !== undefined && !holds(rule.code, facts.code)) return false;
  if (rule.type !== undefined && !holds(rule.type, facts.type)) return false;
  const { reason } = rule;
  if (reason !== undefined && !facts.reasons.some((word) => holds(reason, word))) return false;
  return rule.message === undefined || found(rule.message, message);
}

function holds(condition: readonly string[] | RegExp, word: string | null): boolean {
  if (word === null) return false;
  return condition instanceof RegExp ? found(condition, word) : condition.includes(word);
}

/** `search` ignores the state that a global or sticky pattern would keep between calls. */
function found(pattern: RegExp, text: string): boolean {
  return text.search(pattern) !== -1;
}

const retryableClasses: ReadonlySet<ErrorClass> = new Set([
  'connection',
  'transient_infra',
  'malformed_response',
  'timeout',
  'overload',
  'rate_limit',
  'stream_interrupted',
]);
/** The 4xx that a repeat can cure. */
export const retryableClientStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/**
 * What a 4xx may be refined to by its body: 401 to 404 only to what no retry cures; others (RH-08) to a
 * retryable class only by a rule that names the status, or that says that the model's own output was
 * at fault. 408, 409, 425, 429 and everything else: anything.
 */
function isAllowedRefinement(status: number | null, rule: ErrorRule): boolean {
  if (!retryableClasses.has(rule.errorClass)) return true;
  if (status === null || status < 400 || status > 499) return true;
  if (retryableClientStatuses.has(status)) return true;
  if (status >= 401 && status <= 404) return false;
  return rule.errorClass === 'malformed_response' || (rule.status?.includes(status) ?? false);
}

/**
 * Machine words (a line each, so that no pattern spans two) before sentences; both only where a class
 * can be believed of that status.
 */
function patternVerdict(answer: Evidence, message: string): Verdict | null {
  const { facts } = answer;
  if (!answer.isJson && (isHtml(answer.body) || (facts.status ?? 0) >= 500)) return null;
  const words = [facts.code, facts.type, ...facts.reasons.slice(0, 20)]
    .filter((word) => word !== null)
    .map((word) => word.slice(0, 200).replaceAll(/[_-]/g, ' '));
  for (const [source, text] of [
    ['words', words.join('\n')] as const,
    ['message', message] as const,
  ]) {
    for (const { errorClass, pattern } of messagePatterns) {
      if (!isPlausible(facts.status, errorClass, text) || !found(pattern, text)) continue;
      return { errorClass, rule: `${source}:${errorClass}`, retry: null };
    }
    if (exceedsLimitAlone(text) && isTooLargeStatus(facts.status)) {
      return { errorClass: 'context_length', rule: `${source}:requested_over_limit`, retry: null };
    }
  }
  return null;
}

function isTooLargeStatus(status: number | null): boolean {
  return status === null || status === 429 || status === 400 || status === 413;
}

/** A 429 speaks of limits, a 5xx of the service: their sentences about keys or models are hearsay. */
function isPlausible(status: number | null, errorClass: ErrorClass, text: string): boolean {
  if (status === proxyRefusal) return false;
  if (status === 429) {
    if (errorClass === 'context_length') return exceedsLimitAlone(text);
    return errorClass === 'quota_exhausted' || errorClass === 'overload';
  }
  if (status !== null && status >= 500) {
    return (
      errorClass === 'quota_exhausted' ||
      errorClass === 'overload' ||
      errorClass === 'context_length'
    );
  }
  return isAllowedRefinement(status, { name: '', errorClass });
}

/** A proxy on the way let nothing through: the service was not asked, and no key of ours was judged. */
export const proxyRefusal = 407;

const classOfStatus: { readonly [status: number]: ErrorClass } = {
  401: 'auth',
  402: 'quota_exhausted',
  403: 'permission',
  [proxyRefusal]: 'connection',
  408: 'timeout',
  409: 'transient_infra',
  424: 'transient_infra',
  425: 'transient_infra',
  429: 'rate_limit',
  529: 'overload',
};

/** A page in place of JSON comes from something in front of the provider, which has not judged the request. */
const pageStatuses: ReadonlySet<number> = new Set([401, 402, 403, 404, 413, 422, 429]);

function statusVerdict(answer: Evidence): Verdict {
  const { facts } = answer;
  const { status } = facts;
  if (status === null || status < 300) {
    return facts.isKnownShape
      ? { errorClass: 'transient_infra', rule: 'error_without_status', retry: null }
      : { errorClass: 'malformed_response', rule: 'no_error_document', retry: null };
  }
  if (status < 400) return { errorClass: 'malformed_response', rule: 'redirect', retry: null };
  const known = classOfStatus[status];
  if (known !== undefined) return { errorClass: known, rule: `status:${status}`, retry: null };
  if (status >= 500) return { errorClass: 'transient_infra', rule: 'status:5xx', retry: null };
  const isPage = !answer.isJson && isHtml(answer.body) && !pageStatuses.has(status);
  if (isPage) return { errorClass: 'transient_infra', rule: 'page:4xx', retry: null };
  return { errorClass: 'invalid_request', rule: 'status:4xx', retry: null };
}
