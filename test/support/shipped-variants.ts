/** The prompts that ship with the product, compiled. */
import { loadVariants, readPromptDirectory } from '../../src/prompts/load-variants.ts';
import { shippedPrompts } from './shipped-prompts.ts';

const sources = readPromptDirectory(shippedPrompts);
if (!sources.ok) throw new Error(JSON.stringify(sources.fault));

export const shippedVariants = (await loadVariants(sources.value)).variants;
