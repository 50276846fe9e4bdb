/** Where the prompts are that ship with the product. */
import { fileURLToPath } from 'node:url';

export const shippedPrompts = fileURLToPath(new URL('../../prompts', import.meta.url));
