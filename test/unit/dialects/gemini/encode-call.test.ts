import { describe, expect, it } from 'vitest';
import type { UpstreamCall } from '../../../../src/dialects/dialect.ts';
import { geminiUpstream as dialect } from '../../../../src/dialects/gemini/upstream.ts';
import { callOf, faultOf, type Json, owning, sent, tool, user } from '../upstream-calls.ts';

const hi = { messages: [user('hi')] };

function send(body: Json, overrides: Partial<UpstreamCall> = {}) {
  return sent(dialect, callOf({ ...hi, ...body }, { model: 'gemini-2.5-flash', ...overrides }));
}

describe('the body', () => {
  it('holds nothing that was not asked for, and no model: the URL names it', () => {
    expect(send({ stream: true }).body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    });
  });

  it('holds the variant around the leading system text', () => {
    const messages = [{ role: 'system', content: 'mine' }, user('hi')];
    const { at } = send({ messages }, { system: { before: 'first', after: 'last' } });
    expect(at('systemInstruction.parts.0.text')).toBe('first\n\nmine\n\nlast');
  });

  it('holds the fields of the target above what was translated', () => {
    const extraFields = { generationConfig: { topK: 3 }, safetySettings: [{ category: 'X' }] };
    const { body } = send({ temperature: 0.5 }, { extraFields });
    expect(body['generationConfig']).toEqual({ temperature: 0.5, topK: 3 });
    expect(body['safetySettings']).toEqual(extraFields.safetySettings);
  });

  it('is the same for the same request', () => {
    const body = { ...hi, tools: [tool('f', { type: 'object' }), tool('g')], seed: 1 };
    expect(send(body).text).toBe(send(body).text);
  });
});

describe('parameters', () => {
  it('TR-09 limits come under either name; of two the smaller holds', () => {
    expect(send({ max_completion_tokens: 77 }).at('generationConfig.maxOutputTokens')).toBe(77);
    const both = send({ max_completion_tokens: 77, max_tokens: 50 });
    expect(both.at('generationConfig.maxOutputTokens')).toBe(50);
  });

  it('TR-08 limits are cut to the model’s ceiling, and say so', () => {
    const { at, dropped } = send({ max_tokens: 100_000 }, { maxOutputTokens: 65_536 });
    expect(at('generationConfig.maxOutputTokens')).toBe(65_536);
    expect(dropped).toEqual(['max_tokens']);
  });

  it('FO-04 go on as far as the dialect knows them, the rest is named', () => {
    const { at, dropped } = send({
      temperature: 1.7,
      top_p: 0.9,
      n: 2,
      stop: ['a', 'b', 'c', 'd'],
      seed: 7,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      logit_bias: { 1: 1 },
      verbosity: 'low',
      user: 'u',
      service_tier: 'flex',
      store: true,
    });
    expect(at('generationConfig')).toEqual({
      temperature: 1.7,
      topP: 0.9,
      candidateCount: 2,
      stopSequences: ['a', 'b', 'c', 'd'],
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
    });
    expect(at('serviceTier')).toBe('flex');
    expect([...dropped].sort()).toEqual(['logit_bias', 'store', 'user', 'verbosity']);
  });

  it.each([
    [{ seed: 2 ** 31 }, {}, ['seed']],
    [{ seed: -(2 ** 31) }, { generationConfig: { seed: -(2 ** 31) } }, []],
    [{ top_k: -1 }, {}, ['top_k']],
    [{ service_tier: 'scale' }, {}, ['service_tier']],
    [{ service_tier: 'auto' }, {}, []],
  ])('what only tunes is left out where it would be refused: %j', (given, fields, names) => {
    const { body, dropped } = send(given);
    const { contents: _, ...rest } = body;
    expect(rest).toEqual(fields);
    expect(dropped).toEqual(names);
  });

  it.each([
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, true],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }, false],
    ['gemini-2.5-flash', 'low', { includeThoughts: true, thinkingBudget: 4096 }, true],
    ['gemini-2.5-flash', 'max', { includeThoughts: true, thinkingBudget: 24_576 }, true],
    ['gemini-2.5-pro', 'xhigh', { includeThoughts: true, thinkingBudget: 32_768 }, true],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'MINIMAL' }, false],
    ['gemini-3.8-flash', 'medium', { includeThoughts: true, thinkingLevel: 'MEDIUM' }, true],
    ['gemini-3-pro-preview', 'medium', { includeThoughts: true, thinkingLevel: 'HIGH' }, false],
    ['gemini-3.1-pro-preview', 'medium', { includeThoughts: true, thinkingLevel: 'MEDIUM' }, true],
    ['gemini-3-pro-preview', 'minimal', { includeThoughts: true, thinkingLevel: 'LOW' }, false],
    ['gemini-3.8-flash', 'xhigh', { includeThoughts: true, thinkingLevel: 'HIGH' }, false],
    ['gemini-flash-latest', 'low', { includeThoughts: true, thinkingLevel: 'LOW' }, true],
    ['gemini-2.0-flash', 'high', undefined, false],
    ['gemini-2.0-flash', 'none', undefined, true],
    ['gemma-3', 'high', undefined, false],
    ['gemini-2.5-flash', 'vast', undefined, false],
  ])('effort for %s: %s', (model, reasoning_effort, expected, isExact) => {
    const { at, dropped } = send({ reasoning_effort }, { model });
    expect(at('generationConfig.thinkingConfig')).toEqual(expected);
    expect(dropped.includes('reasoning_effort')).toBe(!isExact);
  });

  it('a format is a schema in the newer field', () => {
    const schema = {
      $schema: 'x',
      type: 'object',
      properties: { a: { const: 'k' } },
      additionalProperties: false,
    };
    const { at, dropped } = send({
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
    });
    expect(at('generationConfig')).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: {
        type: 'object',
        properties: { a: { enum: ['k'] } },
        additionalProperties: false,
      },
    });
    expect(dropped).toEqual([]);
    expect(send({ response_format: { type: 'json_object' } }).at('generationConfig')).toEqual({
      responseMimeType: 'application/json',
    });
  });

  it('a format beside tools is asked for in words where the model refuses both', () => {
    const body = { tools: [tool('f')], response_format: { type: 'json_object' } };
    const older = send(body);
    expect(older.at('generationConfig')).toBeUndefined();
    expect(older.at('systemInstruction.parts.0.text')).toContain('JSON object');
    expect(older.dropped).toEqual(['response_format']);
    const newer = send(body, { model: 'gemini-3.5-flash' });
    expect(newer.at('generationConfig.responseMimeType')).toBe('application/json');
  });
});

describe('tools', () => {
  const declared = (parameters?: Json) =>
    send({ tools: [tool('f', parameters)] }).at('tools.0.functionDeclarations.0');

  it('TR-10 are written in the service’s own subset of a schema', () => {
    const parameters = {
      $schema: 'x',
      type: 'object',
      additionalProperties: false,
      properties: {
        a: { type: ['string', 'null'], const: 'k' },
        additionalProperties: { type: 'string' },
      },
      required: ['a', 'ghost'],
    };
    expect(declared(parameters)).toEqual({
      name: 'f',
      description: 'f.',
      parameters: {
        type: 'object',
        properties: {
          a: { type: 'string', nullable: true, enum: ['k'] },
          additionalProperties: { type: 'string' },
        },
        required: ['a'],
      },
    });
  });

  it.each([
    [
      'a nullable choice',
      {
        anyOf: [{ type: 'integer', description: 'in' }, { type: 'null' }],
        description: 'out',
        default: null,
      },
      { type: 'integer', nullable: true, description: 'out', default: null },
    ],
    [
      'a choice that stands alone',
      { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    ],
    ['an enum without a type', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    [
      'a nullable enum',
      { type: ['string', 'null'], enum: ['a', null] },
      { type: 'string', nullable: true, enum: ['a'] },
    ],
    [
      'a list',
      { type: 'array', items: { type: 'number', minimum: 1 }, maxItems: 3 },
      { type: 'array', items: { type: 'number', minimum: 1 }, maxItems: 3 },
    ],
    [
      'a known format',
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date-time' },
    ],
    ['a vendor’s own word', { type: 'string', 'x-order': 1 }, { type: 'string' }],
  ])('TR-10 in the subset hold %s', (_case, a, expected) => {
    const found = declared({ type: 'object', properties: { a } });
    expect(found).toEqual({
      name: 'f',
      description: 'f.',
      parameters: { type: 'object', properties: { a: expected } },
    });
  });

  it.each([
    ['a reference', { $ref: '#/$defs/x' }],
    [
      'a choice with company',
      { anyOf: [{ type: 'integer' }, { type: 'string' }], description: 'd' },
    ],
    ['one of', { oneOf: [{ type: 'integer' }] }],
    ['several types', { type: ['string', 'integer'] }],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }],
    ['numbers to choose from', { type: 'integer', enum: [1, 2] }],
    ['another format', { type: 'string', format: 'uri' }],
    ['an empty object', { type: 'object', properties: {} }],
    ['a list of anything', { type: 'array' }],
    ['anything', {}],
    ['an exclusive bound', { type: 'number', exclusiveMinimum: 0 }],
  ])('TR-10 go as JSON Schema when they hold %s', (_case, a) => {
    const schema = { type: 'object', properties: { a }, additionalProperties: false };
    expect(declared({ $schema: 'x', ...schema })).toEqual({
      name: 'f',
      description: 'f.',
      parametersJsonSchema: schema,
    });
  });

  it('TR-10 as JSON Schema write a constant as the only choice', () => {
    const parameters = {
      type: 'object',
      properties: { a: { const: 1 }, const: { type: 'string' } },
    };
    expect(declared(parameters)).toMatchObject({
      parametersJsonSchema: { properties: { a: { enum: [1] }, const: { type: 'string' } } },
    });
  });

  it.each([
    [undefined],
    [{ type: 'object', properties: {} }],
    [{ type: 'object', additionalProperties: false }],
    [{}],
  ])('without parameters have none: %j', (parameters) => {
    expect(declared(parameters)).toEqual({ name: 'f', description: 'f.' });
  });

  it('keep a property named __proto__ a property', () => {
    const parameters = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    const { text } = send({ tools: [tool('f', parameters)] });
    expect(text).toContain('"properties":{"__proto__":{"type":"string"}}');
  });

  it('take the variant’s descriptions, and name what they cannot promise', () => {
    const tools = [tool('f', undefined, { strict: true }), tool('g')];
    const { at, dropped } = send(
      { tools, parallel_tool_calls: false },
      { toolDescriptions: { f: 'better' } },
    );
    expect(at('tools.0.functionDeclarations.0.description')).toBe('better');
    expect(dropped).toEqual(['strict', 'parallel_tool_calls']);
  });

  it.each([
    ['auto', { mode: 'AUTO' }],
    ['required', { mode: 'ANY' }],
    ['none', { mode: 'NONE' }],
    [
      { type: 'function', function: { name: 'g' } },
      { mode: 'ANY', allowedFunctionNames: ['g'] },
    ],
  ])('are chosen as %j says', (tool_choice, expected) => {
    const { at } = send({ tools: [tool('f'), tool('g')], tool_choice });
    expect(at('toolConfig.functionCallingConfig')).toEqual(expected);
  });

  it('may be chosen from a few', () => {
    const allowed = (mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'g' } }] },
    });
    const tools = [tool('f'), tool('g')];
    const forced = send({ tools, tool_choice: allowed('required') });
    expect(forced.at('toolConfig.functionCallingConfig')).toEqual({
      mode: 'ANY',
      allowedFunctionNames: ['g'],
    });
    expect(forced.at('tools.0.functionDeclarations.1.name')).toBe('g');
    const free = send({ tools, tool_choice: allowed('auto') });
    expect(free.at('toolConfig.functionCallingConfig')).toEqual({ mode: 'AUTO' });
    expect(free.at('tools.0.functionDeclarations')).toHaveLength(1);
  });

  it('cannot be forced when none is offered', () => {
    const call = callOf(hi);
    const request = { ...call.request, toolChoice: { mode: 'required' } as const };
    expect(faultOf(dialect, { ...call, request }).param).toBe('tool_choice');
  });
});

describe('what cannot be carried', () => {
  const file = (data: string) => ({
    messages: [user([{ type: 'file', file: { file_data: data } }])],
  });
  it.each([
    ['nothing', {}, null],
    ['a few answers', { n: 8 }, null],
    ['many answers', { n: 9 }, 'n'],
    ['as many log probabilities as are told', { logprobs: true, top_logprobs: 20 }, null],
    ['more log probabilities', { logprobs: true, top_logprobs: 21 }, 'logprobs'],
    [
      'a file of another provider',
      { messages: [user([{ type: 'file', file: { file_id: 'file-1' } }])] },
      'files',
    ],
    [
      'sound',
      { messages: [user([{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }])] },
      null,
    ],
    [
      'odd sound',
      { messages: [user([{ type: 'input_audio', input_audio: { data: 'AA', format: 'pcm16' } }])] },
      'audio',
    ],
    [
      'a moving image',
      { messages: [user([{ type: 'image_url', image_url: { url: 'data:image/gif;base64,AA' } }])] },
      'images',
    ],
    ['a document', file('data:application/pdf;base64,AA'), null],
    ['an archive', file('data:application/zip;base64,AA'), 'documents'],
  ])('is %s', (_case, body, ability) => {
    expect(dialect.missingAbility(callOf({ ...hi, ...body }).request)).toBe(ability);
  });

  it('is more stop words than the service takes', () => {
    const { request } = callOf(hi);
    const stop = ['a', 'b', 'c', 'd', 'e', 'f'];
    const parameters = { ...request.parameters, stop };
    expect(dialect.missingAbility({ ...request, parameters })).toBe('stop');
    const { at, dropped } = send({}, { parameters });
    expect(at('generationConfig.stopSequences')).toEqual(stop.slice(0, 5));
    expect(dropped).toEqual(['stop']);
  });
});

describe('a body of this dialect', () => {
  function edited(body: Json, overrides: Partial<UpstreamCall> = {}) {
    const call = callOf(hi, { model: 'gemini-2.5-flash' });
    const original = { dialect: 'gemini', bytes: Buffer.from(JSON.stringify(body)), json: body };
    return { ...call, request: { ...call.request, original }, ...overrides };
  }
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];

  it('stays as it is when nothing is owned', () => {
    const body = {
      contents,
      tools: [{ googleSearch: {} }],
      brandNew: { a: 1 },
      model: 'models/fast',
    };
    const { model: _, ...kept } = body;
    expect(sent(dialect, edited(body)).body).toEqual(kept);
  });

  it('takes what is owned under the client’s own spelling, never beside it', () => {
    const body = {
      contents,
      system_instruction: { role: 'user', parts: [{ text: 'mine' }] },
      generation_config: { max_output_tokens: 5, topP: 0.5 },
      tools: [{ function_declarations: [{ name: 'f', description: 'old' }, { name: 'g' }] }],
    };
    const call = owning(
      edited(body, { system: { before: 'first', after: 'last' }, toolDescriptions: { f: 'new' } }),
      { max_tokens: 99, stop: ['x'] },
    );
    expect(sent(dialect, call).body).toEqual({
      contents,
      system_instruction: {
        role: 'user',
        parts: ['first', 'mine', 'last'].map((text) => ({ text })),
      },
      generation_config: { topP: 0.5, maxOutputTokens: 99, stopSequences: ['x'] },
      tools: [{ function_declarations: [{ name: 'f', description: 'new' }, { name: 'g' }] }],
    });
  });

  it('takes the variant where it had no system text', () => {
    const { body } = sent(
      dialect,
      edited({ contents }, { system: { before: 'first', after: '' } }),
    );
    expect(body['systemInstruction']).toEqual({ parts: [{ text: 'first' }] });
  });
});
