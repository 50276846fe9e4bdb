/** What is carried from which protocol to which, tried on the code that decides it: one table a client dialect. */
import { upstreamDialects } from '../../src/dialects/registry.ts';
import { carry, carryingWords, clientFeatures } from '../support/translation/carrying.ts';

export function translationTables(): string {
  return Object.keys(clientFeatures).map(tableFrom).join('\n\n');
}

function tableFrom(client: string): string {
  const others = [...upstreamDialects.values()].filter(({ name }) => name !== client);
  const heads = others.map(({ name }) => `to ${name}`).join(' | ');
  const rows = (clientFeatures[client]?.groups ?? []).flatMap(({ title, features }) => [
    `| **${title}** |${' |'.repeat(others.length)}`,
    ...features.map((feature) => {
      const cells = others.map((upstream) => {
        const [older, newer] = (['older', 'newer'] as const).map((age) =>
          carryingWords(carry(client, feature, { upstream, age })),
        );
        return older === newer ? older : `${newer}; on older models ${older}`;
      });
      return `| ${feature.name} | ${cells.join(' | ')} |`;
    }),
  ]);
  return [
    `### From ${client}`,
    '',
    `| | ${heads} |`,
    `| --- |${' --- |'.repeat(others.length)}`,
    ...rows,
  ].join('\n');
}
