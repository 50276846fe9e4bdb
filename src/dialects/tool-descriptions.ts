/** A variant's own words for tools, for dialects whose tools are flat: `{name, description, ...}`. */
import type { UpstreamCall } from './dialect.ts';
import type { FieldEdit } from './field-edit.ts';
import { memberAt, type Splice, scanContainer, stringIn } from './json-spans.ts';

type Descriptions = UpstreamCall['toolDescriptions'];

/** Null: the variant has none for this tool. */
export function ownDescription(descriptions: Descriptions, name: string): string | null {
  return Object.hasOwn(descriptions, name) ? (descriptions[name] ?? null) : null;
}

/** Splices inside the client's `tools`: the rest of each stays as it came. */
export function describeTools(edit: FieldEdit, descriptions: Descriptions): readonly Splice[] {
  const at = edit.member('tools');
  if (at === null || Object.keys(descriptions).length === 0) return [];
  const { bytes } = edit;
  const splices: Splice[] = [];
  for (const element of scanContainer(bytes, at.valueStart)?.members ?? []) {
    const fields = scanContainer(bytes, element.valueStart);
    const nameMember = memberAt(fields, 'name');
    const name = stringIn(bytes, nameMember);
    const description = name === null ? null : ownDescription(descriptions, name);
    if (description === null || nameMember === null) continue;
    const text = JSON.stringify(description);
    const present = memberAt(fields, 'description');
    const { end } = nameMember;
    if (present !== null) splices.push({ start: present.valueStart, end: present.end, text });
    else splices.push({ start: end, end, text: `,"description":${text}` });
  }
  return splices;
}
