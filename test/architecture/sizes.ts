/** Bounds on the size of a file and of a function. */
import {
  programOf,
  type SourceFile,
  type SyntaxNode,
  type Violation,
  walk,
} from './source-file.ts';

export const fileLinesMax = 400;
/** Cases are tables of named rows, and tables are long. */
export const testFileLinesMax = 500;
export const functionLinesMax = 70;

export function checkFileSize(source: SourceFile): Violation[] {
  const lines = source.text.replace(/\n$/, '').split('\n').length;
  const most = source.path.endsWith('.test.ts') ? testFileLinesMax : fileLinesMax;
  if (lines <= most) return [];
  const advice = `${lines} lines, ${most} at most (300 wanted): a second concept lives here, give it a file of its own`;
  return [{ path: source.path, line: most + 1, advice }];
}

const functionTypes = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);

export function checkFunctionSizes(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  walk(programOf(source), (node, path) => {
    if (!functionTypes.has(node.type)) return;
    const first = source.lineAt(node.start);
    const lines = source.lineAt(node.end) - first + 1;
    if (lines <= functionLinesMax) return;
    const name = functionName(node, path.at(-1));
    const advice = `${name} has ${lines} lines, ${functionLinesMax} at most: name its steps`;
    found.push({ path: source.path, line: first, advice });
  });
  return found;
}

function functionName(node: SyntaxNode, parent: SyntaxNode | undefined): string {
  for (const holder of [node['id'], parent?.['id'], parent?.['key']]) {
    const name = (holder as SyntaxNode | null | undefined)?.['name'];
    if (typeof name === 'string') return name;
  }
  return 'a function';
}
