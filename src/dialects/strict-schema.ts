/** Whether a schema is one that strict mode takes: closed objects whose properties are all required. */
import { arrayAt, isJsonObject, type JsonObject } from '../base/json.ts';

/** Keywords that strict mode refuses (platform.openai.com, structured outputs, November 2026). */
const refused: readonly string[] = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'uniqueItems',
];

/** The formats of a text that strict mode knows: with others it refuses the schema. */
const formats: readonly unknown[] = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
];

/** A schema nested deeper is refused. */
const depthMax = 10;

export function isStrictSchema(schema: JsonObject): boolean {
  return schema['type'] === 'object' && !Object.hasOwn(schema, 'anyOf') && isStrict(schema, 0);
}

function isStrict(schema: unknown, depth: number): boolean {
  if (!isJsonObject(schema) || depth > depthMax) return false;
  if (refused.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  if (!isTyped(schema) || !isClosed(schema)) return false;
  return innerSchemas(schema).every((inner) => isStrict(inner, depth + 1));
}

/** A schema says what type it is of, or where that is said: nothing stands beside a reference. */
function isTyped({ $ref, type, anyOf, format, ...others }: JsonObject): boolean {
  if ($ref !== undefined) {
    const isAlone = type === undefined && anyOf === undefined && format === undefined;
    return isLocal($ref) && isAlone && Object.keys(others).every((key) => isDefinitions(key));
  }
  if (format !== undefined && !formats.includes(format)) return false;
  return type !== undefined || anyOf !== undefined;
}

function isLocal(reference: unknown): boolean {
  return typeof reference === 'string' && reference.startsWith('#');
}

function isDefinitions(key: string): boolean {
  return key === '$defs' || key === 'definitions';
}

function isClosed(schema: JsonObject): boolean {
  const { type, properties } = schema;
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (!isObject && properties === undefined) return true;
  if (schema['additionalProperties'] !== false) return false;
  const required = arrayAt(schema, 'required');
  return Object.keys(isJsonObject(properties) ? properties : {}).every((name) =>
    required.includes(name),
  );
}

function innerSchemas(schema: JsonObject): readonly unknown[] {
  const { items } = schema;
  return [
    ...valuesAt(schema, 'properties'),
    ...valuesAt(schema, '$defs'),
    ...valuesAt(schema, 'definitions'),
    ...arrayAt(schema, 'anyOf'),
    ...(items === undefined ? [] : [items]),
  ];
}

function valuesAt(schema: JsonObject, name: string): readonly unknown[] {
  const found = schema[name];
  return isJsonObject(found) ? Object.values(found) : [];
}
