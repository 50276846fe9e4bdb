/** Fields inside a client's body that nobody here knows: another dialect has no place for them, which is told. */
import type { JsonObject } from '../base/json.ts';
import { plainName } from './client-body.ts';
import { saysNothing } from './says-nothing.ts';

/** Names told of one request: they go into a header. */
export const notesMax = 64;

/** Adds to `notes` the names of what `value` holds beside `known`, `path` (`tools.`) before each. */
export function noteUnknown(
  value: JsonObject,
  known: ReadonlySet<string>,
  notes: Set<string>,
  path = '',
): void {
  for (const name of Object.keys(value)) {
    if (known.has(name) || saysNothing(name, value[name])) continue;
    if (notes.size >= notesMax) return;
    notes.add(path + plainName(name));
  }
}

/** `notes`, and behind them the names of unknown fields of the body itself: no more than can be told. */
export function toldNames(
  notes: ReadonlySet<string>,
  fields: readonly string[],
): readonly string[] {
  return [...new Set([...[...notes].slice(0, notesMax), ...fields])].slice(0, notesMax);
}
