/**
 * The schema of a tool's parameters for services that take only that of an object, with no choice and no
 * reference in place of it.
 */
import { arrayAt, isJsonObject, type JsonObject, property } from '../base/json.ts';

/** References that lead to references. */
const stepsMax = 8;

const choices = ['anyOf', 'oneOf', 'allOf'] as const;
type Choice = (typeof choices)[number];

/** What else of a whole schema is refused there. */
const exclusions: readonly string[] = ['not', 'enum', 'const'];

/** Choices that stand in choices, and what all of them leave to choose from: references multiply them. */
const depthMax = 8;
const branchesMax = 1000;

/**
 * `parameters` with an object at its root, as it is where one stands there. Of a choice the properties of
 * all the objects are taken, and the choice is named in `dropped`: no property is lost, and what the choice
 * forbids is left to the model.
 */
export function objectSchema(parameters: JsonObject, dropped: Set<string>): JsonObject {
  const reading = { root: parameters, dropped, branchesLeft: branchesMax };
  const merged = withoutChoices(resolve(parameters, parameters), reading, 0);
  const schema = withoutExclusions(merged, dropped);
  return schema['type'] === 'object' ? schema : { ...schema, type: 'object' };
}

type Reading = { readonly root: JsonObject; readonly dropped: Set<string>; branchesLeft: number };

function withoutChoices(schema: JsonObject, reading: Reading, depth: number): JsonObject {
  return choices.reduce((merged, key) => {
    if (!Array.isArray(merged[key])) return merged;
    const branches: JsonObject[] = [];
    for (const branch of arrayAt(merged, key)) {
      reading.branchesLeft -= 1;
      if (reading.branchesLeft < 0 || depth >= depthMax) break;
      if (!isJsonObject(branch)) continue;
      const inner = withoutChoices(resolve(branch, reading.root), reading, depth + 1);
      if (mayBeObject(inner)) branches.push(inner);
    }
    return mergedChoice(merged, key, branches, reading.dropped);
  }, schema);
}

function withoutExclusions(schema: JsonObject, dropped: Set<string>): JsonObject {
  const refused = exclusions.filter((key) => Object.hasOwn(schema, key));
  if (refused.length === 0) return schema;
  for (const key of refused) dropped.add(`parameters.${key}`);
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !refused.includes(key)));
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

/** `branches`: what of the choice an object can be. */
function mergedChoice(
  schema: JsonObject,
  key: Choice,
  branches: readonly JsonObject[],
  dropped: Set<string>,
): JsonObject {
  if (key !== 'allOf' || branches.length === 0 || !branches.every(isMergedWhole)) {
    dropped.add(`parameters.${key}`);
  }
  const { [key]: _, ...rest } = schema;
  const required = requiredOf(branches, key === 'allOf');
  const own = arrayAt(schema, 'required');
  const properties = allProperties([schema, ...branches]);
  return {
    ...rest,
    type: 'object',
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(own.length + required.length === 0
      ? {}
      : { required: [...new Set([...own, ...required])] }),
  };
}

/** A branch that says no type only narrows what stands around it. */
function mayBeObject({ type }: JsonObject): boolean {
  return (
    type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
  );
}

/** What is merged of a branch, what only describes it, and what closes it: with others it must be open. */
const mergedKeywords: readonly string[] = [
  'type',
  'properties',
  'required',
  'additionalProperties',
  'title',
  'description',
];

function isMergedWhole(branch: JsonObject): boolean {
  return Object.keys(branch).every((key) => mergedKeywords.includes(key));
}

/** Of a choice only what each of it requires. */
function requiredOf(branches: readonly JsonObject[], isOfAny: boolean): readonly unknown[] {
  const lists = [...new Set(branches.map((branch) => arrayAt(branch, 'required')))];
  if (isOfAny) return [...new Set(lists.flat())];
  const [first = [], ...others] = lists;
  const sets = others.map((list) => new Set(list));
  return first.filter((name) => sets.every((names) => names.has(name)));
}

/** A property that is not the same everywhere may be any of what it is. */
function allProperties(schemas: readonly JsonObject[]): JsonObject {
  const found = new Map<string, Map<string, unknown>>();
  for (const properties of new Set(schemas.map((schema) => schema['properties']))) {
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
