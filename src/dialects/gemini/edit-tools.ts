/** Descriptions of functions that the variant words anew, spliced into a client's own declarations. */
import type { UpstreamCall } from '../dialect.ts';
import { type JsonMember, memberAt, type Splice, scanContainer, stringIn } from '../json-spans.ts';
import { elementsAt, memberNamed } from './part-bytes.ts';

export function describeTools(
  bytes: Buffer,
  tools: JsonMember,
  overrides: UpstreamCall['toolDescriptions'],
): readonly Splice[] {
  if (Object.keys(overrides).length === 0) return [];
  const splices: Splice[] = [];
  for (const tool of elementsAt(bytes, tools.valueStart)) {
    const declared = memberNamed(bytes, tool, 'functionDeclarations');
    if (declared === null) continue;
    for (const declaration of elementsAt(bytes, declared.valueStart)) {
      describe(bytes, declaration, overrides, splices);
    }
  }
  return splices;
}

function describe(
  bytes: Buffer,
  openAt: number,
  overrides: UpstreamCall['toolDescriptions'],
  splices: Splice[],
): void {
  const fields = scanContainer(bytes, openAt);
  const nameMember = memberAt(fields, 'name');
  const name = stringIn(bytes, nameMember);
  if (nameMember === null || name === null || !Object.hasOwn(overrides, name)) return;
  const text = JSON.stringify(overrides[name]);
  const present = memberAt(fields, 'description');
  if (present !== null) splices.push({ start: present.valueStart, end: present.end, text });
  else splices.push({ start: nameMember.end, end: nameMember.end, text: `,"description":${text}` });
}
