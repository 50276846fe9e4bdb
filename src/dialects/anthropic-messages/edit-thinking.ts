/** A client's own thinking settings, put in the form that the target's generation of models takes. */
import { arrayAt, isJsonObject, type JsonObject, numberAt, stringAt } from '../../base/json.ts';
import { budgetMin, budgets } from '../claude-thinking.ts';
import { type ModelTraits, traitsOf } from '../claude-traits.ts';
import { parseExactJson } from '../exact-json.ts';
import type { FieldEdit } from '../field-edit.ts';

/** `isThoughtLost`: the call goes on in a tool loop whose thinking is not sent. */
export function editThinking(
  edit: FieldEdit,
  { model, isThoughtLost }: { readonly model: string; readonly isThoughtLost: boolean },
  dropped: Set<string>,
): void {
  const thinking = objectIn(edit, 'thinking');
  const traits = traitsOf(model);
  const type = stringAt(thinking, 'type');
  const isOn = type === 'enabled' || type === 'adaptive';
  if (isOn && traits.isKnown && traits.thinking === 'none') turnOff(edit, dropped);
  else if (type === 'enabled' && !traits.takesBudget) adapt(edit, thinking, dropped);
  else if (type === 'adaptive' && traits.isKnown && traits.thinking === 'budget') {
    if (isThoughtLost) turnOff(edit, dropped);
    else giveBudget(edit, thinking, dropped);
  } else if (type === 'enabled' && isThoughtLost) turnOff(edit, dropped);
  if (traits.isKnown) fitEffort(edit, traits, dropped);
}

function objectIn(edit: FieldEdit, name: string): JsonObject {
  const text = edit.text(name);
  const parsed = text === null ? null : parseExactJson(text);
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : {};
}

function turnOff(edit: FieldEdit, dropped: Set<string>): void {
  edit.remove('thinking');
  dropped.add('thinking');
  const management = objectIn(edit, 'context_management');
  const edits = arrayAt(management, 'edits');
  // Clearing thoughts is refused where there are none.
  const kept = edits.filter((each) => !stringAt(each, 'type')?.startsWith('clear_thinking'));
  if (kept.length === edits.length) return;
  edit.setText('context_management', JSON.stringify({ ...management, edits: kept }));
}

/** A budget that a lowered limit leaves no room for: half of the limit is left for the answer. */
export function fitBudget(edit: FieldEdit, limit: number, dropped: Set<string>): void {
  const thinking = objectIn(edit, 'thinking');
  const budget = numberAt(thinking, 'budget_tokens');
  if (budget === null || budget < limit) return;
  const fitting = Math.floor(limit / 2);
  dropped.add('thinking.budget_tokens');
  if (fitting < budgetMin) turnOff(edit, dropped);
  else edit.setText('thinking', JSON.stringify({ ...thinking, budget_tokens: fitting }));
}

/** The model decides how long it thinks: what the budget meant is told as an effort. */
function adapt(edit: FieldEdit, thinking: JsonObject, dropped: Set<string>): void {
  const budget = numberAt(thinking, 'budget_tokens') ?? 0;
  const { budget_tokens: _, ...rest } = thinking;
  edit.setText('thinking', JSON.stringify({ ...rest, type: 'adaptive' }));
  dropped.add('thinking.budget_tokens');
  const config = objectIn(edit, 'output_config');
  if (stringAt(config, 'effort') !== null) return;
  edit.setText('output_config', JSON.stringify({ ...config, effort: effortOf(budget) }));
}

function effortOf(budget: number): string {
  const named = ['high', 'medium'].find((effort) => budget >= (budgets[effort] ?? 0));
  return named ?? 'low';
}

/** Half of the limit is left for the answer. */
function giveBudget(edit: FieldEdit, thinking: JsonObject, dropped: Set<string>): void {
  const effort = stringAt(objectIn(edit, 'output_config'), 'effort') ?? 'high';
  const limit = Number(edit.text('max_tokens') ?? 0);
  const budget = Math.min(budgets[effort] ?? 0, Math.floor(limit / 2));
  if (!(budget >= budgetMin)) {
    turnOff(edit, dropped);
    return;
  }
  edit.setText('thinking', JSON.stringify({ ...thinking, type: 'enabled', budget_tokens: budget }));
  for (const name of ['temperature', 'top_p', 'top_k']) {
    if (edit.text(name) === null) continue;
    edit.remove(name);
    dropped.add(name);
  }
}

/** Models that are given a budget know no effort, and not every other one knows the extra level. */
function fitEffort(edit: FieldEdit, traits: ModelTraits, dropped: Set<string>): void {
  const { effort, ...config } = objectIn(edit, 'output_config');
  const isAdaptive = traits.thinking === 'adaptive';
  if (effort === undefined || (isAdaptive && (effort !== 'xhigh' || traits.takesExtraEffort))) {
    return;
  }
  dropped.add('output_config.effort');
  const fitting = isAdaptive ? { effort: 'high', ...config } : config;
  if (Object.keys(fitting).length === 0) edit.remove('output_config');
  else edit.setText('output_config', JSON.stringify(fitting));
}
