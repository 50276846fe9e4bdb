/** When a provider says to come back: every source and format of a hint, read defensively (R06, R07). */
import type { Hint } from './attempt-failure.ts';
import type { HintTable, LimitHeader } from './error-rule.ts';
import { parseHttpDate, parseRfc3339 } from './http-date.ts';
import { findWait, parseDecimal, parseGoDuration } from './wait-text.ts';

export type HintReading = {
  readonly hint: Hint | null;
  /** Values that no rule can read, or that nobody can mean. */
  readonly odd: number;
};

type Headers = Readonly<Record<string, string>>;

/** Longer waits are believed as "not now": the hint is cut to this, and the value counts as odd. */
export const hintMsMax = 24 * 3_600_000;

/**
 * The hint of a failed answer. Headers beat the body, the body beats the message; among headers the
 * longest counts, and a limit's reset only where nothing of the limit is left. Headers of a 2xx speak
 * of the next request and are not read. `status` is the HTTP status, null without an answer of its own.
 */
export function readHint(answer: {
  readonly headers: Headers;
  /** Parsed JSON, or the raw text. */
  readonly body: unknown;
  readonly message: string;
  readonly table: HintTable;
  readonly status: number | null;
  readonly nowWallMs: number;
}): HintReading {
  const isFailedAnswer = answer.status !== null && (answer.status < 200 || answer.status > 299);
  const sources = [
    isFailedAnswer ? headerWaits(answer) : [],
    bodyWaits(answer),
    messageWaits(answer.message),
  ];
  let odd = 0;
  for (const waits of sources) {
    odd += waits.filter(({ ms }) => ms === null || ms > hintMsMax).length;
    const hint = longest(waits);
    if (hint !== null) return { hint, odd };
  }
  return { hint: null, odd };
}

/** What one source said: `ms` null = it said something that cannot be read. */
type Wait = { readonly source: string; readonly ms: number | null };

function longest(waits: readonly Wait[]): Hint | null {
  let best: Hint | null = null;
  for (const { source, ms } of waits) {
    if (ms === null || (best !== null && ms <= best.waitMs)) continue;
    best = { waitMs: Math.min(ms, hintMsMax), source };
  }
  return best;
}

function headerWaits(answer: {
  readonly headers: Headers;
  readonly table: HintTable;
  readonly nowWallMs: number;
}): Wait[] {
  const { headers, nowWallMs } = answer;
  const waits: Wait[] = [];
  for (const source of ['retry-after-ms', 'x-amz-retry-after']) {
    const value = headers[source];
    if (value !== undefined) waits.push({ source, ms: largestOf(value, parseDecimal) });
  }
  const retryAfter = headers['retry-after'];
  if (retryAfter !== undefined) {
    const ms = parseRetryAfter(retryAfter, nowWallMs, headers['date']);
    waits.push({ source: 'retry-after', ms });
  }
  const answeredAtMs = answeredAt(headers['date'], nowWallMs);
  for (const limit of answer.table.limits) waits.push(...limitWaits(headers, limit, answeredAtMs));
  return waits;
}

/** Only a limit of which nothing is left says when to come back; the others reset all the time. */
function limitWaits(headers: Headers, limit: LimitHeader, answeredAtMs: number): readonly Wait[] {
  const value = headers[limit.reset];
  const remaining = headers[limit.remaining];
  if (value === undefined || remaining === undefined) return [];
  if (parseDecimal(remaining.trim()) !== 0) return [];
  return [{ source: limit.reset, ms: resetMs(value.trim(), answeredAtMs) }];
}

const epochSecondsMin = 1e9;
const epochMsMin = 1e12;

/**
 * A number (seconds, or an epoch where it is too large for a wait), a duration, or a date: the shapes
 * do not overlap, so that a reset is read whatever the gateway in front of a provider made of it.
 */
function resetMs(value: string, answeredAtMs: number): number | null {
  const amount = parseDecimal(value);
  if (amount !== null) {
    if (amount >= epochMsMin) return Math.max(0, amount - answeredAtMs);
    if (amount >= epochSecondsMin) return Math.max(0, amount * 1000 - answeredAtMs);
    return amount * 1000;
  }
  const instantMs = parseRfc3339(value);
  return instantMs === null ? parseGoDuration(value) : Math.max(0, instantMs - answeredAtMs);
}

function bodyWaits(answer: { readonly body: unknown; readonly table: HintTable }): readonly Wait[] {
  const text = answer.table.bodyDelay(answer.body);
  if (text === null) return [];
  const seconds = parseDecimal(text);
  return [{ source: 'body', ms: seconds === null ? parseGoDuration(text) : seconds * 1000 }];
}

function messageWaits(message: string): readonly Wait[] {
  const ms = findWait(message);
  return ms === null ? [] : [{ source: 'message', ms }];
}

/**
 * `Retry-After` in ms, >= 0: whole or decimal seconds, or an HTTP-date counted from the response's own
 * `Date` (its clock and ours may differ), 0 when it has passed. Of several values the largest readable
 * one. Null for anything else: signs, exponents, units, other date forms.
 */
export function parseRetryAfter(
  value: string,
  nowWallMs: number,
  dateHeader: string | undefined,
): number | null {
  const answeredAtMs = answeredAt(dateHeader, nowWallMs);
  return largestOf(value, (part) => {
    const seconds = parseDecimal(part);
    if (seconds !== null) return seconds * 1000;
    const atMs = parseHttpDate(part, answeredAtMs);
    return atMs === null ? null : Math.max(0, atMs - answeredAtMs);
  });
}

function answeredAt(dateHeader: string | undefined, nowWallMs: number): number {
  if (dateHeader === undefined) return nowWallMs;
  return parseHttpDate(dateHeader.trim(), nowWallMs) ?? nowWallMs;
}

const headerCharactersMax = 2_000;

/** The largest readable one of a header's values: repeated headers arrive joined by a comma and a blank. */
function largestOf(value: string, parse: (part: string) => number | null): number | null {
  if (value.length > headerCharactersMax) return null;
  let largest: number | null = null;
  for (const part of partsOf(value)) {
    const ms = parse(part);
    if (ms !== null && (largest === null || ms > largest)) largest = ms;
  }
  return largest;
}

/** A date holds a comma and a blank of its own, after its weekday. */
function partsOf(value: string): readonly string[] {
  return value.trim().split(/(?<!day|Mon|Tue|Wed|Thu|Fri|Sat|Sun), /);
}

/** `x-should-retry`: whether the provider's own rules say that the same request can help; else null. */
export function readShouldRetry(headers: Headers): boolean | null {
  switch (headers['x-should-retry']?.trim().toLowerCase()) {
    case 'true':
      return true;
    case 'false':
      return false;
    default:
      return null;
  }
}
