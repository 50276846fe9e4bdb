/** Which folder may use which package: a dependency that one place knows can be replaced there. */
import type { SourceFile, Violation } from './source-file.ts';

type Owner = { readonly packages: RegExp; readonly paths: RegExp; readonly place: string };

export const packageOwners: readonly Owner[] = [
  { packages: /^(hono|@hono\/.*)(\/|$)/, paths: /^src\/http\//, place: 'src/http' },
  {
    packages: /^(better-sqlite3|drizzle-orm)(\/|$)/,
    paths: /^src\/store\//,
    place: 'src/store',
  },
  { packages: /^@redis\/client(\/|$)/, paths: /^src\/store\/redis\//, place: 'src/store/redis' },
  { packages: /^undici(\/|$)/, paths: /^src\/transport\//, place: 'src/transport' },
  {
    packages: /^opossum(\/|$)/,
    paths: /^src\/resilience\/breaker\/opossum-breaker\.ts$/,
    place: 'src/resilience/breaker/opossum-breaker.ts',
  },
  { packages: /^dotprompt(\/|$)/, paths: /^src\/prompts\//, place: 'src/prompts' },
  {
    packages: /^eventsource-parser(\/|$)/,
    paths: /^src\/framing\//,
    place: 'src/framing',
  },
  {
    packages: /^(@smithy|google-auth-library)(\/|$)/,
    paths: /^src\/providers\//,
    place: 'src/providers',
  },
  { packages: /^pino(\/|$)/, paths: /^src\/telemetry\//, place: 'src/telemetry' },
  {
    packages: /^node:(http|https|http2|net|tls)$/,
    paths: /^src\/(transport|http|simulator|cli)\/|^src\/(app|main)\.ts$/,
    place: 'src/transport, src/http, src/simulator or the composition',
  },
];

/** Parts of `node:net` that judge an address and open nothing. */
const addressNames = new Set(['BlockList', 'isIP', 'isIPv4', 'isIPv6', 'SocketAddress']);

/** Imports of a package by a folder that does not own it, or that a clone's `npm ci --omit=dev` lacks. */
export function checkPackages(source: SourceFile, runtimeDependencies: ReadonlySet<string>) {
  const found: Violation[] = [];
  for (const { specifier, names, line } of source.imports) {
    if (specifier.startsWith('.')) continue;
    const isAddressOnly = names.length > 0 && names.every((name) => addressNames.has(name));
    if (specifier === 'node:net' && isAddressOnly) continue;
    const owner = packageOwners.find(({ packages }) => packages.test(specifier));
    if (owner !== undefined && !owner.paths.test(source.path)) {
      const advice = `${specifier} belongs to ${owner.place}: use the port that it implements`;
      found.push({ path: source.path, line, advice });
    }
    if (specifier.startsWith('node:')) continue;
    const name = packageName(specifier);
    if (!runtimeDependencies.has(name)) {
      const advice = `${name} is none of package.json's dependencies: src may use those alone (node's own modules are named node:...)`;
      found.push({ path: source.path, line, advice });
    }
  }
  return found;
}

/** Runtime dependencies that no source imports: each is code that ships, is audited and upgraded for nothing. */
export function unusedDependencies(
  sources: readonly SourceFile[],
  runtimeDependencies: ReadonlySet<string>,
): string[] {
  const used = new Set(
    sources.flatMap(({ imports }) => imports.map(({ specifier }) => packageName(specifier))),
  );
  return [...runtimeDependencies].filter((name) => !used.has(name));
}

function packageName(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}
