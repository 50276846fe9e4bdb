/** A config document as text, JSON or YAML: parsed at the border, nothing trusted. */
import { parseDocument } from 'yaml';
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';

export type DocumentFormat = 'json' | 'yaml';

/** Aliases beyond this are taken for a bomb: each may stand for a large part. */
const aliasCountMax = 100;

/** The object that `bytes` hold; the fault says what is wrong and where, and quotes nothing. */
export function parseDocumentText(
  bytes: Buffer,
  format: DocumentFormat,
): Result<JsonObject, string> {
  const text = decodeUtf8(bytes);
  if (text === null) return fail('not valid UTF-8');
  if (text.trim() === '') return fail('empty');
  const parsed = format === 'json' ? parseJson(text) : parseYaml(text);
  if (!parsed.ok) return parsed;
  return isJsonObject(parsed.value) ? success(parsed.value) : fail('not an object');
}

function parseYaml(text: string): Result<unknown, string> {
  try {
    const document = parseDocument(text, { strict: true, uniqueKeys: true, prettyErrors: false });
    const [first] = document.errors;
    if (first !== undefined) return fail(`${first.code} at ${lineAndColumn(text, first.pos[0])}`);
    return success(document.toJS({ maxAliasCount: aliasCountMax }));
  } catch (error) {
    const isBomb = error instanceof ReferenceError;
    return fail(isBomb ? 'too many aliases' : 'not valid YAML');
  }
}

function lineAndColumn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

function decodeUtf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
