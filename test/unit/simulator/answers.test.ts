/** What the simulated models say: deterministic, within limits, and true to the schemas that they are given. */
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { composeAnswer } from '../../../src/simulator/compose-answer.ts';
import type { Prompt } from '../../../src/simulator/prompt.ts';
import { schemaInstance } from '../../../src/simulator/schema-instance.ts';
import {
  cutToTokens,
  estimateCachedTokens,
  estimateTokens,
  fragmentDeltas,
  textDeltas,
} from '../../../src/simulator/token-estimate.ts';

const plain: Prompt = {
  model: 'm',
  isStream: false,
  includeUsage: false,
  choices: 1,
  userText: 'What is the weather in Paris?',
  images: [],
  toolResults: [],
  partial: null,
  tools: [],
  toolUse: { kind: 'none' },
  allowsParallelCalls: true,
  output: { kind: 'text' },
  stops: [],
  outputTokensMax: null,
  inputTokens: 10,
  cachedTokens: 0,
  thinkingTokens: 0,
  showsThinking: false,
};

function answer(prompt: Partial<Prompt>) {
  let calls = 0;
  const nextCallId = (): string => {
    calls += 1;
    return `call_${calls}`;
  };
  return composeAnswer({ ...plain, ...prompt }, { vendorLabel: 'Vendor', nextCallId });
}

const weather = {
  name: 'get_weather',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const clock = { name: 'clock', schema: {} };
const offered = { tools: [weather, clock], toolUse: { kind: 'free' } } as const;

describe('an answer', () => {
  it('names who gave it and repeats what was said', () => {
    expect(answer({})).toMatchObject({
      text: 'This is a simulated answer from Vendor (m). You said: What is the weather in Paris?',
      end: 'complete',
      calls: [],
      usage: { input: 10, output: 21, thinking: 0 },
    });
    expect(answer({})).toEqual(answer({}));
  });

  it('mentions images by type and size', () => {
    const images = [
      { mediaType: 'image/png', bytes: 68 },
      { mediaType: 'image', bytes: null },
    ];
    expect(answer({ images }).text).toContain(
      'I see 2 images: image/png, 68 bytes; image by link.',
    );
    expect(answer({ images: images.slice(0, 1) }).text).toContain(
      'I see 1 image: image/png, 68 bytes.',
    );
  });

  it('has as many words as it is asked for', () => {
    const { text } = answer({ userText: 'Tell me a story in 200 words.' });
    expect(text.split(' ')).toHaveLength(200);
    expect(answer({ userText: 'in 3 words' }).text.split(' ')).toHaveLength(3);
  });

  it('ends before a stop sequence, the earliest one', () => {
    const stopped = answer({ stops: ['You', 'answer', 'none'] });
    expect(stopped).toMatchObject({
      text: 'This is a simulated ',
      end: 'stop_sequence',
      stopSequence: 'answer',
    });
  });

  it('ends at the limit, and thinking leaves room for an answer', () => {
    expect(answer({ outputTokensMax: 2 })).toMatchObject({
      text: 'This is ',
      end: 'length',
      usage: { output: 2 },
    });
    const both = answer({ outputTokensMax: 4, thinkingTokens: 50, showsThinking: true });
    expect(both).toMatchObject({
      text: 'This is ',
      end: 'length',
      usage: { output: 4, thinking: 2 },
    });
    expect(both.thinking).toContain('Paris');
    expect(answer({ outputTokensMax: 1_000 }).end).toBe('complete');
  });

  it('goes on from a prefill', () => {
    const partial = { isPrefill: true, anchor: '', askedText: 'hi' };
    const text = 'This is a sim';
    expect(answer({ partial: { ...partial, text } }).text).toMatch(/^ulated answer.*You said: hi$/);
    const other = { ...partial, text: 'Something else' };
    expect(answer({ partial: other }).text).toBe(' And here Vendor (m) goes on.');
  });
});

describe('a tool call', () => {
  it('is made when tools are offered, with arguments of the schema', () => {
    expect(answer(offered)).toMatchObject({
      text: '',
      end: 'tools',
      calls: [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' }],
    });
  });

  it('is made twice when asked in parallel, unless that is off', () => {
    const userText = 'Do it in parallel';
    const names = answer({ ...offered, userText }).calls.map(({ id, name }) => `${id} ${name}`);
    expect(names).toEqual(['call_1 get_weather', 'call_2 clock']);
    expect(answer({ ...offered, userText, tools: [clock] }).calls).toHaveLength(2);
    expect(answer({ ...offered, userText, allowsParallelCalls: false }).calls).toHaveLength(1);
  });

  it('follows the tool choice', () => {
    expect(answer({ ...offered, toolUse: { kind: 'none' } }).calls).toEqual([]);
    expect(
      answer({ ...offered, toolUse: { kind: 'required', names: ['clock'] } }).calls,
    ).toMatchObject([{ name: 'clock', arguments: '{}' }]);
  });

  it('is answered in text once its result is there, unless a call is demanded', () => {
    const toolResults = [{ name: 'get_weather', text: 'sunny' }];
    expect(answer({ ...offered, toolResults }).text).toContain(
      'The tool get_weather returned: sunny',
    );
    const required = { kind: 'required', names: null } as const;
    expect(answer({ ...offered, toolResults, toolUse: required }).end).toBe('tools');
  });

  it('does not fit into a small limit', () => {
    expect(answer({ ...offered, outputTokensMax: 3 })).toMatchObject({
      calls: [],
      text: '',
      end: 'length',
    });
  });
});

const ajv = new Ajv({ strict: false, formats: {} });

const schemas: readonly (readonly [string, JsonObject])[] = [
  [
    'an object',
    {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'boolean' } },
      required: ['a', 'b'],
      additionalProperties: false,
    },
  ],
  ['a list', { type: 'array', items: { type: 'number', minimum: 5 }, minItems: 3 }],
  [
    'unions and constants',
    {
      type: 'object',
      properties: {
        a: { type: ['string', 'null'] },
        b: { const: 7 },
        c: { enum: ['x', 'y'] },
        d: { anyOf: [{ type: 'null' }, { type: 'string', maxLength: 2 }] },
      },
      required: ['a', 'b', 'c', 'd'],
    },
  ],
  [
    'references',
    {
      $ref: '#/$defs/a',
      $defs: {
        a: { type: 'object', properties: { b: { $ref: '#/$defs/b' } }, required: ['b'] },
        b: { type: 'integer', exclusiveMinimum: 9, multipleOf: 5 },
      },
    },
  ],
  [
    'recursion',
    {
      $ref: '#/$defs/tree',
      $defs: {
        tree: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/tree' } },
          },
          required: ['name', 'children'],
        },
      },
    },
  ],
  [
    'recursion through an alternative',
    {
      $ref: '#/$defs/list',
      $defs: {
        list: {
          type: 'object',
          properties: { next: { anyOf: [{ $ref: '#/$defs/list' }, { type: 'null' }] } },
          required: ['next'],
        },
      },
    },
  ],
  [
    'allOf',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'integer', maximum: -3 } }, required: ['b'] },
      ],
    },
  ],
  [
    'bounded strings',
    {
      type: 'object',
      properties: {
        a: { type: 'string', minLength: 30 },
        b: { type: 'string', maxLength: 3 },
        c: { type: 'string', pattern: '^[A-Z]{3}-\\d{3}$' },
      },
      required: ['a', 'b', 'c'],
    },
  ],
  ['unique items', { type: 'array', items: { type: 'string' }, minItems: 3, uniqueItems: true }],
  [
    'a tuple',
    {
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'integer' }],
      minItems: 2,
      maxItems: 2,
    },
  ],
  [
    'ranges',
    {
      type: 'object',
      properties: {
        a: { type: 'number', minimum: -2, maximum: -1 },
        b: { type: 'integer', exclusiveMaximum: 0 },
      },
      required: ['a', 'b'],
    },
  ],
];

describe('an instance of a schema', () => {
  it.each(schemas)('conforms: %s', (_, schema) => {
    const validate = ajv.compile(schema);
    expect([validate(schemaInstance(schema, 'Paris')), validate.errors]).toEqual([true, null]);
    expect(schemaInstance(schema, 'Paris')).toEqual(schemaInstance(schema, 'Paris'));
  });

  it('takes the upper-case types of the OpenAPI subset', () => {
    const schema = {
      type: 'OBJECT',
      properties: { a: { type: 'STRING', nullable: true }, n: { type: 'INTEGER' } },
    };
    expect(schemaInstance(schema, '')).toEqual({ a: 'sample a', n: 1 });
  });

  it('is the text of a JSON answer', () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    expect(JSON.parse(answer({ output: { kind: 'json', schema } }).text)).toEqual({
      city: 'Paris',
    });
    expect(JSON.parse(answer({ output: { kind: 'json', schema: null } }).text)).toHaveProperty(
      'answer',
    );
  });

  it.each<readonly [string, JsonObject]>([
    ['a reference to itself', { $ref: '#' }],
    [
      'a loop of references',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    ['a list that must hold itself', { type: 'array', minItems: 50, items: { $ref: '#' } }],
    ['a huge list', { type: 'array', minItems: 1e9, items: { type: 'string' } }],
    ['a huge string', { type: 'string', minLength: 1e12 }],
    ['a pattern that backtracks', { type: 'string', pattern: '^(a+)+$' }],
    ['a broken pattern', { type: 'string', pattern: '(' }],
    ['a wide and deep object', wideAndDeep()],
  ])('ends soon for %s', (_, schema) => {
    const startedMs = performance.now();
    expect(JSON.stringify(schemaInstance(schema, '') ?? null).length).toBeLessThan(2_000_000);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});

function wideAndDeep(): JsonObject {
  let schema: JsonObject = { type: 'string' };
  for (let depth = 0; depth < 8; depth += 1) {
    const properties = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`p${index}`, schema]),
    );
    schema = { type: 'object', properties, required: Object.keys(properties) };
  }
  return schema;
}

describe('tokens', () => {
  it('deltas join to the text they came from, of any text', () => {
    const run = (text: string): void => {
      expect(textDeltas(text).join('')).toBe(text);
      expect(fragmentDeltas(text, 3).join('')).toBe(text);
    };
    fc.assert(fc.property(fc.string({ unit: 'binary' }), run), { seed: 5, numRuns: 300 });
  });

  it('a cut keeps pairs whole and counts at most what was asked', () => {
    const run = (text: string, tokens: number): void => {
      const cut = cutToTokens(text, tokens);
      expect(text.startsWith(cut)).toBe(true);
      expect(estimateTokens(cut)).toBeLessThanOrEqual(tokens);
      expect(cut.isWellFormed()).toBe(true);
    };
    fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.nat(20), run), {
      seed: 5,
      numRuns: 300,
    });
  });

  it('a cache holds whole blocks of long prompts only', () => {
    expect([0, 1_023, 1_024, 2_000].map(estimateCachedTokens)).toEqual([0, 0, 768, 1_536]);
  });
});
