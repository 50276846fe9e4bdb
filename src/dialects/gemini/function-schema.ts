/**
 * Schemas of tool parameters. Where a schema says nothing that the service's own subset (an excerpt
 * of OpenAPI 3.0) cannot hold, it is written in that: all models and versions take it. Else it goes
 * as JSON Schema, in the newer field.
 */
import { isJsonObject, type JsonObject, property } from '../../base/json.ts';

export type ParameterSchema =
  | Record<string, never>
  | { readonly parameters: JsonObject }
  | { readonly parametersJsonSchema: JsonObject };

/** Nothing for a tool without parameters: some models refuse an object without properties. */
export function parameterSchema(schema: JsonObject | null): ParameterSchema {
  if (schema === null || isEmptyObjectSchema(schema)) return {};
  const subset = toSubset(schema, 0);
  if (subset !== null) return { parameters: subset };
  return { parametersJsonSchema: toJsonSchema(schema, 0) };
}

const depthMax = 64;

/** Keywords that only annotate. */
const annotations = [
  '$schema',
  '$id',
  '$comment',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
];

/** Keywords that mean the same in the subset, and hold no schema. */
const plain = [
  'title',
  'description',
  'nullable',
  'default',
  'example',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'pattern',
  'propertyOrdering',
];

const formats: { readonly [type: string]: readonly string[] } = {
  string: ['date-time', 'enum'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

function isEmptyObjectSchema(schema: JsonObject): boolean {
  const properties = schema['properties'];
  const isEmpty =
    properties === undefined || (isJsonObject(properties) && Object.keys(properties).length === 0);
  const others = Object.keys(schema).filter(
    (key) => !['type', 'properties', 'required', 'additionalProperties'].includes(key),
  );
  const isOpenMap = isJsonObject(schema['additionalProperties']);
  return (
    isEmpty && !isOpenMap && others.every((key) => annotations.includes(key) || plain.includes(key))
  );
}

/** Null when the subset cannot hold it. What closes an object (`additionalProperties: false`) has no place in it. */
function toSubset(schema: JsonObject, depth: number): JsonObject | null {
  if (depth > depthMax) return null;
  const typed = typeOf(schema);
  if (typed === null) return null;
  const found = new Map<string, unknown>();
  if (typed.type !== null) found.set('type', typed.type);
  if (typed.isNullable) found.set('nullable', true);
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'type' || key === 'const' || key === 'enum' || annotations.includes(key)) continue;
    if (key === 'additionalProperties' && typeof value === 'boolean') continue;
    if (plain.includes(key)) {
      found.set(key, value);
      continue;
    }
    const member = subsetMember(key, value, schema, typed.type, depth);
    if (member === null) return null;
    // Of a nullable choice's only schema, what the choice itself says stands above.
    for (const [name, each] of member) {
      if (name === key || !Object.hasOwn(schema, name)) found.set(name, each);
    }
  }
  const values = enumOf(schema, typed.type);
  if (values === 'unsayable') return null;
  if (values !== null) {
    found.set('enum', values.strings);
    if (values.isNullable) found.set('nullable', true);
    if (typed.type === null) found.set('type', 'string');
  }
  const isHollow =
    (typed.type === 'object' && !found.has('properties')) ||
    (typed.type === 'array' && !found.has('items'));
  return isHollow || found.size === 0 ? null : Object.fromEntries(found);
}

type Typed = { readonly type: string | null; readonly isNullable: boolean };

/** `["string", "null"]` is a nullable string; other lists of types cannot be said. */
function typeOf(schema: JsonObject): Typed | null {
  const { type } = schema as { readonly type?: unknown };
  if (type === undefined) return { type: null, isNullable: false };
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const named = types.filter((each) => each !== 'null');
  const [only] = named;
  if (named.length !== 1 || typeof only !== 'string') return null;
  return { type: only, isNullable: named.length < types.length };
}

function subsetMember(
  key: string,
  value: unknown,
  schema: JsonObject,
  type: string | null,
  depth: number,
): readonly (readonly [string, unknown])[] | null {
  switch (key) {
    case 'format':
      return typeof value === 'string' && (formats[type ?? ''] ?? []).includes(value)
        ? [['format', value]]
        : null;
    case 'properties': {
      const properties = subsetMap(value, depth);
      return properties === null ? null : [['properties', properties]];
    }
    case 'required': {
      if (!Array.isArray(value)) return null;
      const known = value.filter(
        (name) => typeof name === 'string' && property(schema['properties'], name) !== undefined,
      );
      return known.length > 0 ? [['required', known]] : [];
    }
    case 'items': {
      const items = isJsonObject(value) ? toSubset(value, depth + 1) : null;
      return items === null ? null : [['items', items]];
    }
    case 'anyOf':
      return Array.isArray(value) ? subsetChoice(value, schema, depth) : null;
    default:
      return key.startsWith('x-') ? [] : null;
  }
}

function subsetMap(value: unknown, depth: number): JsonObject | null {
  if (!isJsonObject(value)) return null;
  const entries: [string, unknown][] = [];
  for (const [name, each] of Object.entries(value)) {
    const inner = isJsonObject(each) ? toSubset(each, depth + 1) : null;
    if (inner === null) return null;
    entries.push([name, inner]);
  }
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/**
 * A choice between one schema and null is that schema, nullable. A choice among several must stand
 * alone: the service refuses any field beside it.
 */
function subsetChoice(
  choices: readonly unknown[],
  { anyOf: _, ...beside }: JsonObject,
  depth: number,
): readonly (readonly [string, unknown])[] | null {
  const named = choices.filter((each) => property(each, 'type') !== 'null');
  const nullable: readonly (readonly [string, unknown])[] =
    named.length < choices.length ? [['nullable', true]] : [];
  const schemas: JsonObject[] = [];
  for (const each of named) {
    const inner = isJsonObject(each) ? toSubset(each, depth + 1) : null;
    if (inner === null) return null;
    schemas.push(inner);
  }
  const [only] = schemas;
  if (only === undefined) return null;
  if (schemas.length === 1) return [...Object.entries(only), ...nullable];
  const isAlone = Object.keys(beside).every((key) => annotations.includes(key));
  return isAlone && nullable.length === 0 ? [['anyOf', schemas]] : null;
}

type EnumValues = { readonly strings: readonly string[]; readonly isNullable: boolean };

/** `const` is an `enum` of one. Only strings can be listed. */
function enumOf(schema: JsonObject, type: string | null): EnumValues | null | 'unsayable' {
  const listed = Object.hasOwn(schema, 'const') ? [schema['const']] : schema['enum'];
  if (listed === undefined) return null;
  if (!Array.isArray(listed) || (type !== null && type !== 'string')) return 'unsayable';
  const strings = listed.filter((value) => typeof value === 'string' && value !== '');
  const isNullable = listed.includes(null);
  const isAll = strings.length + (isNullable ? 1 : 0) === listed.length;
  return isAll && strings.length > 0 ? { strings, isNullable } : 'unsayable';
}

const schemaMaps = ['properties', '$defs', 'definitions', 'patternProperties'];
const schemaLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const schemaMembers = ['items', 'additionalProperties', 'not'];

/** JSON Schema without its header, `const` written as the `enum` that the service reads. */
export function toJsonSchema(schema: JsonObject, depth: number): JsonObject {
  if (depth > depthMax) return schema;
  const inner = (value: unknown): unknown =>
    isJsonObject(value) ? toJsonSchema(value, depth + 1) : value;
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$schema' || key === '$comment') continue;
    if (key === 'const') {
      if (!Object.hasOwn(schema, 'enum')) entries.push(['enum', [value]]);
    } else if (schemaMaps.includes(key) && isJsonObject(value)) {
      const members = Object.entries(value).map(([name, each]) => [name, inner(each)] as const);
      entries.push([key, Object.fromEntries(members)]);
    } else if (schemaLists.includes(key) && Array.isArray(value)) {
      entries.push([key, value.map(inner)]);
    } else entries.push([key, schemaMembers.includes(key) ? inner(value) : value]);
  }
  return Object.fromEntries(entries);
}
