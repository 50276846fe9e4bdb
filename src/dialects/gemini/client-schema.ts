/** Schemas in the service's own subset (an excerpt of OpenAPI 3.0, types in capitals) as JSON Schema. */
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { camelCase } from './proto-names.ts';

/** Fields that the service itself writes as text where they are 64 bits wide. */
const counts: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
]);

/** What only the service knows, or what `toJsonSchema` says in another way. */
const handled: ReadonlySet<string> = new Set(['type', 'nullable', 'enum', 'propertyOrdering']);

/** The body's depth is bounded, and so is this. A field that is not known stays as it is. */
export function fromSubset(schema: JsonObject): JsonObject {
  const entries: [string, unknown][] = [];
  const types = typesOf(schema);
  const isNullable = schema['nullable'] === true;
  if (types.length > 0) entries.push(['type', typeWord(types, isNullable)]);
  const listed = schema['enum'];
  if (Array.isArray(listed)) {
    entries.push(['enum', isNullable && !listed.includes(null) ? [...listed, null] : listed]);
  }
  for (const [key, value] of Object.entries(schema)) {
    const name = camelCase(key);
    if (!handled.has(name)) entries.push(memberOf(key, name, value));
  }
  const made = Object.fromEntries(entries);
  return isNullable && types.length === 0 ? { anyOf: [made, { type: 'null' }] } : made;
}

function typesOf(schema: JsonObject): readonly unknown[] {
  const given = schema['type'];
  const types: readonly unknown[] = Array.isArray(given) ? given : [given];
  return types
    .filter((type) => type !== undefined && type !== 'TYPE_UNSPECIFIED')
    .map((type) => (typeof type === 'string' ? type.toLowerCase() : type));
}

function typeWord(types: readonly unknown[], isNullable: boolean): unknown {
  const all = isNullable && !types.includes('null') ? [...types, 'null'] : types;
  return all.length === 1 ? all[0] : all;
}

function memberOf(key: string, name: string, value: unknown): [string, unknown] {
  switch (name) {
    case 'properties':
    case '$defs':
    case 'defs':
      return [name === 'defs' ? '$defs' : name, isJsonObject(value) ? eachOf(value) : value];
    case 'items':
    case 'additionalProperties':
      return [name, isJsonObject(value) ? fromSubset(value) : value];
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
    case 'prefixItems':
      return [name, Array.isArray(value) ? value.map(schemaOf) : value];
    case 'example':
      return ['examples', [value]];
    case 'ref':
      return ['$ref', value];
    default:
      return counts.has(name) ? [name, countOf(value)] : [key, value];
  }
}

function eachOf(schemas: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, each]) => [name, schemaOf(each)] as const),
  );
}

function schemaOf(value: unknown): unknown {
  return isJsonObject(value) ? fromSubset(value) : value;
}

function countOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
}
