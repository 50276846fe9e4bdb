/** Makes a value that conforms to a JSON Schema (or to Gemini's subset of it), the same one every time. */
import {
  arrayAt,
  isJsonObject,
  type JsonObject,
  numberAt,
  objectAt,
  stringAt,
} from '../base/json.ts';

const depthMax = 12;
const nodesMax = 2_000;
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
  const schema = resolved(walk, spot.schema);
  if (Object.hasOwn(schema, 'const')) return schema['const'];
  const values = arrayAt(schema, 'enum');
  if (values.length > 0) return values[0];
  const type = typeOf(schema, isExhausted(walk, spot));
  switch (type) {
    case 'object':
      return objectInstance(walk, schema, spot);
    case 'array':
      return arrayInstance(walk, schema, spot);
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

function isExhausted(walk: Walk, spot: Spot): boolean {
  return spot.depth >= depthMax || walk.nodes > nodesMax;
}

/** Follows `$ref` and folds `allOf` and the first alternative of `anyOf` / `oneOf` in. */
function resolved(walk: Walk, schema: unknown): JsonObject {
  let current: JsonObject = isJsonObject(schema) ? schema : {};
  for (let hops = 0; hops < depthMax; hops += 1) {
    const ref = stringAt(current, '$ref');
    const alternative = firstAlternative(walk, current);
    const all = arrayAt(current, 'allOf');
    if (ref !== null) current = { ...without(current, '$ref'), ...pointed(walk.root, ref) };
    else if (alternative !== null) {
      current = merged(without(current, 'anyOf', 'oneOf'), alternative);
    } else if (all.length > 0) {
      const rest = without(current, 'allOf');
      current = all.filter(isJsonObject).reduce(merged, rest);
    } else return current;
  }
  return without(current, '$ref', 'anyOf', 'oneOf', 'allOf');
}

function firstAlternative(walk: Walk, schema: JsonObject): JsonObject | null {
  const alternatives = [...arrayAt(schema, 'anyOf'), ...arrayAt(schema, 'oneOf')].filter(
    isJsonObject,
  );
  const isNull = (one: JsonObject): boolean => one['type'] === 'null';
  const isReference = (one: JsonObject): boolean => stringAt(one, '$ref') !== null;
  // A recursive schema ends only through its plain alternative, so once deep that one is taken.
  const order =
    walk.nodes > depthMax ? alternatives.toSorted(plainFirst(isReference)) : alternatives;
  return order.find((one) => !isNull(one)) ?? order[0] ?? null;
}

function plainFirst(isReference: (one: JsonObject) => boolean) {
  return (one: JsonObject, other: JsonObject): number =>
    Number(isReference(one)) - Number(isReference(other));
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

function objectInstance(walk: Walk, schema: JsonObject, spot: Spot): JsonObject {
  const required = arrayAt(schema, 'required').filter((name) => typeof name === 'string');
  const properties = objectAt(schema, 'properties') ?? {};
  const isDeep = isExhausted(walk, spot) || spot.depth >= 4;
  const names = isDeep ? required : [...new Set([...Object.keys(properties), ...required])];
  if (spot.depth > depthMax * 2) return {};
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

function arrayInstance(walk: Walk, schema: JsonObject, spot: Spot): readonly unknown[] {
  const least = Math.min(Number(schema['minItems'] ?? 0) || 0, arrayLengthMax);
  const most = numberAt(schema, 'maxItems') ?? arrayLengthMax;
  const wanted = isExhausted(walk, spot) ? least : Math.max(least, Math.min(1, most));
  const prefix = arrayAt(schema, 'prefixItems');
  const length = Math.max(wanted, isExhausted(walk, spot) ? 0 : Math.min(prefix.length, most));
  return Array.from({ length }, (_, index) => {
    const item = prefix[index] ?? schema['items'];
    const value = instanceOf(walk, { schema: item, name: spot.name, depth: spot.depth + 1 });
    const isNumbered = schema['uniqueItems'] === true && index > 0;
    return isNumbered && typeof value === 'string' ? `${value} ${index + 1}` : value;
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
