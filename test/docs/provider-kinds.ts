/** The table of provider kinds, from their registry. */
import type { ProviderKind } from '../../src/providers/provider-kind.ts';
import { providerKinds } from '../../src/providers/registry.ts';

export function providerKindsTable(): string {
  return [
    '| kind | protocol upstream | base URL | usual variable | own keys |',
    '| --- | --- | --- | --- | --- |',
    ...providerKinds.map(rowOf),
  ].join('\n');
}

function rowOf(kind: ProviderKind): string {
  const own = Object.keys(kind.configShape).map(code);
  const cells = [
    code(kind.name),
    kind.dialect,
    baseUrlOf(kind),
    kind.keyVariable === null ? '' : code(kind.keyVariable),
    own.join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}

function baseUrlOf({ baseUrl, baseUrlOf: fromFields }: ProviderKind): string {
  if (baseUrl !== null) return code(baseUrl);
  return fromFields === undefined ? 'required' : 'from its own keys';
}

/** Which services the default tiers are built on, and what each is asked for. */
export function defaultTargetsTable(): string {
  const tiers = ['fast', 'smart', 'reasoning'] as const;
  const rows = providerKinds.flatMap(({ keyVariable, defaultTargets }) => {
    if (keyVariable === null || defaultTargets === null) return [];
    const models = tiers.map((tier) => code(defaultTargets[tier].model));
    return [`| ${code(keyVariable)} | ${models.join(' | ')} |`];
  });
  return [
    `| variable | ${tiers.map(code).join(' | ')} |`,
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
