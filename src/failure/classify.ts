/** From what befell an attempt to its failure, one class each (R10, R11, R12, R13, R15). */
import type { AttemptFailure, ErrorClass } from './attempt-failure.ts';
import type { ErrorFacts, HintTable } from './error-rule.ts';
import { readHint, readShouldRetry } from './hints.ts';
import { readTokenCounts } from './message-patterns.ts';
import { redact } from './redact.ts';
import { isHtml, type UnknownShapes } from './unknown-shapes.ts';
import { type Evidence, judge, proxyRefusal, retryableClientStatuses } from './verdict.ts';

export type FailedAnswer = Evidence & {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hints: HintTable;
  readonly nowWallMs: number;
  /** The status line's, where it differs from what the error says of itself (an error inside a 200). */
  readonly httpStatus?: number;
  readonly unknownShapes?: UnknownShapes;
};

/** The failure of an attempt that got an error for an answer, with a status or inside a 200. Never throws. */
export function classify(answer: FailedAnswer): AttemptFailure {
  const { facts } = answer;
  if (!facts.isKnownShape) answer.unknownShapes?.count(facts.status, answer.body);
  const verdict = judge(answer, boundedMessage(facts));
  const hintReading = readHint({
    headers: answer.headers,
    body: answer.body,
    message: boundedMessage(facts),
    table: answer.hints,
    status: answer.httpStatus ?? facts.status,
    nowWallMs: answer.nowWallMs,
  });
  return {
    errorClass: verdict.errorClass,
    connection: connectionOf(verdict.errorClass, facts.status),
    status: facts.status,
    code: wordOf(facts.code),
    type: wordOf(facts.type),
    param: wordOf(facts.param),
    message: messageOf(answer),
    hint: hintReading.hint,
    ...(hintReading.odd === 0 ? {} : { oddHints: hintReading.odd }),
    shouldRetry: verdict.retry ?? shouldRetryOf(answer, verdict.errorClass),
    upstreamRequestId: idOf(facts.upstreamRequestId),
    rule: verdict.rule,
    tokens: verdict.errorClass === 'context_length' ? readTokenCounts(boundedMessage(facts)) : null,
  };
}

function connectionOf(errorClass: ErrorClass, status: number | null): AttemptFailure['connection'] {
  if (errorClass !== 'connection') return null;
  return status === proxyRefusal ? 'refused' : 'reset';
}

/** Patterns run on this much of a message; it may be megabytes long. */
const messageCharactersMax = 8_000;

function boundedMessage(facts: ErrorFacts): string {
  return facts.message.slice(0, messageCharactersMax);
}

const wordCharactersMax = 200;

function wordOf(word: string | null): string | null {
  const clean = word === null ? '' : redact(word).slice(0, wordCharactersMax);
  return clean === '' ? null : clean;
}

/** Goes into rows and log lines as it is, so it must look like an id. */
function idOf(id: string | null): string | null {
  return id !== null && /^[\x21-\x7e]{1,200}$/.test(id) ? id : null;
}

/** Classes in which the header can only mean the key or the request that was refused. */
const deafToHeader: ReadonlySet<ErrorClass> = new Set([
  'auth',
  'permission',
  'quota_exhausted',
  'not_found',
  'context_length',
  'content_policy',
]);

/**
 * `x-should-retry`, where it can be believed: no header brings a refused key back (R13), and none
 * forbids another key; `true` makes no plain 4xx retryable (R10).
 */
function shouldRetryOf(answer: FailedAnswer, errorClass: ErrorClass): boolean | null {
  if (deafToHeader.has(errorClass)) return null;
  const asked = readShouldRetry(answer.headers);
  const status = answer.httpStatus ?? answer.facts.status ?? 0;
  const isPlainClientFault = status >= 400 && status < 500 && !retryableClientStatuses.has(status);
  return asked === true && isPlainClientFault ? null : asked;
}

function messageOf(answer: FailedAnswer): string {
  const { facts } = answer;
  const said = isHtml(facts.message) ? '' : redact(facts.message);
  if (said !== '') return said;
  if (facts.status === null) return 'the provider sent an error without a message';
  const kind = !answer.isJson && isHtml(answer.body) ? 'a web page' : 'no message';
  return `the provider answered HTTP ${facts.status} with ${kind}`;
}
