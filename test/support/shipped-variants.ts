/** The prompts that ship with the product, compiled. */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadVariants, readPromptDirectory } from '../../src/prompts/load-variants.ts';

const directory = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', 'prompts');
const sources = readPromptDirectory(directory);
if (!sources.ok) throw new Error(JSON.stringify(sources.fault));

export const shippedVariants = (await loadVariants(sources.value)).variants;
