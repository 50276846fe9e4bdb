/** The repository's own files: what a clone holds, without what was installed or made by running it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSource, type SourceFile } from './source-file.ts';

export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

const foreignFolders = new Set(['node_modules', '.git', 'data', 'coverage', '.cache']);

/** Paths below `folder` ('' = all), relative to the repository's root, sorted. */
export function repositoryFiles(folder = ''): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(repositoryRoot, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!foreignFolders.has(entry.name)) found.push(...repositoryFiles(path));
    } else if (entry.isFile()) {
      found.push(path);
    }
  }
  return found.sort();
}

export function readRepositoryFile(path: string): string {
  return readFileSync(join(repositoryRoot, path), 'utf8');
}

/** Every TypeScript file of `folders`, parsed. */
export function repositorySources(folders: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) => repositoryFiles(folder))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => parseSource(path, readRepositoryFile(path)));
}
