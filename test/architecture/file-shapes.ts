/** Names of files, what a file exports, and which files a folder must hold. */
import { dialectFolder } from './ranks.ts';
import {
  programOf,
  type SourceFile,
  type SyntaxNode,
  type Violation,
  walk,
} from './source-file.ts';

const bannedNames = /^(utils?|helpers?|types?|commons?|misc|shared|index|interfaces?|constants?)$/;
const bannedSuffixes = /(^|-)(utils?|helpers?|manager|service|handler)$/;

/** One file, one concept, named after it. */
export function checkFileName(path: string): Violation[] {
  const found: Violation[] = [];
  const report = (advice: string): void => {
    found.push({ path, line: 1, advice });
  };
  const parts = path.split('/');
  const file = parts.at(-1) ?? '';
  const stem = file.replace(/(\.test)?\.ts$/, '');
  if (!/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(stem)) {
    report('name the file in lower-case words joined by hyphens');
  }
  for (const part of [...parts.slice(0, -1), stem]) {
    if (!bannedNames.test(part) && !bannedSuffixes.test(part)) continue;
    report(`"${part}" says nothing of what lies in it: name it after its main export`);
  }
  return found;
}

/** No default exports, no barrels (a module that only passes on what others export). */
export function checkExports(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  const report = (node: SyntaxNode, advice: string): void => {
    found.push({ path: source.path, line: source.lineAt(node.start), advice });
  };
  const body = programOf(source)['body'] as readonly SyntaxNode[];
  for (const node of body) {
    if (node.type === 'ExportDefaultDeclaration') report(node, 'export it under a name');
    if (node.type === 'ExportAllDeclaration') {
      report(node, 'a barrel: import from the file that defines the name');
    }
    const isReExport = node.type === 'ExportNamedDeclaration' && node['source'] !== null;
    if (isReExport) report(node, 'a re-export: import from the file that defines the name');
  }
  return found;
}

const oddSyntax: { readonly [nodeType: string]: string } = {
  TSEnumDeclaration: 'node refuses enums: use a union of strings',
  TSModuleDeclaration: 'node refuses namespaces: use a module',
  TSParameterProperty: 'node refuses parameter properties: assign in the constructor',
  TSImportEqualsDeclaration: 'node refuses import = : use an import declaration',
  TSExportAssignment: 'node refuses export = : export it under a name',
  TSNonNullExpression: 'no "!": handle the absence',
  TSAnyKeyword: 'no "any": say what it is, or unknown',
};

/** Syntax that node's type stripping refuses, and casts past the compiler. */
export function checkSyntax(source: SourceFile): Violation[] {
  const found: Violation[] = [];
  walk(programOf(source), (node) => {
    const advice = oddSyntax[node.type];
    if (advice === undefined) return;
    found.push({ path: source.path, line: source.lineAt(node.start), advice });
  });
  for (const { specifier, line } of source.imports) {
    if (!specifier.startsWith('.') || /\.(ts|json)$/.test(specifier)) continue;
    found.push({ path: source.path, line, advice: `import "${specifier}" with its extension .ts` });
  }
  return found;
}

/** What every dialect holds, and what each of its sides holds; beside these a dialect has what it needs. */
export const dialectFiles = {
  always: ['error-rules.ts', 'finish-reasons.ts', 'wire.ts'],
  client: [
    'client.ts',
    'client-error.ts',
    'client-reply.ts',
    'client-request.ts',
    'client-stream.ts',
  ],
  upstream: [
    'upstream.ts',
    'decode-reply.ts',
    'encode-call.ts',
    'encode-messages.ts',
    'encode-parameters.ts',
    'encode-tools.ts',
    'missing-ability.ts',
    'stream-decoder.ts',
  ],
  /** Of a dialect with both sides: a client's body goes on to a target of the same one. */
  both: ['edit-body.ts'],
} as const;

/** Dialect folders look alike: each is flat, has a side, and has the files of its sides. */
export function checkDialectFolders(paths: readonly string[]): Violation[] {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const dialect = dialectFolder(path);
    if (dialect === null) continue;
    folders.set(dialect, [...(folders.get(dialect) ?? []), path.split('/').slice(3).join('/')]);
  }
  const found: Violation[] = [];
  for (const [dialect, files] of folders) {
    const path = `src/dialects/${dialect}`;
    for (const name of wantedFiles(files)) {
      if (files.includes(name)) continue;
      const advice = `${name} is missing: dialect folders hold the same file names (dialectFiles in test/architecture/file-shapes.ts)`;
      found.push({ path, line: 1, advice });
    }
    if (!files.includes('client.ts') && !files.includes('upstream.ts')) {
      found.push({ path, line: 1, advice: 'a dialect has client.ts, upstream.ts or both' });
    }
    for (const file of files.filter((name) => name.includes('/'))) {
      found.push({ path: `${path}/${file}`, line: 1, advice: 'a dialect is one flat folder' });
    }
  }
  return found;
}

function wantedFiles(files: readonly string[]): readonly string[] {
  const hasClient = files.includes('client.ts');
  const hasUpstream = files.includes('upstream.ts');
  return [
    ...dialectFiles.always,
    ...(hasClient ? dialectFiles.client : []),
    ...(hasUpstream ? dialectFiles.upstream : []),
    ...(hasClient && hasUpstream ? dialectFiles.both : []),
  ];
}

/** `provider.ts` is the port, `registry.ts` the list; every other file is one kind, and is in the list. */
export function checkProviderFiles(sources: readonly SourceFile[]): Violation[] {
  const files = sources.filter(({ path }) => path.startsWith('src/providers/'));
  const registry = files.find(({ path }) => path === 'src/providers/registry.ts');
  const found: Violation[] = [];
  for (const { path } of files) {
    const name = path.slice('src/providers/'.length);
    if (name.includes('/')) {
      found.push({ path, line: 1, advice: 'one provider kind is one file, not a folder' });
    }
  }
  if (registry === undefined) return found;
  const listed = new Set(registry.imports.map(({ specifier }) => specifier));
  for (const source of files) {
    const name = source.path.slice('src/providers/'.length);
    if (!isKindFile(source) || listed.has(`./${name}`)) continue;
    const advice = `this kind is not in src/providers/registry.ts: add its line`;
    found.push({ path: source.path, line: 1, advice });
  }
  return found;
}

/** A file that exports something named `...Kind` describes a kind; others hold what kinds share. */
function isKindFile(source: SourceFile): boolean {
  return /export const \w+Kind\b/.test(source.text);
}
