/** Whether a field of a client's body asks for nothing: absent in other words, so that none need name it. */
import { isJsonObject } from '../base/json.ts';

export function saysNothing(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  // Elsewhere no options are the usual ones.
  return name === 'metadata' && isJsonObject(value) && Object.keys(value).length === 0;
}
