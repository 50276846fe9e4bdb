/** The body of a control-plane request against its schema: every fault with its place, no value in any message. */
import type { z } from 'zod';
import type { JsonObject } from '../base/json.ts';
import { nearest } from '../base/nearest.ts';
import { fail, type Result, success } from '../base/result.ts';
import type { ConfigFault } from './tier-admin.ts';

const faultsMax = 50;

export function checkBody<Schema extends z.ZodObject>(
  schema: Schema,
  body: JsonObject,
): Result<z.output<Schema>, readonly ConfigFault[]> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return success(parsed.data);
  const known = Object.keys(schema.shape);
  const faults = parsed.error.issues.flatMap((issue) => {
    const path = issue.path.map(String).join('.');
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({ path: key.slice(0, 64), message: unknownKey(key, known) }));
  });
  return fail(faults.slice(0, faultsMax));
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = nearest(key, known);
  return near === null ? `unknown key; known are ${known.join(', ')}` : `did you mean ${near}?`;
}
