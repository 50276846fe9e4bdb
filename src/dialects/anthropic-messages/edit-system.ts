/** The variant's system text around the client's own blocks, which stay as they are, with their cache marks. */
import type { SystemSplice } from '../dialect.ts';
import type { FieldEdit } from '../field-edit.ts';
import { type Splice, scanContainer, stringIn } from '../json-spans.ts';

/** Splices inside the client's list of blocks; any other form of the field is set in `edit`. */
export function editSystem(
  edit: FieldEdit,
  splice: SystemSplice | null,
  instruction: string | null,
): readonly Splice[] {
  const before = blocksOf(splice?.before ?? null);
  const after = [...blocksOf(splice?.after ?? null), ...blocksOf(instruction)];
  if (before.length + after.length === 0) return [];
  const { bytes } = edit;
  const member = edit.member('system');
  const text = stringIn(bytes, member);
  const list = member === null ? null : scanContainer(bytes, member.valueStart);
  const [first] = list?.members ?? [];
  const last = list?.members.at(-1);
  if (first !== undefined && last !== undefined) {
    return [
      { start: first.start, end: first.start, text: before.map((block) => `${block},`).join('') },
      { start: last.end, end: last.end, text: after.map((block) => `,${block}`).join('') },
    ];
  }
  const isFilled = text !== null && text.trim() !== '' && member !== null;
  const written = isFilled ? bytes.toString('utf8', member.valueStart, member.end) : '';
  const own = isFilled ? [`{"type":"text","text":${written}}`] : [];
  edit.setText('system', `[${[...before, ...own, ...after].join(',')}]`);
  return [];
}

/** In JSON. The service refuses blank text. */
function blocksOf(text: string | null): readonly string[] {
  return text === null || text.trim() === '' ? [] : [JSON.stringify({ type: 'text', text })];
}
