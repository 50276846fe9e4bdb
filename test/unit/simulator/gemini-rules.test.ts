/** What the simulated Gemini refuses, and how. */
import { describe, expect, it } from 'vitest';
import { thoughtSignature } from '../../../src/simulator/vendors/gemini/gemini-signature.ts';
import { geminiVendor } from '../../../src/simulator/vendors/gemini/gemini-vendor.ts';
import type { AuthRule, RequestHead, Route } from '../../../src/simulator/vendors/vendor.ts';

const authorize = (head: RequestHead, rule: AuthRule) =>
  geminiVendor.authorize(head, rule, { body: Buffer.alloc(0), nowMs: 0 });

const head = (path: string, method = 'POST', headers = {}): RequestHead => {
  const url = new URL(path, 'http://localhost');
  return { method, path: url.pathname, query: url.searchParams, headers };
};
const routeOf = (model: string): Route => ({
  operation: 'generate',
  model,
  isStream: false,
  isArray: false,
});
const user = { role: 'user', parts: [{ text: 'hi' }] };

function complaint(body: object, model = 'gemini-2.5-flash'): string | null {
  const fault = geminiVendor.validate({ contents: [user], ...body }, routeOf(model), head('/'));
  if (fault !== null) expect(fault).toMatchObject({ status: 400, type: 'INVALID_ARGUMENT' });
  return fault?.message ?? null;
}

const call = (name = 'f', rest = {}) => ({ functionCall: { name, args: {} }, ...rest });
const asks = (...parts: object[]) => ({ role: 'model', parts });
const result = (name = 'f', response: unknown = { output: '1' }) => ({
  functionResponse: { name, response },
});
const gives = (...parts: object[]) => ({ role: 'user', parts });
const tools = (declaration: object) => ({
  tools: [{ functionDeclarations: [{ name: 'f', ...declaration }] }],
});
const config = (generationConfig: object) => ({ generationConfig });
const signed = { thoughtSignature: thoughtSignature('gemini-3-pro', 'f') };

describe('gemini takes', () => {
  it.each<[name: string, body: object, model?: string]>([
    ['a plain request', {}],
    [
      'snake case',
      {
        system_instruction: { parts: [{ text: 's' }] },
        generation_config: { max_output_tokens: 5, stop_sequences: ['a'] },
        tool_config: { function_calling_config: { mode: 'NONE' } },
      },
    ],
    ['content without a role', { contents: [{ parts: [{ text: 'hi' }] }] }],
    [
      'a round trip of two calls, with text after',
      { contents: [user, asks(call(), call('g')), gives(result(), result('g'), { text: 'so?' })] },
    ],
    ['an image', { contents: [gives({ inlineData: { mimeType: 'image/png', data: 'AAAA' } })] }],
    [
      'an empty last part that is signed',
      { contents: [user, asks({ text: 'a' }, { text: '', ...signed }), user] },
      'gemini-3-pro',
    ],
    [
      'the schema subset, a property called additionalProperties',
      tools({
        parameters: {
          type: 'OBJECT',
          properties: { additionalProperties: { type: 'string', nullable: true, enum: ['k'] } },
        },
      }),
    ],
    [
      'a real JSON Schema beside it',
      tools({
        parametersJsonSchema: {
          type: 'object',
          additionalProperties: false,
          properties: { a: { type: ['string', 'null'], const: 'k' } },
        },
      }),
    ],
    ['a declaration without parameters', tools({})],
    [
      'gemini 3 history with signatures',
      {
        contents: [
          user,
          asks(call('f', signed), call('g')),
          gives(result(), result('g')),
          asks(call('f', signed)),
          gives(result()),
        ],
      },
      'gemini-3-pro',
    ],
    [
      'a foreign history with the dummy',
      {
        contents: [
          user,
          asks(call('f', { thoughtSignature: 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=' })),
          gives(result()),
        ],
      },
      'gemini-3-pro',
    ],
    [
      'an earlier turn without signatures',
      { contents: [user, asks(call()), gives(result()), asks({ text: 'done' }), user] },
      'gemini-3-pro',
    ],
    ['2.5 without signatures', { contents: [user, asks(call()), gives(result())] }],
    [
      'JSON with a schema',
      config({
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      }),
    ],
  ])('%s', (_, body, model) => {
    expect(complaint(body, model)).toBeNull();
  });
});

describe('gemini refuses', () => {
  it.each<[name: string, body: object, words: string, model?: string]>([
    ['no contents', { contents: [] }, 'contents is not specified'],
    ['an unknown field', { tiergate: {} }, 'Unknown name "tiergate": Cannot find field'],
    ['a field of another vendor', { messages: [] }, 'Unknown name "messages"'],
    [
      'an unknown setting',
      config({ max_tokens: 5 }),
      `Unknown name "max_tokens" at 'generation_config'`,
    ],
    [
      'a role of another vendor',
      { contents: [{ role: 'assistant', parts: [{ text: 'a' }] }] },
      'valid role: user, model',
    ],
    ['no parts', { contents: [{ role: 'user', parts: [] }] }, 'parts must not be empty'],
    ['a part without data', { contents: [gives({})] }, 'must have one initialized field'],
    [
      'a part with two',
      { contents: [gives({ text: 'a', inlineData: { mimeType: 'a/b', data: 'AA' } })] },
      "oneof field 'data' is already set",
    ],
    [
      'an unknown part',
      { contents: [gives({ image_url: 'x' })] },
      'Unknown name "image_url" at \'contents[0].parts[0]\'',
    ],
    [
      'empty text',
      { contents: [gives({ text: '' })] },
      'contents[0].parts[0].text: must not be empty',
    ],
    [
      'an image that is none',
      { contents: [gives({ inlineData: { mimeType: 'image/png', data: '??' } })] },
      'Base64 decoding failed',
    ],
    [
      'an image without its type',
      { contents: [gives({ inlineData: { data: 'AAAA' } })] },
      'mime type is not specified',
    ],
    [
      'a result as text',
      { contents: [user, asks(call()), gives(result('f', '1'))] },
      "function_response.response' (type.googleapis.com/google.protobuf.Struct)",
    ],
    [
      'a result without content',
      { contents: [user, asks(call()), gives({ functionResponse: { name: 'f' } })] },
      'function_response.response',
    ],
    [
      'arguments as text',
      { contents: [user, asks({ functionCall: { name: 'f', args: '{}' } }), gives(result())] },
      'function_call.args',
    ],
    [
      'fewer results than calls',
      { contents: [user, asks(call(), call('g')), gives(result())] },
      'number of function response parts is equal',
    ],
    [
      'a call without its result',
      { contents: [user, asks(call()), user] },
      'number of function response parts is equal',
    ],
    [
      'a result without its call',
      { contents: [user, gives(result())] },
      'comes immediately after a function call turn',
    ],
    [
      'a call first',
      { contents: [asks(call()), gives(result())] },
      'function call turn comes immediately after a user turn',
    ],
    ['a call by the user', { contents: [gives(call())] }, 'not valid for this role'],
    [
      'gemini 3 history without a signature',
      { contents: [user, asks(call()), gives(result())] },
      'Function call is missing a thought_signature in functionCall parts',
      'gemini-3-pro',
    ],
    [
      'a second step without a signature',
      {
        contents: [
          user,
          asks(call('f', signed)),
          gives(result()),
          asks(call('g')),
          gives(result('g')),
        ],
      },
      'default_api:g` , position 4',
      'gemini-3-pro',
    ],
    [
      'the signature of another family',
      { contents: [user, asks(call('f', signed)), gives(result())] },
      'Corrupted thought signature',
    ],
    [
      'a signature that is no base64',
      { contents: [user, asks(call('f', { thoughtSignature: 'no base64!' })), gives(result())] },
      'Corrupted thought signature',
      'gemini-3-pro',
    ],
    [
      'additionalProperties in the subset',
      tools({
        parameters: {
          type: 'OBJECT',
          properties: { a: { type: 'OBJECT', additionalProperties: false } },
        },
      }),
      `Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters.properties[a].value'`,
    ],
    [
      '$schema in the subset',
      tools({ parameters: { $schema: 'x', type: 'object' } }),
      'Unknown name "$schema"',
    ],
    [
      'const in the subset',
      tools({ parameters: { type: 'object', properties: { a: { const: 1 } } } }),
      'Unknown name "const"',
    ],
    [
      'a list of types in the subset',
      tools({ parameters: { type: 'object', properties: { a: { type: ['string', 'null'] } } } }),
      'Proto field is not repeating',
    ],
    [
      'a number in an enum',
      tools({ parameters: { type: 'object', properties: { a: { enum: [1] } } } }),
      'TYPE_STRING',
    ],
    [
      'both kinds of schema',
      tools({ parameters: { type: 'OBJECT' }, parametersJsonSchema: {} }),
      'exclude each other',
    ],
    [
      'empty properties, on old models',
      tools({ parameters: { type: 'OBJECT', properties: {} } }),
      'should be non-empty for OBJECT type',
      'gemini-2.0-flash',
    ],
    [
      'a bad name',
      { tools: [{ functionDeclarations: [{ name: '1a' }] }] },
      'Invalid function name',
    ],
    [
      'a name twice',
      { tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'f' }] }] },
      'Duplicate function declaration found: f',
    ],
    [
      'tools of another vendor',
      { tools: [{ functionDeclarations: [{ name: 'f', input_schema: {} }] }] },
      'Unknown name "input_schema"',
    ],
    [
      'names without ANY',
      {
        ...tools({}),
        toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['f'] } },
      },
      'mode should be ANY',
    ],
    [
      'a name that is not declared',
      {
        ...tools({}),
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['g'] } },
      },
      "'g', which is not declared",
    ],
    [
      'a forced call without tools',
      { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      'without function_declarations',
    ],
    ['too much heat', config({ temperature: 3 }), 'temperature must be in the range'],
    ['half a token', config({ maxOutputTokens: 1.5 }), 'TYPE_INT32'],
    ['six stops', config({ stopSequences: ['1', '2', '3', '4', '5', '6'] }), 'at most 5'],
    ['so many logprobs', config({ responseLogprobs: true, logprobs: 21 }), 'in the range [0, 20]'],
    ['how many logprobs, without any', config({ logprobs: 2 }), 'only valid when'],
    [
      'logprobs, of gemini 3',
      config({ responseLogprobs: true }),
      'Logprobs is not enabled for models/gemini-3-pro',
      'gemini-3-pro',
    ],
    [
      'a schema for plain text',
      config({ responseSchema: { type: 'OBJECT' } }),
      'only allowed with response_mime_type application/json',
    ],
    [
      'JSON beside tools, before gemini 3',
      { ...tools({}), ...config({ responseMimeType: 'application/json' }) },
      'is unsupported',
    ],
    [
      'both thinking settings',
      config({ thinkingConfig: { thinkingBudget: 5, thinkingLevel: 'LOW' } }),
      'only set only one',
    ],
    [
      'a thinking level, before gemini 3',
      config({ thinkingConfig: { thinkingLevel: 'LOW' } }),
      'Thinking level is not supported',
    ],
    [
      'no thinking at all, on 2.5 pro',
      config({ thinkingConfig: { thinkingBudget: 0 } }),
      'only works in thinking mode',
      'gemini-2.5-pro',
    ],
    [
      'an image as system text',
      { systemInstruction: { parts: [{ inlineData: {} }] } },
      'text parts only',
    ],
  ])('%s', (_, body, words, model) => {
    expect(complaint(body, model)).toContain(words);
  });

  it('the model of another vendor as unknown', () => {
    const fault = geminiVendor.validate({ contents: [user] }, routeOf('gpt-4o'), head('/'));
    expect(fault).toMatchObject({ status: 404, type: 'NOT_FOUND' });
  });

  it('no key with 403 and a wrong one with 400', () => {
    expect(authorize(head('/'), 'any')).toMatchObject({
      status: 403,
      type: 'PERMISSION_DENIED',
    });
    expect(authorize(head('/?key=a'), ['a'])).toBeNull();
    expect(authorize(head('/', 'POST', { 'x-goog-api-key': 'b' }), ['a'])).toMatchObject({
      status: 400,
      details: [{ reason: 'API_KEY_INVALID' }],
    });
  });
});

describe('the routes of gemini', () => {
  it.each([
    [
      'POST',
      '/v1beta/models/m:generateContent',
      { operation: 'generate', model: 'm', isStream: false, isArray: false },
    ],
    [
      'POST',
      '/v1/models/m:streamGenerateContent?alt=sse',
      { operation: 'generate', model: 'm', isStream: true, isArray: false },
    ],
    [
      'POST',
      '/v1/models/m:streamGenerateContent',
      { operation: 'generate', model: 'm', isStream: true, isArray: true },
    ],
    ['POST', '/v1beta/models/m:countTokens', { operation: 'count', model: 'm' }],
    ['GET', '/v1beta/models', { operation: 'models', model: null }],
    ['GET', '/v1beta/models/m', { operation: 'models', model: 'm' }],
    ['GET', '/v1beta/models/m:generateContent', null],
    ['POST', '/v1beta/models/m:nothing', null],
    ['POST', '/v2/models/m:generateContent', null],
  ])('%s %s', (method, path, route) => {
    expect(geminiVendor.route(head(path, method))).toEqual(route);
  });

  it('counts what a generateContentRequest holds', () => {
    const route: Route = { operation: 'count', model: 'm' };
    const generateContentRequest = { model: 'models/m', contents: [user], systemInstruction: user };
    expect(geminiVendor.validate({ generateContentRequest }, route, head('/'))).toBeNull();
    expect(
      geminiVendor.validate({ contents: [user], tools: [] }, route, head('/'))?.message,
    ).toContain('Unknown name "tools"');
    const counted = geminiVendor.read({ generateContentRequest }, route).inputTokens;
    expect(counted).toBeGreaterThan(geminiVendor.read({ contents: [user] }, route).inputTokens);
  });
});
