/** Overrides as text, so that a drain survives a restart. */
import { isJsonObject, type JsonObject, numberAt, parseJson, stringAt } from '../base/json.ts';
import type { OverrideTable } from '../engine/override-table.ts';

/** Every override that stands, by target id. */
export function overridesText(overrides: OverrideTable): string {
  const entries = overrides
    .entries()
    .map(([target, { state, untilMs, note }]) => [target, { state, until_ms: untilMs, note }]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** Puts back what `overridesText` wrote; what is over or cannot be read is left out. Returns how many stand. */
export function restoreOverrides(
  overrides: OverrideTable,
  text: string | null,
  nowWallMs: number,
): number {
  const parsed = parseJson(text ?? '{}');
  if (!parsed.ok || !isJsonObject(parsed.value)) return 0;
  for (const [target, entry] of Object.entries(parsed.value)) restore(overrides, target, entry);
  const targets = overrides.entries().map(([target]) => target);
  return targets.filter((target) => overrides.get(target, nowWallMs) !== null).length;
}

function restore(overrides: OverrideTable, target: string, entry: unknown): void {
  const state = isJsonObject(entry) ? stateOf(entry) : null;
  if (state === null) return;
  overrides.set(target, state, {
    untilMs: numberAt(entry, 'until_ms'),
    note: stringAt(entry, 'note'),
  });
}

function stateOf(entry: JsonObject): 'drained' | 'forced' | null {
  const state = stringAt(entry, 'state');
  return state === 'drained' || state === 'forced' ? state : null;
}
