/** The head of a `.prompt` file: what it may say, and its input schema as JSON Schema. */
import { Dotprompt, picoschema } from 'dotprompt';
import { parseDocument } from 'yaml';
import { isJsonObject, type JsonObject, objectAt, property, stringAt } from '../base/json.ts';
import { nearest } from '../base/nearest.ts';
import { fail, type Result, success } from '../base/result.ts';

export type PromptFile = {
  readonly template: string;
  readonly config: JsonObject;
  readonly toolDescriptions: { readonly [toolName: string]: string };
  /** JSON Schema of the caller's variables; null = none was given. */
  readonly variablesSchema: JsonObject | null;
  readonly variableDefaults: JsonObject;
};

const usedKeys = ['config', 'input', 'tools', 'toolDefs'];
const descriptiveKeys = ['name', 'variant', 'version', 'description', 'metadata'];
const uselessKeys: Readonly<Record<string, string>> = {
  model: 'the target names the model',
  output: 'the client asks for a form of output, a variant does not',
};

/** Reads a source; every fault of its head is told at once. */
export async function readPromptFile(
  source: string,
): Promise<Result<PromptFile, readonly string[]>> {
  const head = headOf(source);
  if (!head.ok) return fail([head.fault]);
  const parsed = new Dotprompt().parse(source);
  const raw: JsonObject = isJsonObject(parsed.raw) ? parsed.raw : {};
  const faults = unknownKeys(raw);
  const config = objectOrFault(raw, 'config', faults);
  const input = objectOrFault(raw, 'input', faults);
  const toolDescriptions = toolDescriptionsOf(raw, faults);
  const schema = await schemaOf(property(input, 'schema'));
  if (!schema.ok) faults.push(`input.schema: ${schema.fault}`);
  const variableDefaults = objectOrFault(input, 'default', faults);
  if (faults.length > 0 || !schema.ok) return fail(faults);
  return success({
    template: parsed.template,
    config,
    toolDescriptions,
    variablesSchema: schema.value,
    variableDefaults,
  });
}

/** dotprompt prints a broken head and takes the file for a template, so it is checked before. */
function headOf(source: string): Result<null, string> {
  if (!/^---\s*(\r?\n|$)/.test(source)) return success(null);
  const end = /\r?\n---[ \t]*(\r?\n|$)/.exec(source);
  const start = source.indexOf('\n');
  if (end === null || start < 0 || end.index < start) return fail('the front matter is not closed');
  const head = parseDocument(source.slice(start + 1, end.index), { prettyErrors: false });
  const [error] = head.errors;
  if (error !== undefined) return fail(`front matter: ${error.message.split('\n')[0]}`);
  return success(null);
}

function unknownKeys(raw: JsonObject): string[] {
  const faults: string[] = [];
  const known = [...usedKeys, ...descriptiveKeys];
  for (const key of Object.keys(raw)) {
    const reason = Object.hasOwn(uselessKeys, key) ? uselessKeys[key] : undefined;
    if (reason !== undefined) faults.push(`${key} has no effect in a variant: ${reason}`);
    else if (!known.includes(key) && !key.includes('.')) {
      const meant = nearest(key, known);
      faults.push(`unknown key ${key}${meant === null ? '' : `; did you mean ${meant}?`}`);
    }
  }
  return faults;
}

function objectOrFault(parent: JsonObject, key: string, faults: string[]): JsonObject {
  const found = property(parent, key);
  if (found !== undefined && found !== null && !isJsonObject(found)) {
    faults.push(`${key} must be a mapping`);
  }
  return objectAt(parent, key) ?? {};
}

/** `tools: { name: text }`, or Dotprompt's list of `{ name, description }`. */
function toolDescriptionsOf(raw: JsonObject, faults: string[]): { [toolName: string]: string } {
  const descriptions = new Map<string, string>();
  for (const key of ['tools', 'toolDefs']) {
    const found = property(raw, key);
    if (found === undefined || found === null) continue;
    const entries = Array.isArray(found)
      ? found.map((tool) => [stringAt(tool, 'name'), property(tool, 'description')])
      : Object.entries(isJsonObject(found) ? found : { '': null });
    for (const [name, description] of entries) {
      if (typeof name === 'string' && name !== '' && typeof description === 'string') {
        descriptions.set(name, description);
      } else faults.push(`${key} must give a name and a description for each tool`);
    }
  }
  return Object.fromEntries(descriptions);
}

/**
 * Picoschema closes its objects, but a caller sends one set of variables to all variants of a tier:
 * what this one does not use is none of its business. A JSON Schema stays as it was written.
 */
async function schemaOf(written: unknown): Promise<Result<JsonObject | null, string>> {
  if (written === undefined || written === null) return success(null);
  if (typeof written !== 'string' && !isJsonObject(written)) return fail('must be a mapping');
  try {
    const schema: unknown = await picoschema(written);
    if (!isJsonObject(schema)) return fail('is empty');
    const isJsonSchema = isJsonObject(written) && (written['type'] ?? written['properties']);
    const { additionalProperties, ...open } = schema;
    const result = isJsonSchema || additionalProperties !== false ? schema : open;
    // undefined members (an empty `required`) would not be JSON.
    return success(JSON.parse(JSON.stringify(result)) as JsonObject);
  } catch (error) {
    return fail(error instanceof Error ? error.message : 'is not a schema');
  }
}
