/** Names of fields: the service reads `camelCase` and `snake_case` alike, and writes the former. */
import type { JsonObject } from '../../base/json.ts';

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Those that are looked up in every part, where making one anew each time would show. */
const frequentNames: ReadonlyMap<string, string> = new Map(
  [
    'text',
    'role',
    'parts',
    'thought',
    'inlineData',
    'fileData',
    'functionCall',
    'functionResponse',
    'thoughtSignature',
    'mimeType',
    'data',
    'name',
    'args',
    'id',
    'response',
  ].map((name) => [name, snakeCase(name)] as const),
);

/** The value of `name`, given in camelCase, under either spelling; undefined when absent or null. */
export function fieldAt(value: JsonObject, name: string): unknown {
  return value[spellingIn(value, name)] ?? undefined;
}

/** How `value` spells `name`; `name` itself when it has no such field. */
export function spellingIn(value: JsonObject, name: string): string {
  if (Object.hasOwn(value, name)) return name;
  const other = frequentNames.get(name) ?? snakeCase(name);
  return Object.hasOwn(value, other) ? other : name;
}
