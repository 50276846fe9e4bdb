/**
 * Schemas keep the digits of numbers that JavaScript cannot hold: `maximum: 9007199254740993`. A body has
 * such a number hardly ever; only then its schemas are read once more, from the bytes.
 */
import { type JsonObject, objectAt } from '../base/json.ts';
import { parseLosslessJson } from './exact-json.ts';
import { type JsonContainer, type JsonMember, memberAt, scanContainer } from './json-spans.ts';

/** Top-level fields of the client dialects in which nothing but schemas holds numbers of so many digits. */
const schemaFields = ['tools', 'response_format', 'text', 'output_format', 'output_config'];

/** Here the schemas alone are read so: a temperature may be spelled at any length, and is read as a number. */
const configFields = ['generationConfig', 'generation_config'];
const configSchemas = [
  'responseSchema',
  'response_schema',
  'responseJsonSchema',
  'response_json_schema',
  '_responseJsonSchema',
];

/** `json`, which was parsed from `bytes`; `fields` are its places there. */
export function withExactSchemas(
  json: JsonObject,
  bytes: Buffer,
  fields: JsonContainer,
): JsonObject {
  const exact = readExactly(json, bytes, fields, schemaFields);
  const configs: [string, JsonObject][] = [];
  for (const name of configFields) {
    const member = memberAt(fields, name);
    const inner = member === null ? null : scanContainer(bytes, member.valueStart);
    const config = objectAt(json, name);
    if (inner === null || config === null) continue;
    configs.push([name, readExactly(config, bytes, inner, configSchemas)]);
  }
  return { ...exact, ...Object.fromEntries(configs) };
}

function readExactly(
  json: JsonObject,
  bytes: Buffer,
  fields: JsonContainer,
  names: readonly string[],
): JsonObject {
  const exact: [string, unknown][] = [];
  for (const name of names) {
    const member = memberAt(fields, name);
    const value = member === null ? undefined : exactValue(bytes, member);
    if (value !== undefined) exact.push([name, value]);
  }
  return exact.length === 0 ? json : { ...json, ...Object.fromEntries(exact) };
}

/** Undefined where it cannot be read so. */
function exactValue(bytes: Buffer, { valueStart, end }: JsonMember): unknown {
  const read = parseLosslessJson(bytes.toString('utf8', valueStart, end));
  return read.ok ? read.value : undefined;
}
