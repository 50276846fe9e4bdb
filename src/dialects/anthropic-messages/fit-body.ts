/** A body as one service takes it, by its table; whatever the table does not concern leaves as it came. */
import { isJsonObject, parseJson } from '../../base/json.ts';
import type { EncodedCall, UpstreamCall } from '../dialect.ts';
import { FieldEdit } from '../field-edit.ts';
import { applySplices, scanJson } from '../json-spans.ts';
import type { MessagesQuirks } from './messages-quirks.ts';

export function fitBody(
  encoded: EncodedCall,
  { clientHeaders = {} }: UpstreamCall,
  quirks: Pick<MessagesQuirks, 'fixedFields' | 'headerFields' | 'namesModel'>,
): EncodedCall {
  const bytes = Buffer.from(encoded.body);
  const fields = scanJson(bytes);
  if (fields === null) return encoded;
  const edit = new FieldEdit(bytes, fields);
  if (!quirks.namesModel) edit.remove('model');
  for (const [name, value] of Object.entries(quirks.fixedFields)) edit.set(name, value);
  for (const [header, field] of Object.entries(quirks.headerFields)) {
    const words = (clientHeaders[header] ?? '').split(',').map((word) => word.trim());
    const all = new Set([...wordsIn(edit.text(field)), ...words.filter((word) => word !== '')]);
    if (all.size > 0) edit.set(field, [...all]);
  }
  return { ...encoded, body: applySplices(bytes, edit.splices()) };
}

function wordsIn(text: string | null): readonly string[] {
  const parsed = text === null ? null : parseJson(text);
  const value = parsed?.ok ? parsed.value : null;
  if (isJsonObject(value) || !Array.isArray(value)) return [];
  return value.filter((word) => typeof word === 'string');
}
