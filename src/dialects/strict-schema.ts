/** Whether a schema is one that strict mode takes: closed objects whose properties are all required. */
import { arrayAt, isJsonObject, type JsonObject } from '../base/json.ts';

/** Keywords that strict mode refuses (platform.openai.com, structured outputs, November 2026). */
const refused: readonly string[] = [
  'allOf',
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

/** A schema nested deeper is refused. */
const depthMax = 10;

export function isStrictSchema(schema: JsonObject): boolean {
  return schema['type'] === 'object' && !Object.hasOwn(schema, 'anyOf') && isStrict(schema, 0);
}

function isStrict(schema: unknown, depth: number): boolean {
  if (!isJsonObject(schema) || depth > depthMax) return false;
  if (refused.some((keyword) => Object.hasOwn(schema, keyword))) return false;
  if (!isClosed(schema)) return false;
  return innerSchemas(schema).every((inner) => isStrict(inner, depth + 1));
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
