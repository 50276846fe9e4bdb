/** A section for every kind of provider: how it is asked, and what it is known to do differently. */
import type { ProviderKind } from '../../src/providers/provider-kind.ts';
import { providerKinds } from '../../src/providers/registry.ts';
import { type QuirkRow, quirkRows } from './provider-quirks.ts';

export function providerSections(): string {
  return providerKinds.map(sectionOf).join('\n\n');
}

function sectionOf(kind: ProviderKind): string {
  const rows = [...askingRows(kind), ...quirkRows(kind.differences), ...modelRows(kind)];
  const subjects = Map.groupBy(
    rows.filter((row) => row !== null && row[1] !== ''),
    (row) => row?.[0],
  );
  const told = [...subjects].map(
    ([subject, all]) => `| ${subject} | ${all.map((row) => row?.[1]).join('; ')} |`,
  );
  return [`## ${kind.name}`, '', '| | |', '| --- | --- |', ...told].join('\n');
}

function askingRows(kind: ProviderKind): readonly QuirkRow[] {
  const own = Object.keys(kind.configShape);
  const fixed = Object.entries(kind.fixedHeaders).map(([name, value]) => `${name}: ${value}`);
  return [
    ['protocol', code(kind.dialect)],
    ['base URL', urlOf(kind)],
    ['credential', credentialOf(kind)],
    own.length === 0 ? null : ['own keys of its entry', own.map(code).join(', ')],
    fixed.length === 0 ? null : ['sent with every request', fixed.map(code).join(', ')],
    kind.passedHeaders.length === 0
      ? null
      : ['headers of its own clients that go on', kind.passedHeaders.map(code).join(', ')],
    kind.takesIdempotencyKey ? ['`idempotency-key`', 'sent, the same over all retries'] : null,
    kind.deadlineHeader === undefined
      ? null
      : ['told how long a whole reply is waited for', code(kind.deadlineHeader)],
  ];
}

function urlOf({ baseUrl, baseUrlOf }: ProviderKind): string {
  if (baseUrl !== null) return code(baseUrl);
  return baseUrlOf === undefined ? 'required' : 'from its own keys';
}

function credentialOf(kind: ProviderKind): string {
  const header = ({ authHeader, authValue }: Pick<ProviderKind, 'authHeader' | 'authValue'>) =>
    code(`${authHeader}: ${authValue('KEY')}`);
  const choices = [header(kind)];
  if (kind.authOf !== undefined) {
    choices.push(`with \`auth: bearer\` ${header(kind.authOf({ auth: 'bearer' }))}`);
  }
  if (kind.proofOf !== undefined) choices.push('with a token made from what KEY is');
  if (kind.credentialsOf !== undefined) choices.push("from the entry's own keys");
  const variable = kind.keyVariable === null ? '' : `; usually in ${code(kind.keyVariable)}`;
  return `${choices.join(', or ')}${kind.isKeyRequired ? '' : '; may be absent'}${variable}`;
}

/** Of a model that no table knows. */
function modelRows({ modelFacts }: ProviderKind): readonly QuirkRow[] {
  const { supports, acceptsPrefill } = modelFacts('');
  const lacking = Object.keys(supports).filter((ability) => supports[ability] === false);
  return [
    lacking.length === 0
      ? null
      : ['what models lack unless known otherwise', lacking.map(code).join(', ')],
    acceptsPrefill ? ['a last turn of the assistant', 'gone on with, by every model'] : null,
  ];
}

function code(text: string): string {
  return `\`${text}\``;
}
