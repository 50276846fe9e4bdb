/** Time, chance and the environment come in as arguments: the calls that read them have one home each. */
import {
  programOf,
  type SourceFile,
  type SyntaxNode,
  type Violation,
  walk,
} from './source-file.ts';

type Ban = {
  /** A global (`setTimeout`) or a member of one (`Date.now`). */
  readonly name: string;
  /** Paths that may use it. */
  readonly home: RegExp;
  readonly advice: string;
};

const base = /^src\/base\//;
const takeClock = 'take a Clock (src/base/clock.ts) as an argument';

export const bans: readonly Ban[] = [
  { name: 'Date.now', home: base, advice: takeClock },
  { name: 'performance.now', home: base, advice: takeClock },
  { name: 'process.hrtime', home: base, advice: takeClock },
  { name: 'setTimeout', home: base, advice: `${takeClock} and schedule on it` },
  { name: 'setInterval', home: base, advice: `${takeClock} and schedule on it` },
  {
    name: 'AbortSignal.timeout',
    home: base,
    advice: `no fake timer moves it: ${takeClock} and abort an AbortController`,
  },
  {
    name: 'Math.random',
    home: base,
    advice: 'take a Random (src/base/random.ts) as an argument',
  },
  {
    name: 'process.env',
    home: /^src\/env\.ts$/,
    advice: 'src/env.ts alone reads the environment: take the value as an argument',
  },
  {
    name: 'fetch',
    home: /^src\/cli\//,
    advice: 'only src/transport opens sockets upstream: take a Transport as an argument',
  },
];

const bannedModules = new Map([
  ['node:timers', `${takeClock} and schedule on it`],
  ['node:timers/promises', 'sleep on a Clock (src/base/clock.ts)'],
  ['node:perf_hooks', takeClock],
]);

export function checkBannedCalls(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  const report = (offset: number, advice: string): void => {
    found.push({ path: source.path, line: source.lineAt(offset), advice });
  };
  walk(programOf(source), (node, path) => {
    const used = usedGlobal(node, path);
    const ban = bans.find(({ name }) => name === used);
    if (ban !== undefined && !ban.home.test(source.path)) {
      report(node.start, `${ban.name}: ${ban.advice}`);
    }
    if (isBareDate(node) && !base.test(source.path)) {
      report(node.start, `new Date() reads the wall clock: ${takeClock}`);
    }
  });
  for (const { specifier, line } of source.imports) {
    const advice = bannedModules.get(specifier);
    if (advice === undefined || base.test(source.path)) continue;
    found.push({ path: source.path, line, advice: `${specifier}: ${advice}` });
  }
  found.push(...checkNamedProcessImports(source), ...checkDrizzleImports(source));
  return found;
}

/** Its types may come from anywhere; its code is loaded once, in the one way that does not slow a start. */
function checkDrizzleImports(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  if (!source.path.startsWith('src/')) return found;
  walk(programOf(source), (node) => {
    if (node.type !== 'ImportDeclaration' || node['importKind'] === 'type') return;
    const module = String((node['source'] as SyntaxNode)['value']);
    if (!/^drizzle-orm(\/|$)/.test(module)) return;
    const advice = `${module}: take it from src/store/sqlite/drizzle.ts, which loads it faster`;
    found.push({ path: source.path, line: source.lineAt(node.start), advice });
  });
  return found;
}

/** `import { env } from 'node:process'` is the environment under another name. */
function checkNamedProcessImports(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  walk(programOf(source), (node) => {
    if (node.type !== 'ImportDeclaration') return;
    const module = (node['source'] as SyntaxNode)['value'];
    if (module !== 'node:process' && module !== 'process') return;
    for (const specifier of node['specifiers'] as readonly SyntaxNode[]) {
      const imported = (specifier['imported'] as SyntaxNode | undefined)?.['name'];
      if (imported !== 'env' && imported !== 'hrtime') continue;
      const ban = bans.find(({ name }) => name === `process.${imported}`);
      if (ban === undefined || ban.home.test(source.path)) continue;
      const line = source.lineAt(specifier.start);
      found.push({ path: source.path, line, advice: `process.${imported}: ${ban.advice}` });
    }
  });
  return found;
}

/** `Date.now` for `Date.now` and `globalThis.Date.now`; `setTimeout` for the bare name where it is read. */
function usedGlobal(node: SyntaxNode, path: readonly SyntaxNode[]): string | null {
  if (node.type === 'MemberExpression') {
    const object = globalName(node['object'] as SyntaxNode);
    const property = propertyName(node);
    if (object === null || property === null) return null;
    return object === 'globalThis' ? property : `${object}.${property}`;
  }
  if (node.type !== 'Identifier') return null;
  return isRead(node, path.at(-1)) ? (node['name'] as string) : null;
}

function globalName(node: SyntaxNode): string | null {
  if (node.type === 'Identifier') return node['name'] as string;
  if (node.type !== 'MemberExpression') return null;
  const object = node['object'] as SyntaxNode;
  return object.type === 'Identifier' && object['name'] === 'globalThis'
    ? propertyName(node)
    : null;
}

function propertyName(member: SyntaxNode): string | null {
  const property = member['property'] as SyntaxNode;
  if (member['computed'] !== true) return (property['name'] as string | undefined) ?? null;
  return typeof property['value'] === 'string' ? property['value'] : null;
}

/** False where a name is only a label: a property's key, a member of something else, a type's field. */
function isRead(node: SyntaxNode, parent: SyntaxNode | undefined): boolean {
  if (parent === undefined) return true;
  if (parent.type === 'MemberExpression') return parent['object'] === node;
  if (parent.type === 'Property' && parent['shorthand'] === true) return true;
  return parent['key'] !== node && parent.type !== 'TSQualifiedName';
}

function isBareDate(node: SyntaxNode): boolean {
  if (node.type !== 'NewExpression') return false;
  const callee = node['callee'] as SyntaxNode;
  const isDate = callee.type === 'Identifier' && callee['name'] === 'Date';
  return isDate && (node['arguments'] as readonly unknown[]).length === 0;
}
