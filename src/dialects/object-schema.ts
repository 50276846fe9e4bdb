/**
 * The schema of a tool's parameters for services that take only that of an object, with no choice and no
 * reference in place of it.
 */
import { arrayAt, isJsonObject, type JsonObject, property } from '../base/json.ts';

/** References that lead to references. */
const stepsMax = 8;

const choices = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * `parameters` with an object at its root, as it is where one stands there. Of a choice among objects the
 * properties of all are taken, and the choice is named in `dropped`: no property is lost, and what the choice
 * forbids is left to the model.
 */
export function objectSchema(parameters: JsonObject, dropped: Set<string>): JsonObject {
  const resolved = resolve(parameters, parameters);
  const merged = choices.reduce((schema, key) => mergedChoice(schema, key, dropped), resolved);
  return merged['type'] === 'object' ? merged : { ...merged, type: 'object' };
}

/** The same for services that want the properties named, if there are none. */
export function objectSchemaWithProperties(
  parameters: JsonObject,
  dropped: Set<string>,
): JsonObject {
  const schema = objectSchema(parameters, dropped);
  return Object.hasOwn(schema, 'properties') ? schema : { ...schema, properties: {} };
}

/** `schema` with what it refers to in the place of the reference; one that leads nowhere stays. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  let found = schema;
  for (let step = 0; step < stepsMax; step += 1) {
    const { $ref, ...rest } = found;
    if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return found;
    const target = $ref.slice(2).split('/').reduce<unknown>(inside, root);
    if (!isJsonObject(target)) return found;
    found = { ...target, ...rest };
  }
  return found;
}

/** A step of a JSON pointer. */
function inside(value: unknown, segment: string): unknown {
  return property(value, segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function mergedChoice(
  schema: JsonObject,
  key: (typeof choices)[number],
  dropped: Set<string>,
): JsonObject {
  const branches = arrayAt(schema, key).map((branch) =>
    isJsonObject(branch) ? resolve(branch, schema) : {},
  );
  if (branches.length === 0 || !branches.every(isObject)) return schema;
  if (key !== 'allOf') dropped.add(`parameters.${key}`);
  const { [key]: _, ...rest } = schema;
  const required = requiredOf(branches, key === 'allOf');
  const own = arrayAt(schema, 'required');
  return {
    ...rest,
    type: 'object',
    properties: allProperties([schema, ...branches]),
    ...(own.length + required.length === 0
      ? {}
      : { required: [...new Set([...own, ...required])] }),
  };
}

function isObject(branch: JsonObject): boolean {
  return branch['type'] === 'object' || isJsonObject(branch['properties']);
}

/** Of a choice only what each of it requires. */
function requiredOf(branches: readonly JsonObject[], isOfAny: boolean): readonly unknown[] {
  const lists = branches.map((branch) => arrayAt(branch, 'required'));
  const all = [...new Set(lists.flat())];
  return isOfAny ? all : all.filter((name) => lists.every((list) => list.includes(name)));
}

/** A property that is not the same everywhere may be any of what it is. */
function allProperties(schemas: readonly JsonObject[]): JsonObject {
  const found = new Map<string, Map<string, unknown>>();
  for (const { properties } of schemas) {
    for (const [name, value] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const forms = found.get(name) ?? new Map<string, unknown>();
      forms.set(JSON.stringify(value), value);
      found.set(name, forms);
    }
  }
  return Object.fromEntries(
    [...found].map(([name, forms]) => {
      const [only, ...others] = forms.values();
      return [name, others.length === 0 ? only : { anyOf: [...forms.values()] }];
    }),
  );
}
