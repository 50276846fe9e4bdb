/**
 * The part of JSON Schema that this service compiles into a grammar, for structured output and
 * strict tools. What it does not know it refuses with a 400.
 */
import { arrayAt, isJsonObject, type JsonObject, property } from '../base/json.ts';
import { isKeptNumber } from './exact-json.ts';

/** Keywords that only describe or narrow a value: told in the description, since the grammar cannot hold them. */
const narrowing = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const;

/** Keywords whose meaning would be lost without them. */
const unsayable = [
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'patternProperties',
  'propertyNames',
  'dependentSchemas',
  'dependentRequired',
  'unevaluatedProperties',
  'prefixItems',
  'contains',
] as const;

/** The formats of a text that the service knows. */
const formats: readonly unknown[] = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
];

const depthMax = 64;

export type FittedSchema = {
  readonly schema: JsonObject;
  /** Keywords that became words of a description. */
  readonly told: readonly string[];
};

/**
 * `schema` in the subset; null when it says what the subset cannot (recursion, maps and other open
 * objects, exclusions, values that are lists or objects, references elsewhere).
 */
export function fitSchema(schema: JsonObject): FittedSchema | null {
  const told = new Set<string>();
  const fitted = narrow(schema, told, 0);
  if (fitted === null || isRecursive(schema)) return null;
  return { schema: fitted, told: [...told] };
}

/** Whether the service takes `schema` as it is. */
export function isWithinSubset(schema: JsonObject): boolean {
  const fitted = fitSchema(schema);
  return fitted !== null && fitted.told.length === 0 && hasClosedObjects(schema, 0);
}

function narrow(schema: JsonObject, told: Set<string>, depth: number): JsonObject | null {
  if (depth > depthMax || isUnsayable(schema)) return null;
  const fitted = new Map<string, unknown>();
  const notes: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$schema' || key === '$id' || key === '$comment') continue;
    if (isOnlyTold(key, value)) {
      told.add(key);
      notes.push(`${key}: ${JSON.stringify(value)}`);
      continue;
    }
    const inner = narrowMember(key, value, told, depth);
    if (inner === null) return null;
    fitted.set(key, inner.value);
  }
  if (isObjectSchema(schema)) {
    // What may stand beside the properties is more than the grammar can hold.
    if (schema['additionalProperties'] === true) told.add('additionalProperties');
    fitted.set('additionalProperties', false);
  }
  if (notes.length > 0) fitted.set('description', noted(schema['description'], notes));
  return Object.fromEntries(fitted);
}

function isOnlyTold(key: string, value: unknown): boolean {
  if (key === 'format') return !formats.includes(value);
  if (key === 'minItems') return value !== 0 && value !== 1;
  return (narrowing as readonly string[]).includes(key);
}

function isUnsayable(schema: JsonObject): boolean {
  if (unsayable.some((key) => Object.hasOwn(schema, key))) return true;
  const { $ref, items, additionalProperties } = schema;
  if (typeof $ref === 'string' && !$ref.startsWith('#')) return true;
  if (items !== undefined && !isJsonObject(items)) return true;
  const values = [...arrayAt(schema, 'enum'), schema['const']];
  if (values.some(isComposed)) return true;
  if (arrayAt(schema, 'allOf').some((each) => property(each, '$ref') !== undefined)) return true;
  return isObjectSchema(schema) && (isJsonObject(additionalProperties) || isOpen(schema));
}

/** A list or an object. */
function isComposed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isKeptNumber(value);
}

/** An object that may hold anything, or what others say of it: closed, it could hold nothing. */
function isOpen(schema: JsonObject): boolean {
  const { properties, additionalProperties } = schema;
  if (['anyOf', 'allOf', '$ref'].some((key) => Object.hasOwn(schema, key))) return true;
  if (additionalProperties === false) return false;
  return !isJsonObject(properties) || Object.keys(properties).length === 0;
}

function narrowMember(
  key: string,
  value: unknown,
  told: Set<string>,
  depth: number,
): { readonly value: unknown } | null {
  if (key === 'properties' || key === '$defs' || key === 'definitions') {
    return narrowMap(value, told, depth);
  }
  if (key === 'items' && isJsonObject(value)) {
    const fitted = narrow(value, told, depth + 1);
    return fitted === null ? null : { value: fitted };
  }
  if ((key === 'anyOf' || key === 'allOf') && Array.isArray(value)) {
    const fitted: JsonObject[] = [];
    for (const each of value) {
      const inner = isJsonObject(each) ? narrow(each, told, depth + 1) : null;
      if (inner === null) return null;
      fitted.push(inner);
    }
    return { value: fitted };
  }
  return { value };
}

function narrowMap(
  value: unknown,
  told: Set<string>,
  depth: number,
): { readonly value: unknown } | null {
  if (!isJsonObject(value)) return { value };
  const fitted: [string, unknown][] = [];
  for (const [name, each] of Object.entries(value)) {
    const inner = isJsonObject(each) ? narrow(each, told, depth + 1) : null;
    if (inner === null) return null;
    fitted.push([name, inner]);
  }
  return { value: Object.fromEntries(fitted) };
}

function isObjectSchema(schema: JsonObject): boolean {
  return isTypedObject(schema) || isJsonObject(schema['properties']);
}

function isTypedObject({ type }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

function noted(description: unknown, notes: readonly string[]): string {
  const text = typeof description === 'string' && description !== '' ? `${description} ` : '';
  return `${text}(${notes.join(', ')})`;
}

/** Every object schema must say by itself that it is closed. */
function hasClosedObjects(value: unknown, depth: number): boolean {
  if (depth > 2 * depthMax) return false;
  if (Array.isArray(value)) return value.every((each) => hasClosedObjects(each, depth + 1));
  if (!isJsonObject(value)) return true;
  if (isTypedObject(value) && value['additionalProperties'] !== false) return false;
  return Object.values(value).every((each) => hasClosedObjects(each, depth + 1));
}

/** Whether a definition refers to itself, by whatever way; a reference to the whole schema does. */
function isRecursive(schema: JsonObject): boolean {
  const definitions = new Map<string, ReadonlySet<string>>();
  for (const container of ['$defs', 'definitions']) {
    const held = schema[container];
    if (!isJsonObject(held)) continue;
    for (const [name, value] of Object.entries(held)) {
      definitions.set(`#/${container}/${name}`, referencesIn(value));
    }
  }
  const all = [referencesIn(schema), ...definitions.values()];
  if (all.some((references) => references.has('#'))) return true;
  return hasCycle(definitions);
}

/** Takes away what nothing left refers to, until nothing can be: what stays is a cycle or hangs on one. */
function hasCycle(definitions: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const references = new Map<string, number>([...definitions.keys()].map((name) => [name, 0]));
  for (const name of [...definitions.values()].flatMap((names) => [...names])) {
    const count = references.get(name);
    if (count !== undefined) references.set(name, count + 1);
  }
  const free = [...references].flatMap(([name, count]) => (count === 0 ? [name] : []));
  let left = definitions.size;
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    left -= 1;
    for (const inner of definitions.get(name) ?? []) {
      const count = (references.get(inner) ?? 0) - 1;
      if (references.has(inner)) references.set(inner, count);
      if (count === 0) free.push(inner);
    }
  }
  return left > 0;
}

function referencesIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const reference = isJsonObject(next) ? next['$ref'] : null;
    if (typeof reference === 'string') found.add(reference);
    const members: readonly unknown[] = Array.isArray(next)
      ? next
      : isJsonObject(next)
        ? Object.values(next)
        : [];
    for (const member of members) {
      if (typeof member === 'object' && member !== null) open.push(member);
    }
  }
  return found;
}
