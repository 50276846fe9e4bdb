/** How long a request may take from its arrival on: what the client asks for, or its SDK's patience (R20). */
import type { Result } from '../base/result.ts';
import { parseWholeNumber } from '../base/whole-number.ts';

/** The larger values overflow a timer and would fire at once. */
const deadlineMsMax = 2 ** 31 - 1;

/**
 * `x-tiergate-deadline-ms`, or `deadline_ms` of the body extension: whole milliseconds in
 * 1..2147483647. The fault names the range and the value.
 */
export function parseDeadlineMs(value: unknown): Result<number, string> {
  return parseWholeNumber(value, { min: 1, max: deadlineMsMax, unit: 'of milliseconds' });
}

type Headers = Readonly<Record<string, string | undefined>>;

/** So that our answer beats the client's own timer. */
const patienceMarginMs = 250;
const patienceHeaders = ['x-stainless-timeout', 'x-server-timeout', 'x-stainless-read-timeout'];

/**
 * How long the client's SDK says that it waits, in ms: the shortest of its timeout headers (seconds;
 * 0 counts as 1). Null where none is readable: an SDK without a timeout sends words.
 */
export function clientPatienceMs(headers: Headers): number | null {
  const patiences = patienceHeaders.flatMap((name) => secondsOf(headers[name]));
  return patiences.length === 0 ? null : Math.min(...patiences) * 1000;
}

function secondsOf(value: string | undefined): readonly number[] {
  if (value === undefined || !/^\d{1,9}(?:\.\d{1,9})?$/.test(value.trim())) return [];
  const seconds = Number(value);
  return [seconds === 0 ? 1 : seconds];
}

/**
 * The length of the request's deadline in ms, from 1, capped by the tier's. `askedMs` is what the
 * client set in our own header or extension; without it a whole reply is due 250 ms before the
 * client's patience ends. A stream's patience bounds its commit instead, and does not count here.
 */
export function deadlineLengthMs(input: {
  readonly askedMs: number | null;
  readonly headers: Headers;
  readonly isStream: boolean;
  readonly tierDeadlineMs: number;
}): number {
  const { tierDeadlineMs } = input;
  if (input.askedMs !== null) return Math.min(input.askedMs, tierDeadlineMs);
  const patienceMs = input.isStream ? null : clientPatienceMs(input.headers);
  if (patienceMs === null) return tierDeadlineMs;
  return Math.min(Math.max(1, patienceMs - patienceMarginMs), tierDeadlineMs);
}
