/** Which schemas strict mode takes: one that it refuses would be the client's 400. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { isStrictSchema } from '../../../src/dialects/strict-schema.ts';

const text = { type: 'string' };

function holding(a: JsonObject, more: JsonObject = {}): JsonObject {
  const properties = { a };
  return { type: 'object', properties, required: ['a'], additionalProperties: false, ...more };
}

const $defs = { Node: holding({ anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] }) };

it.each([
  ['a text', holding(text)],
  ['a text or nothing', holding({ type: ['string', 'null'] })],
  ['one of several', holding({ anyOf: [text, { type: 'integer' }] })],
  ['a schema that refers to itself', holding({ $ref: '#/$defs/Node' }, { $defs })],
  ['a text of a known format', holding({ type: 'string', format: 'date-time' })],
])('%s is taken', (_name, schema) => {
  expect(isStrictSchema(schema)).toBe(true);
});

it.each([
  ['exactly one of several', holding({ oneOf: [text, { type: 'integer' }] })],
  ['anything', holding({ description: 'anything' })],
  ['one value of no type', holding({ enum: ['a', 'b'] })],
  [
    'a reference with words beside it',
    holding({ $ref: '#/$defs/Node', description: 'd' }, { $defs }),
  ],
  ['a reference elsewhere', holding({ $ref: 'https://schemas.test/a.json' })],
  ['a text of another format', holding({ type: 'string', format: 'uri' })],
  ['an open object', holding({ type: 'object', properties: {} })],
  ['a choice in place of the object', { anyOf: [holding(text)] }],
])('%s is refused', (_name, schema) => {
  expect(isStrictSchema(schema)).toBe(false);
});
