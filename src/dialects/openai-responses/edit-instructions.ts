/** The variant's system text around the client's own: its instructions, and system items that the input begins with. */
import { isJsonObject } from '../../base/json.ts';
import type { UpstreamCall } from '../dialect.ts';
import type { FieldEdit } from '../field-edit.ts';
import { type Splice, scanContainer, stringIn } from '../json-spans.ts';
import { systemItem } from './encode-messages.ts';

/** Splices inside the input; what belongs into `instructions` is set in `edit`. */
export function editInstructions(
  edit: FieldEdit,
  { system, request }: UpstreamCall,
): readonly Splice[] {
  if (system === null) return [];
  const { input } = request.original.json;
  const items: readonly unknown[] = Array.isArray(input) ? input : [];
  const found = items.findIndex((item) => !isSystem(item));
  const leading = found === -1 ? items.length : found;
  const after = leading === 0 ? system.after : '';
  setAround(edit, system.before, after);
  return leading === 0 || system.after === '' ? [] : behindItems(edit, leading, system.after);
}

function isSystem(item: unknown): boolean {
  if (!isJsonObject(item) || (item['type'] ?? 'message') !== 'message') return false;
  return item['role'] === 'system' || item['role'] === 'developer';
}

/** The client's own text stays as it was written. */
function setAround(edit: FieldEdit, before: string, after: string): void {
  if (before === '' && after === '') return;
  const text = edit.text('instructions');
  const isText = stringIn(edit.bytes, edit.member('instructions')) !== null;
  const own = text !== null && isText ? text.slice(1, -1) : '';
  const pieces = [escaped(before), own, escaped(after)].filter((piece) => piece.trim() !== '');
  edit.setText('instructions', `"${pieces.join('\\n\\n')}"`);
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function behindItems(edit: FieldEdit, count: number, text: string): readonly Splice[] {
  const input = edit.member('input');
  if (input === null) return [];
  const last = scanContainer(edit.bytes, input.valueStart, count)?.members.at(-1);
  if (last === undefined) return [];
  return [{ start: last.end, end: last.end, text: `,${JSON.stringify(systemItem(text))}` }];
}
