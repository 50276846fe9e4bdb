/** Makes a value that conforms to a JSON Schema (or to Gemini's subset of it), the same one every time. */
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  numberAt,
  objectAt,
  stringAt,
} from '../base/json.ts';

/** From here on an instance is kept minimal: required properties, shortest lists, null where it may be. */
const minimalFromDepth = 4;
const minimalFromNodes = 500;
/** Beyond these null stands for whatever was due: a schema that asks for endless values gets a near miss. */
const depthMax = 24;
const nodesMax = 2_000;
const hopsMax = 12;
const stringLengthMax = 10_000;
const arrayLengthMax = 100;

type Walk = { readonly root: JsonObject; readonly hint: string; nodes: number };

/** `hint` (a user's words) flavours free strings. A schema that no value satisfies gives a near miss. */
export function schemaInstance(schema: JsonObject, hint: string): unknown {
  return instanceOf({ root: schema, hint, nodes: 0 }, { schema, name: 'value', depth: 0 });
}

type Spot = { readonly schema: unknown; readonly name: string; readonly depth: number };

function instanceOf(walk: Walk, spot: Spot): unknown {
  walk.nodes += 1;
  if (spot.depth > depthMax || walk.nodes > nodesMax) return null;
  const isMinimal = spot.depth >= minimalFromDepth || walk.nodes > minimalFromNodes;
  const schema = resolved(walk.root, spot.schema, isMinimal);
  if (Object.hasOwn(schema, 'const')) return schema['const'];
  const values = arrayAt(schema, 'enum');
  if (values.length > 0) return values[0];
  const type = typeOf(schema, isMinimal);
  switch (type) {
    case 'object':
      return objectInstance(walk, schema, { ...spot, isMinimal });
    case 'array':
      return arrayInstance(walk, schema, { ...spot, isMinimal });
    case 'string':
      return stringInstance(walk, schema, spot.name);
    case 'integer':
    case 'number':
      return numberInstance(schema, type === 'integer');
    case 'boolean':
      return true;
    default:
      return null;
  }
}

type InnerSpot = Spot & { readonly isMinimal: boolean };

/** Follows `$ref` and folds `allOf` and one alternative of `anyOf` / `oneOf` in. */
function resolved(root: JsonObject, schema: unknown, isMinimal: boolean): JsonObject {
  let current: JsonObject = isJsonObject(schema) ? schema : {};
  for (let hops = 0; hops < hopsMax; hops += 1) {
    const ref = stringAt(current, '$ref');
    const alternative = chosenAlternative(current, isMinimal);
    const all = arrayAt(current, 'allOf');
    if (ref !== null) current = { ...without(current, '$ref'), ...pointed(root, ref) };
    else if (alternative !== null) {
      current = merged(without(current, 'anyOf', 'oneOf'), alternative);
    } else if (all.length > 0) {
      current = all.filter(isJsonObject).reduce(merged, without(current, 'allOf'));
    } else return current;
  }
  return without(current, '$ref', 'anyOf', 'oneOf', 'allOf');
}

/** The first that is not null; when minimal, null or what refers to nothing: so recursion ends. */
function chosenAlternative(schema: JsonObject, isMinimal: boolean): JsonObject | null {
  const all = [...arrayAt(schema, 'anyOf'), ...arrayAt(schema, 'oneOf')].filter(isJsonObject);
  const isNull = (one: JsonObject): boolean => one['type'] === 'null';
  const isPlain = (one: JsonObject): boolean => stringAt(one, '$ref') === null;
  const wanted = isMinimal
    ? (all.find(isNull) ?? all.find(isPlain))
    : all.find((one) => !isNull(one));
  return wanted ?? all[0] ?? null;
}

function merged(one: JsonObject, other: JsonObject): JsonObject {
  const properties = { ...objectAt(one, 'properties'), ...objectAt(other, 'properties') };
  const required = [...arrayAt(one, 'required'), ...arrayAt(other, 'required')];
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

function without(schema: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => !names.includes(name)));
}

/** A JSON pointer inside the document (`#/$defs/x`); anything else is an open schema. */
function pointed(root: JsonObject, ref: string): JsonObject {
  let found: unknown = root;
  for (const step of ref.replace(/^#\/?/, '').split('/')) {
    if (step === '') continue;
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return isJsonObject(found) ? found : {};
}

function typeOf(schema: JsonObject, isDeep: boolean): string {
  const declared = schema['type'];
  const types = (Array.isArray(declared) ? declared : [declared])
    .filter((type) => typeof type === 'string')
    .map((type) => type.toLowerCase());
  if (isDeep && (types.includes('null') || schema['nullable'] === true)) return 'null';
  const named = types.find((type) => type !== 'null') ?? types[0];
  if (named !== undefined) return named;
  if (objectAt(schema, 'properties') !== null) return 'object';
  return schema['items'] !== undefined ? 'array' : 'string';
}

function objectInstance(walk: Walk, schema: JsonObject, spot: InnerSpot): JsonObject {
  const required = arrayAt(schema, 'required').filter((name) => typeof name === 'string');
  const properties = objectAt(schema, 'properties') ?? {};
  const names = spot.isMinimal ? required : [...new Set([...Object.keys(properties), ...required])];
  return Object.fromEntries(
    names.map((name) => [
      name,
      instanceOf(walk, {
        schema: Object.hasOwn(properties, name) ? properties[name] : {},
        name,
        depth: spot.depth + 1,
      }),
    ]),
  );
}

function arrayInstance(walk: Walk, schema: JsonObject, spot: InnerSpot): readonly unknown[] {
  const least = Math.min(numberAt(schema, 'minItems') ?? 0, arrayLengthMax);
  const most = numberAt(schema, 'maxItems') ?? arrayLengthMax;
  const prefix = arrayAt(schema, 'prefixItems');
  const wanted = spot.isMinimal ? 0 : Math.min(Math.max(1, prefix.length), most, arrayLengthMax);
  return Array.from({ length: Math.max(least, wanted) }, (_, index) => {
    const item = prefix[index] ?? schema['items'];
    const value = instanceOf(walk, { schema: item, name: spot.name, depth: spot.depth + 1 });
    if (schema['uniqueItems'] !== true || index === 0) return value;
    return typeof value === 'string' ? `${value} ${index + 1}` : value;
  });
}

const formats: { readonly [format: string]: string } = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'PT1M',
  email: 'sample@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/sample',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function stringInstance(walk: Walk, schema: JsonObject, name: string): string {
  const format = stringAt(schema, 'format');
  const formatted = format === null ? undefined : formats[format];
  if (formatted !== undefined) return formatted;
  const given = arrayAt(schema, 'examples')[0] ?? schema['example'] ?? schema['default'];
  if (typeof given === 'string') return given;
  const pattern = stringAt(schema, 'pattern');
  if (pattern !== null) return patternInstance(pattern);
  const least = Math.min(numberAt(schema, 'minLength') ?? 0, stringLengthMax);
  const most = Math.min(numberAt(schema, 'maxLength') ?? stringLengthMax, stringLengthMax);
  return (walk.hint === '' ? `sample ${name}` : walk.hint).padEnd(least, 'x').slice(0, most);
}

/** Candidates that common patterns take; a pattern that takes none gets a near miss. */
const patternCandidates = [
  'sample',
  'Sample',
  'SAMPLE',
  'S',
  'AB',
  'ABC',
  'ABC-123',
  'a',
  '1',
  '12',
  '123',
  '1234',
  '12345',
  '123-456',
  '2026-01-01',
  '12:00',
  '#a1b2c3',
  '1.0.0',
  'sample@example.com',
  'https://example.com',
  '+15550100',
  '',
];

function patternInstance(pattern: string): string {
  // A foreign pattern is judged before it runs: a nested repetition could backtrack for ever.
  if (pattern.length > 200 || /[+*}]\)+[+*{]/.test(pattern)) return 'sample';
  try {
    const matcher = new RegExp(pattern, 'u');
    return patternCandidates.find((candidate) => matcher.test(candidate)) ?? 'sample';
  } catch {
    return 'sample';
  }
}

function numberInstance(schema: JsonObject, isInteger: boolean): number {
  const step = numberAt(schema, 'multipleOf') ?? (isInteger ? 1 : 0.5);
  const least = numberAt(schema, 'minimum') ?? stepPast(numberAt(schema, 'exclusiveMinimum'), step);
  const most = numberAt(schema, 'maximum') ?? stepPast(numberAt(schema, 'exclusiveMaximum'), -step);
  const wanted = Math.min(Math.max(isInteger ? 1 : 1.5, least ?? -Infinity), most ?? Infinity);
  const stepped = Math.ceil(wanted / step) * step;
  if (!isInteger && numberAt(schema, 'multipleOf') === null) return wanted;
  return most !== null && stepped > most ? Math.floor(most / step) * step : stepped;
}

function stepPast(bound: number | null, step: number): number | null {
  return bound === null ? null : bound + step;
}
