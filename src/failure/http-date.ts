/** Dates as HTTP writes them (RFC 9110, 5.6.7) and as APIs do (RFC 3339), read strictly. */

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const weekday = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const weekdayLong = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const month = `(?<month>${months.join('|')})`;
const time = '(?<hour>\\d{2}):(?<minute>\\d{2}):(?<second>\\d{2})';

const forms: readonly RegExp[] = [
  new RegExp(`^${weekday}, (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^${weekdayLong}, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT$`),
  new RegExp(`^${weekday} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/**
 * The instant (Unix epoch, ms) of an HTTP-date in any of its three forms, or null. A two-digit year is
 * the one nearest to `nowWallMs` that is not more than 50 years ahead.
 */
export function parseHttpDate(text: string, nowWallMs: number): number | null {
  for (const form of forms) {
    const groups = form.exec(text)?.groups;
    if (groups !== undefined) return instantOf(groups, nowWallMs);
  }
  return null;
}

type Groups = { readonly [name: string]: string | undefined };

function instantOf(groups: Groups, nowWallMs: number): number | null {
  const day = Number(groups['day']);
  const monthIndex = months.indexOf(groups['month'] ?? '');
  const year = fullYear(groups['year'] ?? '', nowWallMs);
  const [hour, minute, second] = [groups['hour'], groups['minute'], groups['second']].map(Number);
  if (hour === undefined || minute === undefined || second === undefined) return null;
  if (hour > 23 || minute > 59 || second > 60) return null;
  const atMs = Date.UTC(year, monthIndex, day, hour, minute, Math.min(second, 59));
  // 30 February would silently become a day of March.
  return new Date(atMs).getUTCDate() === day ? atMs : null;
}

function fullYear(digits: string, nowWallMs: number): number {
  if (digits.length === 4) return Number(digits);
  const nowYear = new Date(nowWallMs).getUTCFullYear();
  const year = Math.floor(nowYear / 100) * 100 + Number(digits);
  if (year > nowYear + 50) return year - 100;
  return year <= nowYear - 50 ? year + 100 : year;
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** The instant (Unix epoch, ms) of an RFC 3339 date and time, or null. */
export function parseRfc3339(text: string): number | null {
  if (!rfc3339.test(text)) return null;
  const atMs = Date.parse(text.toUpperCase().replace(' ', 'T'));
  return Number.isNaN(atMs) ? null : atMs;
}
