/** No module does work when imported, and none keeps state of its own: the app can be built twice. */
import {
  programOf,
  type SourceFile,
  type SyntaxNode,
  type Violation,
  walk,
} from './source-file.ts';

/** Programs of their own: the process's entry, and the entries of worker threads. */
const entries = /^src\/main\.ts$|^src\/.*-worker\.ts$/;

/** Module state that no decision reads, with the reason. */
const excused: ReadonlyMap<string, string> = new Map([
  ['src/base/ids.ts', 'a pool of random bytes: one system call serves many ids'],
  [
    'src/store/sqlite/drizzle.ts',
    'a require in the place of an import: it loads a package, no more',
  ],
]);

const effectStatements = new Set([
  'ExpressionStatement',
  'IfStatement',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
  'SwitchStatement',
  'TryStatement',
  'ThrowStatement',
  'BlockStatement',
]);

/** Calls that touch the world; a call of anything else at the top level is taken for a pure builder. */
const effectCalls =
  /^(readFileSync|readdirSync|writeFileSync|existsSync|mkdirSync|statSync|createServer|serve|connect|spawn|exec|pino|createRequire)$/;
const effectClasses = /^(Worker|Database|Agent|Pool|Client|Server|CircuitBreaker|AbortController)$/;
/** A WeakMap is left out: what it holds belongs to the object that is its key. */
const stateClasses = /^(Map|Set)$/;

export function checkImportEffects(source: SourceFile): Violation[] {
  if (entries.test(source.path) || excused.has(source.path)) return [];
  const found: Violation[] = [];
  const report = (node: SyntaxNode, advice: string): void => {
    found.push({ path: source.path, line: source.lineAt(node.start), advice });
  };
  for (const statement of programOf(source)['body'] as readonly SyntaxNode[]) {
    if (effectStatements.has(statement.type) && typeof statement['directive'] !== 'string') {
      report(statement, 'work at import: put it into a function that the composition root calls');
      continue;
    }
    const declaration = declarationOf(statement);
    if (declaration === null) continue;
    if (declaration['kind'] !== 'const') {
      report(declaration, 'a mutable global: keep the state in an object that someone builds');
    }
    reportInitializers(declaration, report);
  }
  return found;
}

function declarationOf(statement: SyntaxNode): SyntaxNode | null {
  const inner = statement.type === 'ExportNamedDeclaration' ? statement['declaration'] : statement;
  const node = inner as SyntaxNode | null;
  return node?.type === 'VariableDeclaration' ? node : null;
}

function reportInitializers(
  declaration: SyntaxNode,
  report: (node: SyntaxNode, advice: string) => void,
): void {
  walk(declaration, (node, path) => {
    if (path.some(({ type }) => isFunction(type))) return;
    if (node.type === 'AwaitExpression') {
      report(node, 'waits at import: put it into a function');
    }
    const callee = node['callee'] as SyntaxNode | undefined;
    const name = callee?.type === 'Identifier' ? (callee['name'] as string) : '';
    if (node.type === 'CallExpression' && effectCalls.test(name)) {
      report(node, `${name} at import: call it from a function`);
    }
    if (node.type !== 'NewExpression') return;
    if (effectClasses.test(name)) report(node, `new ${name} at import: build it in a function`);
    const isEmpty = (node['arguments'] as readonly unknown[]).length === 0;
    if (stateClasses.test(name) && isEmpty) {
      report(node, `an empty ${name} at the top level is a mutable global: let someone build it`);
    }
  });
}

function isFunction(type: string): boolean {
  return /Function|ArrowFunction|MethodDefinition|ClassBody/.test(type);
}
