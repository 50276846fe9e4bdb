/** The rules of ARCHITECTURE.md and of the style, held against every file of the repository. */
import { describe, expect, it } from 'vitest';
import { checkBannedCalls } from './banned-calls.ts';
import {
  checkDialectFolders,
  checkExports,
  checkFileName,
  checkProviderFiles,
  checkSyntax,
} from './file-shapes.ts';
import { checkImportEffects } from './import-effects.ts';
import { checkPackages, unusedDependencies } from './packages.ts';
import { checkDialectPairs, checkRanks } from './ranks.ts';
import {
  ignoredFiles,
  readRepositoryFile,
  repositoryFiles,
  repositorySources,
} from './repository-files.ts';
import { checkFileSize, checkFunctionSizes } from './sizes.ts';
import { describeViolation, type SourceFile, type Violation } from './source-file.ts';
import { checkBannedWords, checkVendorWords } from './words.ts';

const product = repositorySources(['src']);
const proof = repositorySources(['test', 'bench']);
const everything = [...product, ...proof];

function expectNone(violations: readonly Violation[]): void {
  expect(violations.map(describeViolation)).toEqual([]);
}

function over(sources: readonly SourceFile[], check: (source: SourceFile) => Violation[]): void {
  expectNone(sources.flatMap(check));
}

describe('folders', () => {
  it('import lower ranks only, never a neighbour', () => over(product, checkRanks));
  it('of dialects know nothing of each other', () => over(product, checkDialectPairs));
  it('of dialects look alike', () => expectNone(checkDialectFolders(product.map(pathOf))));
  it('of providers hold one file a kind', () => expectNone(checkProviderFiles(product)));

  it('alone use the packages that they own', () => {
    over(product, (source) => checkPackages(source, runtimeDependencies()));
  });

  it('use every package that is installed for them (else take it out of package.json)', () => {
    expect(unusedDependencies(product, runtimeDependencies())).toEqual([]);
  });
});

describe('files', () => {
  it('are named for what they hold', () =>
    expectNone(everything.map(pathOf).flatMap(checkFileName)));
  it('have at most 400 lines, tests 500', () => over(everything, checkFileSize));
  it('export names, and only their own', () => over(product, checkExports));
  it('hold syntax that node runs as it is', () => over(everything, checkSyntax));
  it('hold functions of at most 70 lines', () =>
    over([...product, ...bench()], checkFunctionSizes));
  it('do no work and keep no state when imported', () => over(product, checkImportEffects));
  it('take time, chance and the environment as arguments', () => over(product, checkBannedCalls));
  it('name vendors only where a vendor is the matter', () => over(product, checkVendorWords));

  it('are all in the repository: none is hidden by .gitignore', () => {
    const folders = ['src', 'test', 'bench', 'docs', 'prompts', 'migrations', '.ci'];
    expect(ignoredFiles(folders)).toEqual([]);
  });

  it('hold no leftovers and no path of one machine', () => {
    const texts = repositoryFiles()
      .filter(isProse)
      .map((path) => ({ path, text: readRepositoryFile(path) }));
    expect(texts.length).toBeGreaterThan(50);
    expectNone(texts.flatMap(checkBannedWords));
  });
});

function runtimeDependencies(): ReadonlySet<string> {
  const manifest: unknown = JSON.parse(readRepositoryFile('package.json'));
  const { dependencies } = manifest as { dependencies: Record<string, string> };
  return new Set(Object.keys(dependencies));
}

function pathOf(source: SourceFile): string {
  return source.path;
}

/** A test's `describe` is a function too, and may be as long as its table. */
function bench(): SourceFile[] {
  return proof.filter(({ path }) => path.startsWith('bench/'));
}

function isProse(path: string): boolean {
  if (path.startsWith('test/fixtures/') || path === 'package-lock.json') return false;
  return /\.(ts|md|json|jsonc|ya?ml|sql|prompt|sh|txt)$|^\.ci\/|^LICENSE$/.test(path);
}
