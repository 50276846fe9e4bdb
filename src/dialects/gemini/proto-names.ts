/** Names of fields: the service reads `camelCase` and `snake_case` alike, and writes the former. */
import type { JsonObject } from '../../base/json.ts';

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The value of `name`, given in camelCase, under either spelling; undefined when absent or null. */
export function fieldAt(value: JsonObject, name: string): unknown {
  return value[spellingIn(value, name)] ?? undefined;
}

/** How `value` spells `name`; `name` itself when it has no such field. */
export function spellingIn(value: JsonObject, name: string): string {
  if (Object.hasOwn(value, name)) return name;
  const other = snakeCase(name);
  return Object.hasOwn(value, other) ? other : name;
}
