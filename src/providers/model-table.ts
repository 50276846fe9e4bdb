/** Looking a model's facts up: dated snapshots and aliases share the row of their model. */
import type { ModelFacts } from './provider.ts';

export type ModelTable = { readonly [model: string]: ModelFacts };

/** Nothing is known: no window, no ceiling, every ability assumed, no prefill. */
export const unknownModel: ModelFacts = {
  contextWindow: null,
  maxOutputTokens: null,
  isReasoningModel: false,
  acceptsPrefill: false,
  supports: {},
};

/** `-20251001`, `-2025-08-07`, `-001`, `-latest`. */
const snapshotSuffix = /-(\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest)$/;

/** The row of `model`, or of the model that it is a snapshot of; null when the table has neither. */
export function factsOf(table: ModelTable, model: string): ModelFacts | null {
  if (Object.hasOwn(table, model)) return table[model] ?? null;
  const family = model.replace(snapshotSuffix, '');
  return Object.hasOwn(table, family) ? (table[family] ?? null) : null;
}
