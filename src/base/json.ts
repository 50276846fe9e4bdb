/** JSON at the border: text that was never trusted in, plain values out. */
import { fail, type Result, success } from './result.ts';

export type JsonObject = { readonly [key: string]: unknown };

/** Parses `text`; the fault says what is wrong and where, and never quotes the text. */
export function parseJson(text: string): Result<unknown, string> {
  try {
    return success(JSON.parse(text));
  } catch (error) {
    return fail(faultOf(error));
  }
}

/** `value` as text; null when it is nested too deeply, or is nothing that JSON can hold. */
export function writeJson(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    // V8 reads any depth, and writes less.
    return null;
  }
}

/** V8 quotes the input in its message; only the position may leave. */
function faultOf(error: unknown): string {
  if (error instanceof RangeError) return 'nested too deeply';
  const message = error instanceof Error ? error.message : '';
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return `not valid JSON at position ${position}`;
  return message.includes('end of JSON') ? 'JSON ends too early' : 'not valid JSON';
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The own property `key` of `value`, or undefined: inherited names such as `__proto__` are not read. */
export function property(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The string at `key`, or null. */
export function stringAt(value: unknown, key: string): string | null {
  const found = property(value, key);
  return typeof found === 'string' ? found : null;
}

/** The finite number at `key`, or null. */
export function numberAt(value: unknown, key: string): number | null {
  const found = property(value, key);
  return typeof found === 'number' && Number.isFinite(found) ? found : null;
}

/** The array at `key`, or an empty one. */
export function arrayAt(value: unknown, key: string): readonly unknown[] {
  const found = property(value, key);
  return Array.isArray(found) ? found : [];
}

/** The object at `key`, or null. */
export function objectAt(value: unknown, key: string): JsonObject | null {
  const found = property(value, key);
  return isJsonObject(found) ? found : null;
}
