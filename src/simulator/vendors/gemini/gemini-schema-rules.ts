/** The subset of OpenAPI schemas that `parameters` and `responseSchema` take. */
import { isJsonObject, objectAt } from '../../../base/json.ts';
import type { VendorFault } from '../vendor.ts';
import { refusal } from './gemini-faults.ts';
import { nameSet, unknownField } from './proto-fields.ts';

const keywords =
  nameSet(`type format title description nullable enum items maxItems minItems properties
  required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default
  minimum maximum`);

const types = new Set([
  'STRING',
  'NUMBER',
  'INTEGER',
  'BOOLEAN',
  'ARRAY',
  'OBJECT',
  'NULL',
  'TYPE_UNSPECIFIED',
]);
const depthMax = 32;

/** The first complaint about a schema at `at` (a path in the body), or null. */
export function openApiSchemaFault(schema: unknown, at: string, depth = 0): VendorFault | null {
  if (!isJsonObject(schema)) return refusal(`Invalid value at '${at}': expected an object.`);
  if (depth > depthMax) return refusal(`Invalid JSON payload received. '${at}' nests too deeply.`);
  const unknown = unknownField(schema, keywords);
  if (unknown !== null) return unknownName(unknown, at);
  const type = schema['type'];
  if (type !== undefined && (typeof type !== 'string' || !types.has(type.toUpperCase()))) {
    return Array.isArray(type)
      ? refusal(
          `Invalid JSON payload received. Proto field is not repeating, cannot start list at '${at}.type'.`,
        )
      : refusal(
          `Invalid value at '${at}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type).`,
        );
  }
  const values = schema['enum'];
  if (
    values !== undefined &&
    (!Array.isArray(values) || !values.every((one) => typeof one === 'string'))
  ) {
    return refusal(`Invalid value at '${at}.enum[0]' (TYPE_STRING).`);
  }
  for (const [name, inner] of Object.entries(objectAt(schema, 'properties') ?? {})) {
    const fault = openApiSchemaFault(inner, `${at}.properties[${name}].value`, depth + 1);
    if (fault !== null) return fault;
  }
  const alternatives = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [];
  for (const [index, inner] of alternatives.entries()) {
    const fault = openApiSchemaFault(inner, `${at}.any_of[${index}]`, depth + 1);
    if (fault !== null) return fault;
  }
  return schema['items'] === undefined
    ? null
    : openApiSchemaFault(schema['items'], `${at}.items`, depth + 1);
}

export function unknownName(name: string, at: string | null): VendorFault {
  const where = at === null ? '' : ` at '${at}'`;
  return refusal(
    `Invalid JSON payload received. Unknown name "${name}"${where}: Cannot find field.`,
  );
}
