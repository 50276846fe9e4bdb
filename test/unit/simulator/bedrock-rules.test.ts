/** What the simulated Bedrock refuses, and how. */
import { describe, expect, it } from 'vitest';
import { reasoningSignature } from '../../../src/simulator/vendors/bedrock/bedrock-signature.ts';
import { bedrockVendor } from '../../../src/simulator/vendors/bedrock/bedrock-vendor.ts';
import type { RequestHead, Route } from '../../../src/simulator/vendors/vendor.ts';

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const newClaude = 'anthropic.claude-opus-4-7-v1';
const nova = 'amazon.nova-2-lite-v1:0';
const llama = 'meta.llama4-maverick-17b-instruct-v1:0';

const headOf = (path: string): RequestHead => ({
  method: 'POST',
  path,
  query: new URLSearchParams(),
  headers: {},
});

function routeOf(model: string): Route {
  const route = bedrockVendor.route(headOf(`/model/${encodeURIComponent(model)}/converse`));
  if (route === null) throw new Error('no route');
  return route;
}

const text = (words: string) => ({ text: words });
const user = { role: 'user', content: [text('hi')] };
const says = (...content: object[]) => ({ role: 'user', content });
const answers = (...content: object[]) => ({ role: 'assistant', content });
const use = (toolUseId: string, name = 'f') => ({ toolUse: { toolUseId, name, input: {} } });
const result = (toolUseId: string, over: object = {}) => ({
  toolResult: { toolUseId, content: [text('1')], ...over },
});
const tool = (name = 'f', over: object = {}) => ({
  toolSpec: { name, inputSchema: { json: { type: 'object' } }, ...over },
});
const toolConfig = { tools: [tool()] };
const reasoning = (words: string, signature = reasoningSignature(words)) => ({
  reasoningContent: { reasoningText: { text: words, signature } },
});
const image = (format = 'png', bytes = 'aGk=') => ({ image: { format, source: { bytes } } });
const document = (name = 'notes', format = 'pdf') => ({
  document: { format, name, source: { bytes: 'aGk=' } },
});
const thinking = { thinking: { type: 'enabled', budget_tokens: 1024 } };
const schemaOf = (schema: unknown) => ({
  textFormat: {
    type: 'json_schema',
    structure: { jsonSchema: { name: 's', schema: JSON.stringify(schema) } },
  },
});

function complaint(body: object, model = claude): string | null {
  const fault = bedrockVendor.validate({ messages: [user], ...body }, routeOf(model), headOf('/'));
  if (fault !== null) expect(fault).toMatchObject({ status: 400, type: 'ValidationException' });
  return fault?.message ?? null;
}

const closed = { type: 'object', properties: {}, additionalProperties: false };

type Taken = readonly [name: string, body: object, model?: string];
type Refused = readonly [name: string, body: object, told: RegExp, model?: string];

const taken: readonly Taken[] = [
  ['a plain request', {}],
  [
    'a system text and a cache point',
    { system: [text('s'), { cachePoint: { type: 'default', ttl: '1h' } }] },
  ],
  [
    'limits and sampling',
    { inferenceConfig: { maxTokens: 1, temperature: 1, stopSequences: ['x'] } },
  ],
  ['both samplings, of another family', { inferenceConfig: { temperature: 0.5, topP: 0.5 } }, nova],
  [
    'images and a named document',
    { messages: [says(text('see'), image(), document('a (1) [b]-c'))] },
  ],
  [
    'a tool round trip, results in any order, text after them',
    {
      toolConfig,
      messages: [
        user,
        answers(use('a'), use('b')),
        says(result('b', { status: 'error' }), result('a'), text('and?')),
      ],
    },
  ],
  ['a forced tool', { toolConfig: { ...toolConfig, toolChoice: { tool: { name: 'f' } } } }],
  ['own reasoning sent back', { messages: [user, answers(reasoning('hm'), text('so')), user] }],
  [
    'a loop with its reasoning, thinking on',
    {
      toolConfig,
      additionalModelRequestFields: thinking,
      messages: [user, answers(reasoning('hm'), use('a')), says(result('a'))],
    },
  ],
  ['a prefill, of a model that takes one', { messages: [user, answers(text('So'))] }],
  ['a closed schema and an effort', { outputConfig: { ...schemaOf(closed), effort: 'high' } }],
  [
    'a tier, metadata and a guardrail',
    { serviceTier: { type: 'flex' }, requestMetadata: { user: 'a@b.c' }, guardrailConfig: {} },
  ],
];

describe('bedrock takes', () => {
  it.each(taken.map(([name, body, model = claude]) => [name, body, model] as const))(
    '%s',
    (_name, body, model) => {
      expect(complaint(body, model)).toBeNull();
    },
  );
});

const refused: readonly Refused[] = [
  ['an unknown field', { max_tokens: 1 }, /extraneous key \[max_tokens\]/],
  ['no messages', { messages: [] }, /messages field is empty/],
  [
    'text for content',
    { messages: [{ role: 'user', content: 'hi' }] },
    /content field .* is empty/,
  ],
  ['empty content', { messages: [says()] }, /content field .* is empty/],
  ['blank text', { messages: [says(text(' \n'))] }, /is blank/],
  ['blank system text', { system: [text('')] }, /system\.0 is blank/],
  ['a block of two members', { messages: [says({ text: 'a', image: {} })] }, /exactly one member/],
  ['a system role', { messages: [{ role: 'system', content: [text('s')] }] }, /user or assistant/],
  [
    'an assistant first',
    { messages: [answers(text('a')), user] },
    /must start with a user message/,
  ],
  ['two users in a row', { messages: [user, user] }, /must alternate/],
  ['a tool use of the user', { toolConfig, messages: [says(use('a'))] }, /no toolUse here/],
  [
    'a call without a result',
    { toolConfig, messages: [user, answers(use('a')), user] },
    /Expected toolResult blocks .*: a$/,
  ],
  [
    'a result without a call',
    { toolConfig, messages: [says(result('a'))] },
    /exceeds the number of toolUse/,
  ],
  [
    'two results of one call',
    { toolConfig, messages: [user, answers(use('a')), says(result('a'), result('a'))] },
    /exceeds the number/,
  ],
  [
    'one id twice',
    { toolConfig, messages: [user, answers(use('a'), use('a')), says(result('a'))] },
    /duplicate Ids/,
  ],
  [
    'a result without content',
    { toolConfig, messages: [user, answers(use('a')), says(result('a', { content: [] }))] },
    /is empty/,
  ],
  [
    'calls without tools',
    { messages: [user, answers(use('a')), says(result('a'))] },
    /toolConfig field must be defined/,
  ],
  [
    'an id that is too long',
    { toolConfig, messages: [user, answers(use('a'.repeat(65))), user] },
    /toolUseId/,
  ],
  ['a tool name with a dot', { toolConfig: { tools: [tool('a.b')] } }, /toolSpec\.name/],
  ['no tools', { toolConfig: { tools: [] } }, /at least 1 member/],
  ['one name twice', { toolConfig: { tools: [tool(), tool()] } }, /unique/],
  [
    'an empty description',
    { toolConfig: { tools: [tool('f', { description: '' })] } },
    /length at least 1/,
  ],
  [
    'a schema of no object',
    { toolConfig: { tools: [tool('f', { inputSchema: { json: {} } })] } },
    /must be one of the following: object/,
  ],
  [
    'a choice of none',
    { toolConfig: { ...toolConfig, toolChoice: { none: {} } } },
    /auto, any, tool/,
  ],
  [
    'a choice of an unknown tool',
    { toolConfig: { ...toolConfig, toolChoice: { tool: { name: 'g' } } } },
    /not among the tools/,
  ],
  [
    'a forced choice where none can be',
    { toolConfig: { ...toolConfig, toolChoice: { any: {} } } },
    /doesn't support/,
    llama,
  ],
  [
    'stop sequences where none can be',
    { inferenceConfig: { stopSequences: ['x'] } },
    /doesn't support/,
    llama,
  ],
  ['a blank stop sequence', { inferenceConfig: { stopSequences: [' '] } }, /non-whitespace/],
  ['a temperature above 1', { inferenceConfig: { temperature: 1.5 } }, /between 0 and 1/],
  ['a limit of 0', { inferenceConfig: { maxTokens: 0 } }, /greater than or equal to 1/],
  [
    'both samplings of a newer model',
    { inferenceConfig: { temperature: 0.5, topP: 0.5 } },
    /only one/,
  ],
  ['sampling of the newest', { inferenceConfig: { temperature: 0.5 } }, /not supported/, newClaude],
  [
    'an image of another type',
    { messages: [says(text('a'), image('tiff'))] },
    /must be one of png/,
  ],
  ['an image that is no base64', { messages: [says(image('png', '%'))] }, /not valid base64/],
  ['a document without text', { messages: [says(document())] }, /text block is required/],
  [
    'a document with a dot in its name',
    { messages: [says(text('a'), document('a.pdf'))] },
    /document file name/,
  ],
  [
    'two documents of one name',
    { messages: [says(text('a'), document(), document())] },
    /unique names/,
  ],
  [
    'foreign reasoning',
    { messages: [user, answers(reasoning('hm', 'c2ln')), user] },
    /Invalid `signature`/,
  ],
  [
    'a loop without its reasoning',
    {
      toolConfig,
      additionalModelRequestFields: thinking,
      messages: [user, answers(use('a')), says(result('a'))],
    },
    /must start with a thinking block/,
  ],
  [
    'thinking beside a forced tool',
    {
      toolConfig: { ...toolConfig, toolChoice: { any: {} } },
      additionalModelRequestFields: thinking,
    },
    /forces tool use/,
  ],
  [
    'a budget above the limit',
    { inferenceConfig: { maxTokens: 1000 }, additionalModelRequestFields: thinking },
    /greater than `thinking/,
  ],
  ['a prefill of a newer model', { messages: [user, answers(text('So'))] }, /prefill/, newClaude],
  ['a prefill of another family', { messages: [user, answers(text('So'))] }, /prefill/, nova],
  [
    'a prefill that ends in white space',
    { messages: [user, answers(text('So '))] },
    /trailing whitespace/,
  ],
  [
    'five cache points',
    {
      system: Array(5)
        .fill([text('s'), { cachePoint: { type: 'default' } }])
        .flat(),
    },
    /More than 4/,
  ],
  ['an open schema', { outputConfig: schemaOf({ type: 'object' }) }, /additionalProperties/],
  [
    'a schema that is no text',
    {
      outputConfig: {
        textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: {} } } },
      },
    },
    /not valid JSON/,
  ],
  ['an unknown effort', { outputConfig: { effort: 'minimal' } }, /effort/],
  ['an unknown tier', { serviceTier: { type: 'auto' } }, /serviceTier/],
  ['metadata of other characters', { requestMetadata: { user: 'é' } }, /requestMetadata/],
  ['the model of another service', {}, /model identifier is invalid/, 'gpt-5'],
];

describe('bedrock refuses', () => {
  it.each(refused.map(([name, body, told, model = claude]) => [name, body, told, model] as const))(
    '%s',
    (_name, body, expected, model) => {
      expect(complaint(body, model)).toMatch(expected);
    },
  );

  it('another path or method', () => {
    expect(bedrockVendor.route(headOf('/model/a/invoke'))).toBeNull();
    expect(bedrockVendor.route(headOf('/model/a/b/converse'))).toBeNull();
    expect(bedrockVendor.route({ ...headOf('/model/a/converse'), method: 'GET' })).toBeNull();
    expect(bedrockVendor.route(headOf('/model/%E0/converse'))).toBeNull();
  });

  it('no key and a wrong one with 403', () => {
    const sent = { body: Buffer.alloc(0), nowMs: 0 };
    const withKey = (key: string) => ({
      ...headOf('/'),
      headers: { authorization: `Bearer ${key}` },
    });
    expect(bedrockVendor.authorize(headOf('/'), 'any', sent)).toMatchObject({
      status: 403,
      type: 'MissingAuthenticationTokenException',
    });
    expect(bedrockVendor.authorize(withKey('a'), 'any', sent)).toBeNull();
    expect(bedrockVendor.authorize(withKey('a'), ['a'], sent)).toBeNull();
    expect(bedrockVendor.authorize(withKey('b'), ['a'], sent)).toMatchObject({
      status: 403,
      type: 'AccessDeniedException',
    });
    expect(bedrockVendor.authorize(withKey('AKID:SECRET'), ['AKID:SECRET'], sent)).not.toBeNull();
  });
});
