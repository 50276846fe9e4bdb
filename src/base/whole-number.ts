/** Whole numbers that somebody wrote, as text or as JSON, and the sentence that says what is wrong. */
import { fail, type Result, success } from './result.ts';

const shownMax = 48;

/** `max` null: any number is as good as the largest. `unit`: `of milliseconds`. */
export type WholeNumberRange = {
  readonly min: number;
  readonly max: number | null;
  readonly unit?: string;
};

/** Plain decimal digits, or a JSON number without a fraction; the fault tells the range and the value. */
export function parseWholeNumber(value: unknown, range: WholeNumberRange): Result<number, string> {
  const number = wholeNumberOf(value);
  const { min, max, unit } = range;
  if (number !== null && number >= min && (max === null || number <= max)) return success(number);
  const kind = `a whole number${unit === undefined ? '' : ` ${unit}`}`;
  const upTo = max === null ? `` : ` to ${max}`;
  return fail(`must be ${kind} from ${min}${upTo}, not ${shown(value)}`);
}

function wholeNumberOf(value: unknown): number | null {
  if (typeof value === 'string') return /^\d+$/.test(value) ? Number(value) : null;
  return typeof value === 'number' && Number.isInteger(value) ? value : null;
}

/** As JSON, so that blanks and an empty text are seen; cut where it is long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= shownMax ? text : `${text.slice(0, shownMax).toWellFormed()}...`;
}
