/** The caller's variables: checked against a variant's schema, and made harmless for a template. */
import { Ajv, type ErrorObject } from 'ajv';
import { isJsonObject, type JsonObject, property } from '../base/json.ts';
import { fail, type Result, success } from '../base/result.ts';

export type VariablesCheck = {
  /** Faults, each naming its variable, at most 20; empty = fine. */
  readonly faults: (variables: JsonObject) => readonly string[];
  readonly required: readonly string[];
  /** Names that the schema declares; null = any name may be used. */
  readonly declared: ReadonlySet<string> | null;
};

const faultsMax = 20;
const depthMax = 64;

export const uncheckedVariables: VariablesCheck = {
  faults: () => [],
  required: [],
  declared: null,
};

/** Compiles the schema; the fault says why it is none. */
export function variablesCheck(schema: JsonObject): Result<VariablesCheck, string> {
  if (property(schema, '$async') !== undefined) return fail('$async is not known here');
  try {
    const ajv = new Ajv({
      allErrors: true,
      strict: false,
      validateFormats: false,
      addUsedSchema: false,
    });
    const validate = ajv.compile(schema);
    const properties = property(schema, 'properties');
    const required = property(schema, 'required');
    return success({
      faults: (variables) => {
        if (validate(variables)) return [];
        return (validate.errors ?? []).slice(0, faultsMax).map(faultText);
      },
      required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
      declared:
        isJsonObject(properties) && !hasOpenNames(schema) ? new Set(Object.keys(properties)) : null,
    });
  } catch (error) {
    return fail(error instanceof Error ? error.message.slice(0, 200) : 'is not a schema');
  }
}

/** Whether the schema lets in names that it does not list on purpose. */
function hasOpenNames(schema: JsonObject): boolean {
  const rest = property(schema, 'additionalProperties');
  const isOpen = rest !== undefined && rest !== false;
  return (
    isOpen || ['patternProperties', 'allOf', 'anyOf', 'oneOf', '$ref'].some((key) => key in schema)
  );
}

function faultText(error: ErrorObject): string {
  const place = `variables${error.instancePath.replaceAll('/', '.')}`;
  const parameters: JsonObject = error.params;
  if (error.keyword === 'required')
    return `${place}.${String(parameters['missingProperty'])} is missing`;
  if (error.keyword === 'additionalProperties') {
    return `${place}.${String(parameters['additionalProperty']).slice(0, 64)} is not known`;
  }
  if (error.keyword === 'enum' && Array.isArray(parameters['allowedValues'])) {
    return `${place} must be one of ${parameters['allowedValues'].map(String).join(', ')}`;
  }
  return `${place} ${error.message ?? 'is not valid'}`;
}

/** Objects print as JSON, whatever their members are called: a `toString` of the caller's is data. */
const printable: object = Object.assign(Object.create(null), {
  [Symbol.toPrimitive](this: unknown): string {
    return JSON.stringify(this);
  },
});

/** A copy of JSON values that a template can only read; null when it is nested too deeply. */
export function templateData(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= depthMax) return null;
  if (Array.isArray(value)) return value.map((item) => templateData(item, depth + 1));
  const copy: Record<string, unknown> = Object.create(printable);
  for (const [key, item] of Object.entries(value)) copy[key] = templateData(item, depth + 1);
  return copy;
}
