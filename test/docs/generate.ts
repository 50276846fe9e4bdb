/** `npm run docs`: writes the generated parts of the documents anew. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRepositoryFile, repositoryRoot } from '../architecture/repository-files.ts';
import { generatedParts, withPart } from './generated-parts.ts';

for (const part of generatedParts) {
  const text = withPart(readRepositoryFile(part.path), part);
  writeFileSync(join(repositoryRoot, part.path), text);
}
