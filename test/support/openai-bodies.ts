/** Bodies as clients of openai-chat send them: conversations with tools, media and parameters of every kind. */
import fc from 'fast-check';

type Json = { readonly [key: string]: unknown };

const words = fc.constantFrom('', ' ', 'hi', 'two words ', '\n', 'grüße 🌍');
const textPart = words.map((text) => ({ type: 'text', text }));
const imagePart = fc
  .constantFrom('data:image/png;base64,iVBORw0KGgo=', 'https://example.com/a.png')
  .map((url) => ({ type: 'image_url', image_url: { url, detail: 'auto' } }));
const filePart = fc
  .constantFrom('data:application/pdf;base64,JVBERi0=', 'data:text/plain;base64,aGk=')
  .map((file_data) => ({ type: 'file', file: { filename: 'a', file_data } }));
const content = fc.oneof(
  words,
  fc.array(fc.oneof(textPart, imagePart, filePart), { minLength: 1, maxLength: 3 }),
);

const plain: fc.Arbitrary<Json> = fc.oneof(
  words.map((text) => ({ role: 'system', content: text })),
  content.map((each) => ({ role: 'user', content: each })),
  words.map((text) => ({ role: 'assistant', content: text, reasoning_content: 'private' })),
);

const toolNames = ['f', 'get_weather', '9lives', '-x'];
const callIds = fc.constantFrom('call_0', 'call_1', 'functions.Bash:0', 'x'.repeat(90), 'tgs_odd');
const oneCall = fc.record({
  id: callIds,
  name: fc.constantFrom(...toolNames),
  text: fc.constantFrom('', '{}', '{"a":1.0,"b":[{}]}', '{"deep":{"er":null}}'),
});

/** Calls with their results, in some order, and what the user said among them. */
const round: fc.Arbitrary<readonly Json[]> = fc
  .tuple(
    fc.uniqueArray(oneCall, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
    fc.boolean(),
    fc.boolean(),
    words,
  )
  .map(([calls, isReversed, isInterrupted, said]) => {
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: said }));
    const ordered = isReversed ? results.toReversed() : results;
    const tool_calls = calls.map(({ id, name, text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }));
    return [
      { role: 'assistant', content: said === '' ? null : said, tool_calls },
      ...ordered,
      ...(isInterrupted ? [{ role: 'user', content: 'by the way' }] : []),
    ];
  });

const messages = fc
  .tuple(
    fc.array(plain, { maxLength: 3 }),
    fc.array(fc.tuple(round, fc.array(plain, { maxLength: 2 })), { maxLength: 3 }),
    fc.boolean(),
  )
  .map(([start, rounds, endsWithUser]) => [
    ...start,
    ...rounds.flatMap(([calls, after]) => [...calls, ...after]),
    ...(endsWithUser || start.length + rounds.length === 0
      ? [{ role: 'user', content: 'go' }]
      : []),
  ]);

const schema: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  { type: 'object', properties: {} },
  { type: 'object', properties: { a: { type: ['string', 'null'], const: 'k' } }, required: ['a'] },
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { list: { type: 'array', items: { $ref: '#/$defs/n' } } },
    $defs: { n: { type: 'integer', exclusiveMinimum: 1 } },
    additionalProperties: false,
  },
  {
    type: 'object',
    properties: {
      additionalProperties: { type: 'string', minLength: 1, format: 'uri' },
      choice: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
      either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    },
  },
  { type: 'object', additionalProperties: { type: 'string' } },
);

const tools = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...toolNames),
    parameters: fc.option(schema),
    strict: fc.boolean(),
  }),
  { maxLength: 3, selector: ({ name }) => name },
);

function toolFields(
  offered: readonly { name: string; parameters: Json | null; strict: boolean }[],
) {
  const first = offered[0]?.name;
  if (first === undefined) return fc.constant({});
  return fc
    .record({
      tool_choice: fc.constantFrom(
        'auto',
        'none',
        'required',
        { type: 'function', function: { name: first } },
        undefined,
      ),
      parallel_tool_calls: fc.constantFrom(true, false, undefined),
    })
    .map((choice) => ({
      ...choice,
      tools: offered.map(({ name, parameters, strict }) => ({
        type: 'function',
        function: {
          name,
          description: name,
          strict,
          ...(parameters === null ? {} : { parameters }),
        },
      })),
    }));
}

const parameters = fc.record(
  {
    max_tokens: fc.integer({ min: 1, max: 100_000 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.double({ min: 0.1, max: 1, noNaN: true }),
    stop: fc.constantFrom('END', ['a', 'b']),
    seed: fc.integer({ min: 0, max: 1000 }),
    presence_penalty: fc.constantFrom(0.5),
    reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
    response_format: fc.oneof(
      fc.constant({ type: 'json_object' }),
      schema.map((each) => ({
        type: 'json_schema',
        json_schema: { name: 'n', schema: each, strict: true },
      })),
    ),
    user: fc.constant('u'),
    service_tier: fc.constantFrom('auto', 'default', 'flex'),
    stream: fc.boolean(),
  },
  { requiredKeys: [] },
);

export const openaiBodies: fc.Arbitrary<Json> = fc
  .tuple(messages, tools.chain(toolFields), parameters)
  .map(([all, offered, rest]) => ({ model: 'fast', messages: all, ...offered, ...rest }));
