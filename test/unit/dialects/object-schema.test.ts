import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { objectSchema, objectSchemaWithProperties } from '../../../src/dialects/object-schema.ts';
import { clientDialects, upstreamDialects } from '../../../src/dialects/registry.ts';
import { callIn, sent } from './upstream-calls.ts';

const text = { type: 'string' };
const number = { type: 'number' };
const circle = {
  type: 'object',
  properties: { kind: text, radius: number },
  required: ['kind', 'radius'],
};
const square = {
  type: 'object',
  properties: { kind: text, side: number },
  required: ['kind', 'side'],
};

function rooted(schema: JsonObject) {
  const dropped = new Set<string>();
  return { schema: objectSchema(schema, dropped), dropped: [...dropped] };
}

it('an object stays the very one that it was', () => {
  const schema = { ...circle, additionalProperties: false, $defs: { any: {} } };
  expect(rooted(schema)).toEqual({ schema, dropped: [] });
  expect(objectSchema(schema, new Set())).toBe(schema);
});

it('what says no type is an object, with properties where they are wanted', () => {
  expect(rooted({ description: 'd' }).schema).toEqual({ description: 'd', type: 'object' });
  expect(objectSchemaWithProperties({}, new Set())).toEqual({ type: 'object', properties: {} });
});

it.each(['anyOf', 'oneOf'])(
  '%s among objects has the properties of all, and requires what each does',
  (key) => {
    expect(rooted({ title: 'Shape', [key]: [circle, square] })).toEqual({
      schema: {
        title: 'Shape',
        type: 'object',
        properties: { kind: text, radius: number, side: number },
        required: ['kind'],
      },
      dropped: [`parameters.${key}`],
    });
  },
);

it('allOf requires what any of them does, and says nothing less', () => {
  expect(rooted({ allOf: [circle, square] })).toEqual({
    schema: {
      type: 'object',
      properties: { kind: text, radius: number, side: number },
      required: ['kind', 'radius', 'side'],
    },
    dropped: [],
  });
});

it('a property that differs may be any of what it is', () => {
  const { schema } = rooted({ properties: { id: text }, anyOf: [{ properties: { id: number } }] });
  expect(schema).toMatchObject({ properties: { id: { anyOf: [text, number] } } });
});

it('a reference in place of the schema is followed, and those behind a choice', () => {
  const $defs = { Shape: { $ref: '#/$defs/a~1b' }, 'a/b': circle, Square: square };
  expect(rooted({ $ref: '#/$defs/Shape', $defs })).toEqual({
    schema: { ...circle, $defs },
    dropped: [],
  });
  const choice = rooted({ anyOf: [{ $ref: '#/$defs/Shape' }, { $ref: '#/$defs/Square' }], $defs });
  expect(choice.schema).toMatchObject({ properties: { radius: number, side: number }, $defs });
});

it('references that lead nowhere, in circles or elsewhere are left as they are', () => {
  for (const $ref of ['#/$defs/None', '#/$defs/Self', 'https://schemas.test/a']) {
    const $defs = { Self: { $ref: '#/$defs/Self' } };
    expect(rooted({ $ref, $defs }).schema).toMatchObject({ $ref, type: 'object' });
  }
});

it.each([
  ['of what its properties are not', [circle, text], circle.properties, ['kind', 'radius']],
  ['of what must be there', [{ required: ['a'] }, { required: ['b'] }], undefined, undefined],
  ['of nothing that is an object', [text, number], undefined, undefined],
  [
    'among choices',
    [{ oneOf: [circle, square] }, circle],
    { kind: text, radius: number, side: number },
    ['kind'],
  ],
])('a choice %s does not stand at the root either', (_name, anyOf, properties, required) => {
  const { schema, dropped } = rooted({ anyOf });
  expect(schema).toEqual({
    type: 'object',
    ...(properties === undefined ? {} : { properties }),
    ...(required === undefined ? {} : { required }),
  });
  expect(dropped).toContain('parameters.anyOf');
});

it('what allOf says beyond properties is named, and so is what is excluded at the root', () => {
  const when = { if: { required: ['kind'] }, else: { required: ['radius'] } };
  expect(rooted({ ...circle, allOf: [when] })).toEqual({
    schema: circle,
    dropped: ['parameters.allOf'],
  });
  expect(rooted({ ...circle, not: { required: ['x'] }, enum: [{}] })).toEqual({
    schema: circle,
    dropped: ['parameters.not', 'parameters.enum'],
  });
});

it('choices that multiply by their references end, and soon', () => {
  const again = { $ref: '#/$defs/Again' };
  const Again = { anyOf: [...Array.from({ length: 3000 }, () => again), circle] };
  expect(rooted({ ...again, $defs: { Again } }).schema).toMatchObject({ type: 'object' });
  const names = Array.from({ length: 3000 }, (_, nth) => `p${nth}`);
  const properties = Object.fromEntries(names.map((name) => [name, text]));
  const Wide = { type: 'object', properties, required: names };
  const anyOf = Array.from({ length: 900 }, () => ({ $ref: '#/$defs/Wide' }));
  expect(rooted({ anyOf, $defs: { Wide } }).schema).toMatchObject({ required: names });
});

const client = clientDialects.get('gemini');
it.each([...upstreamDialects.keys()].filter((name) => name !== 'gemini'))(
  'no tool goes to %s with a choice at its root',
  (name) => {
    const target = upstreamDialects.get(name);
    if (client === undefined || target === undefined) throw new Error(name);
    const declared = { name: 'draw', parametersJsonSchema: { anyOf: [circle, square] } };
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      tools: [{ functionDeclarations: [declared] }],
    };
    const { text: written, dropped } = sent(target, callIn(client, JSON.stringify(body)));
    expect(written).not.toContain('anyOf');
    expect(written).toContain('"side":{"type":"number"}');
    expect(dropped).toEqual(['parameters.anyOf']);
  },
);
