/** Lengths of time as providers write them: `6m0s`, `34.4s`, `120ms`, `23 seconds`. All in ms. */

const unitMs: { readonly [unit: string]: number } = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ns: 1e-6,
};

const number = '\\d{1,15}(?:\\.\\d{1,15})?';
/** Two-letter units first: the m of `120ms` is no minute. */
const goPart = `(?:${number})(?:ms|us|µs|μs|ns|h|m|s)`;
const goDuration = new RegExp(`^(?:${goPart}){1,8}$`);
const goParts = new RegExp(`(${number})(ms|us|µs|μs|ns|h|m|s)`, 'g');

/** A Go duration (`1h2m3.5s`), which a protobuf duration (`34.4s`) also is; null for anything else. */
export function parseGoDuration(text: string): number | null {
  if (text.length > 100 || !goDuration.test(text)) return null;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(goParts)) {
    totalMs += Number(amount) * (unitMs[unit ?? ''] ?? Number.NaN);
  }
  // Nanoseconds are not worth their rounding errors.
  return Number.isNaN(totalMs) ? null : Math.round(totalMs * 1e6) / 1e6;
}

/** A plain decimal number without sign or exponent, at most 2^53 - 1; null for anything else. */
export function parseDecimal(text: string): number | null {
  if (!/^\d{1,1000}(?:\.\d{1,1000})?$/.test(text)) return null;
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}

const wordUnitsMs: { readonly [letter: string]: number } = {
  h: unitMs['h'] ?? 0,
  m: unitMs['m'] ?? 0,
  s: unitMs['s'] ?? 0,
  d: 86_400_000,
};

const announcement =
  '(?:try again|retry(?: again| your request)?|wait)(?: in| after| for)?(?: about| at least)? ~?';
const compactWait = new RegExp(`\\b${announcement}((?:${goPart}){1,8})(?![a-zµμ\\d])`, 'i');
const wordyWait = new RegExp(
  `\\b${announcement}(${number}) ?(milliseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?)\\b`,
  'i',
);

/** The wait that a message for humans announces ("try again in 6m0s", "wait 23 seconds"), or null. */
export function findWait(message: string): number | null {
  const compact = compactWait.exec(message)?.[1];
  if (compact !== undefined) return parseGoDuration(compact.toLowerCase());
  const wordy = wordyWait.exec(message);
  if (wordy === null) return null;
  const unit = (wordy[2] ?? '').toLowerCase();
  const factorMs = unit.startsWith('milli') ? 1 : wordUnitsMs[unit.charAt(0)];
  return factorMs === undefined ? null : Number(wordy[1]) * factorMs;
}
