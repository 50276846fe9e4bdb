/** proto3 JSON: a field answers to its camelCase and to its snake_case name. */
import { isJsonObject, type JsonObject } from '../../../base/json.ts';

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The value of the field that is called `name` in camelCase; undefined when absent or null. */
export function field(value: unknown, name: string): unknown {
  if (!isJsonObject(value)) return undefined;
  const found = Object.hasOwn(value, name) ? value[name] : value[snakeCase(name)];
  return found === null ? undefined : found;
}

export function fieldObject(value: unknown, name: string): JsonObject | null {
  const found = field(value, name);
  return isJsonObject(found) ? found : null;
}

export function fieldArray(value: unknown, name: string): readonly unknown[] {
  const found = field(value, name);
  return Array.isArray(found) ? found : [];
}

export function fieldString(value: unknown, name: string): string | null {
  const found = field(value, name);
  return typeof found === 'string' ? found : null;
}

/** The first key of `value` that names none of `allowed` (camelCase), or null. */
export function unknownField(value: JsonObject, allowed: ReadonlySet<string>): string | null {
  return Object.keys(value).find((name) => !allowed.has(camelCase(name))) ?? null;
}

export function nameSet(names: string): ReadonlySet<string> {
  return new Set(names.trim().split(/\s+/));
}
