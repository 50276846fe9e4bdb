/**
 * JSON that keeps its numbers. Tool arguments pass from a text into an object and back: an id of 20
 * digits or a `1.0` must come out as it went in.
 */
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';

type Reviver = (
  this: unknown,
  key: string,
  value: unknown,
  context: { source?: string },
) => unknown;
type ExactJson = {
  parse: (text: string, reviver: Reviver) => unknown;
  rawJSON: (source: string) => unknown;
  isRawJSON: (value: unknown) => boolean;
};

/** What the language's library declares of `JSON` lags behind what Node 24 has. */
const exactJson = JSON as unknown as ExactJson;

/** A number that JavaScript may write in another way than it was written: long, fractional or with an exponent. */
const riskyNumber = /\d{16}|\d\.\d|\d[eE]|-0/;

/** Parses `text`; a number whose spelling would change is kept as it was spelled. */
export function parseExactJson(text: string): Result<unknown, string> {
  if (!riskyNumber.test(text)) return parseJson(text);
  return parseKeeping(text, (value, source) => String(value) !== source);
}

/** Parses `text`; a number that JavaScript cannot hold (2^53 + 1, 1e400) is kept as it was spelled, any other is a number. */
export function parseLosslessJson(text: string): Result<unknown, string> {
  return parseKeeping(text, isLost);
}

function parseKeeping(
  text: string,
  isKept: (value: number, source: string) => boolean,
): Result<unknown, string> {
  try {
    return success(
      exactJson.parse(text, (_key, value, { source }) =>
        typeof value === 'number' && source !== undefined && isKept(value, source)
          ? exactJson.rawJSON(source)
          : value,
      ),
    );
  } catch {
    // Parsed again without the reviver: its fault is the one to tell, and it nests deeper.
    return parseJson(text);
  }
}

/** Of a fraction only digits are lost that nobody who reads it as a double would see. */
function isLost(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true;
  return Number.isInteger(value) && !Number.isSafeInteger(value) && String(value) !== source;
}

/** Whether `value` stands for a number that was kept as it was spelled. */
export function isKeptNumber(value: unknown): boolean {
  return exactJson.isRawJSON(value);
}

/** `value` as compact JSON, keys in their order. The fault: it nests too deeply to be written. */
export function encodeJson(value: unknown): Result<string, string> {
  try {
    return success(JSON.stringify(value) ?? 'null');
  } catch (error) {
    return fail(error instanceof RangeError ? 'nested too deeply' : 'not representable in JSON');
  }
}

/** The object that a call's argument text stands for; blank text means `{}`. */
export function parseToolArguments(text: string): Result<JsonObject, string> {
  if (text.trim() === '') return success({});
  const parsed = parseExactJson(text);
  if (!parsed.ok) return parsed;
  // A number that kept its spelling is an object, too.
  if (!isJsonObject(parsed.value) || !text.trimStart().startsWith('{')) {
    return fail('not a JSON object');
  }
  return success(parsed.value);
}
