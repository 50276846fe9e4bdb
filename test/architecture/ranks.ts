/** The order of the folders (ARCHITECTURE.md, Ranks) as data, and the check that imports follow it. */
import { posix } from 'node:path';
import type { SourceFile, Violation } from './source-file.ts';

/** Lowest first. A folder imports from lower ranks and from itself, never from its neighbours. */
export const ranks: readonly (readonly string[])[] = [
  ['base'],
  ['chat', 'framing'],
  ['failure'],
  ['dialects', 'resilience', 'transport', 'prompts', 'simulator'],
  ['providers'],
  ['routing'],
  ['engine'],
  ['idempotency', 'guardrails', 'structured-output', 'served-by'],
  ['pipeline'],
  ['store', 'telemetry', 'admin'],
  ['http', 'dashboard'],
  ['rehearsal'],
  ['composition'],
];

/** The last rank: `app.ts`, `env.ts`, `main.ts` and `cli/` put the parts together and may use each other. */
const composition = 'composition';
const compositionFiles = new Set(['app.ts', 'env.ts', 'main.ts']);

/** The name under which a path below `src/` stands in the table. */
export function rankedFolder(path: string): string {
  const [, first = '', ...rest] = path.split('/');
  if (first === 'cli') return composition;
  if (rest.length === 0) return compositionFiles.has(first) ? composition : first;
  return first;
}

function rankOf(folder: string): number {
  return ranks.findIndex((folders) => folders.includes(folder));
}

/** Imports that climb the table, reach a neighbour, or leave `src/`. */
export function checkRanks(source: SourceFile): Violation[] {
  const own = rankedFolder(source.path);
  const ownRank = rankOf(own);
  if (ownRank === -1) {
    const advice = `src/${own} has no rank: add it to test/architecture/ranks.ts with a decision record, or move the file`;
    return [{ path: source.path, line: 1, advice }];
  }
  const found: Violation[] = [];
  for (const { specifier, line } of source.imports) {
    if (!specifier.startsWith('.')) continue;
    const imported = posix.normalize(posix.join(posix.dirname(source.path), specifier));
    const advice = adviceFor({ own, ownRank, imported });
    if (advice !== null) found.push({ path: source.path, line, advice });
  }
  return found;
}

function adviceFor(edge: { own: string; ownRank: number; imported: string }): string | null {
  const { own, ownRank, imported } = edge;
  if (!imported.startsWith('src/')) {
    return `${imported} lies outside src/: the product imports nothing from tests, bench or docs`;
  }
  const folder = rankedFolder(imported);
  const rank = rankOf(folder);
  if (rank === -1) return `${imported} lies in a folder without a rank`;
  if (folder === own || rank < ownRank) return null;
  const relation = rank === ownRank ? 'a neighbour of the same rank' : `a higher rank (${rank})`;
  return `${own} (rank ${ownRank}) imports ${folder}, ${relation}: move the shared part down, or take it as an argument`;
}

/** Hub and spoke: one dialect's folder knows nothing of another's, and no outsider reaches into its tables. */
export function checkDialectPairs(source: SourceFile): Violation[] {
  const own = dialectFolder(source.path);
  if (own === null) return [];
  const found: Violation[] = [];
  for (const { specifier, line } of source.imports) {
    if (!specifier.startsWith('.')) continue;
    const imported = posix.normalize(posix.join(posix.dirname(source.path), specifier));
    const other = dialectFolder(imported);
    if (other === null || other === own) continue;
    const advice = `dialect ${own} imports dialect ${other}: go through the chat model, there are no pairs`;
    found.push({ path: source.path, line, advice });
  }
  return found;
}

/** `openai-chat` for `src/dialects/openai-chat/client.ts`; null for files that lie beside the folders. */
export function dialectFolder(path: string): string | null {
  return /^src\/dialects\/([^/]+)\/[^/]+/.exec(path)?.[1] ?? null;
}
