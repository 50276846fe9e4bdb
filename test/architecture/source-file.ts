/** A source file as the checkers see it: its path, its text, its syntax tree and its imports. */
import { type Comment, type Program, parseSync, visitorKeys } from 'oxc-parser';

export type ImportedModule = {
  readonly specifier: string;
  /** What is imported by name; empty for the whole module. */
  readonly names: readonly string[];
  readonly line: number;
};

export type SourceFile = {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly imports: readonly ImportedModule[];
  /** The line (from 1) of an offset in `text`. */
  readonly lineAt: (offset: number) => number;
};

/** A rule that a file breaks: where, and what to do about it. */
export type Violation = { readonly path: string; readonly line: number; readonly advice: string };

/** `path:line: advice`, as an editor opens it. */
export function describeViolation(violation: Violation): string {
  return `${violation.path}:${violation.line}: ${violation.advice}`;
}

/** Any node of the tree, read by name. */
export type SyntaxNode = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [property: string]: unknown;
};

/** Parses `text`; throws on a syntax error, since such a file can be judged by no rule. */
export function parseSource(path: string, text: string): SourceFile {
  const result = parseSync(path, text, { lang: 'ts', sourceType: 'module' });
  const lineAt = lineFinder(text);
  const fault = result.errors[0];
  if (fault !== undefined) {
    const line = lineAt(fault.labels[0]?.start ?? 0);
    throw new Error(`${path}:${line}: ${fault.message}`);
  }
  const program = result.program;
  return {
    path,
    text,
    program,
    comments: result.comments,
    imports: importsOf(program, lineAt),
    lineAt,
  };
}

function lineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}

const importingTypes = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);

/** Static, dynamic, re-exporting and type-only imports alike: each of them is a dependency. */
function importsOf(program: Program, lineAt: (offset: number) => number): ImportedModule[] {
  const found: ImportedModule[] = [];
  walk(program as unknown as SyntaxNode, (node) => {
    if (!importingTypes.has(node.type)) return;
    const source = node['source'] as SyntaxNode | null | undefined;
    const specifier = source?.['value'];
    if (typeof specifier !== 'string') return;
    found.push({ specifier, names: importedNames(node), line: lineAt(node.start) });
  });
  return found;
}

function importedNames(node: SyntaxNode): string[] {
  const specifiers = (node['specifiers'] ?? []) as readonly SyntaxNode[];
  return specifiers.flatMap((specifier) => {
    const name = (specifier['imported'] as SyntaxNode | undefined)?.['name'];
    return typeof name === 'string' ? [name] : [];
  });
}

/** Visits `node` and all below it, parents first. `path` holds the ancestors, the nearest last. */
export function walk(
  node: SyntaxNode,
  visit: (node: SyntaxNode, path: readonly SyntaxNode[]) => void,
  path: readonly SyntaxNode[] = [],
): void {
  visit(node, path);
  const below = [...path, node];
  for (const key of visitorKeys[node.type] ?? []) {
    const child = node[key];
    const children = Array.isArray(child) ? child : [child];
    for (const each of children) if (isNode(each)) walk(each, visit, below);
  }
}

export function programOf(source: SourceFile): SyntaxNode {
  return source.program as unknown as SyntaxNode;
}

/** `text` with every comment blanked, offsets and lines unchanged. */
export function textWithoutComments(source: SourceFile): string {
  let text = source.text;
  for (const comment of source.comments) {
    const blank = text.slice(comment.start, comment.end).replace(/[^\n]/g, ' ');
    text = text.slice(0, comment.start) + blank + text.slice(comment.end);
  }
  return text;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}
