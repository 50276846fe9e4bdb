/** The repository's own files: what a clone holds, without what was installed or made by running it. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSource, type SourceFile } from './source-file.ts';

export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

/** Paths from the root: a folder of the same name elsewhere is the project's own. */
const foreignFolders = new Set(['node_modules', '.git', 'data', 'coverage', '.cache']);

/** Paths below `folder` ('' = all), relative to the repository's root, sorted. */
export function repositoryFiles(folder = ''): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(repositoryRoot, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!foreignFolders.has(path)) found.push(...repositoryFiles(path));
    } else if (entry.isFile()) {
      found.push(path);
    }
  }
  return found.sort();
}

export function readRepositoryFile(path: string): string {
  return readFileSync(join(repositoryRoot, path), 'utf8');
}

/** Files of the project's folders that git would leave out of a commit; none where there is no git. */
export function ignoredFiles(folders: readonly string[]): string[] {
  const options = ['--others', '--ignored', '--exclude-standard'];
  const listed = spawnSync('git', ['ls-files', ...options, '--', ...folders], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  });
  return listed.status === 0 ? listed.stdout.split('\n').filter((path) => path !== '') : [];
}

/** Every TypeScript file of `folders`, parsed. */
export function repositorySources(folders: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) => repositoryFiles(folder))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => parseSource(path, readRepositoryFile(path)));
}
