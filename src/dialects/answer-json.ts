/** What a provider sends as JSON: of a depth that can be walked, and written again. */
import { parseJson } from '../base/json.ts';
import { fail, type Result } from '../base/result.ts';
import { isNestedTooDeeply, jsonDepthMax } from './json-spans.ts';

/** A shorter text has no room for more brackets than are allowed. */
const safeCharactersMax = 2 * jsonDepthMax;

export function parseAnswer(text: string): Result<unknown, string> {
  const isDeep = text.length > safeCharactersMax && isNestedTooDeeply(Buffer.from(text));
  return isDeep ? fail('nested too deeply') : parseJson(text);
}
