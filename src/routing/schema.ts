/** The document's JSON Schema, for editors and `config schema`. */
import { z } from 'zod';
import type { JsonObject } from '../base/json.ts';
import { documentSchema } from './document.ts';

/** Draft 2020-12, of the document as it is written: what has a default may be left out. */
export function documentJsonSchema(): JsonObject {
  return { title: 'Tiergate configuration', ...z.toJSONSchema(documentSchema, { io: 'input' }) };
}
